#pragma once
/// @file
/// Collectives: on arrays, and on values of each device of a group.

#include "tessera/mesh/group.hpp"
#include "tessera/ops/collectives.hpp"
#include "tessera/ops/member_collectives.hpp"
#include "tessera/ops/per_device.hpp"
#include "tessera/tessera.hpp"
