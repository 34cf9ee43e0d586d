#pragma once
/// @file
/// Collectives on arrays: all_gather, all_reduce, reduce_scatter and all_to_all.

#include "tessera/ops/collectives.hpp"
#include "tessera/tessera.hpp"
