#pragma once
/// @file
/// Shardings of weights by name: rowwise, stacked_qkv and the like, as values; the pieces of
/// weights that they give.

#include "tessera/layout/strategies.hpp"
#include "tessera/ops/shard.hpp"
#include "tessera/tessera.hpp"
