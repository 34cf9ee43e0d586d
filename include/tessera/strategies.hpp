#pragma once
/// @file
/// Shardings of weights by name: rowwise, stacked_qkv and the like, as values.

#include "tessera/layout/strategies.hpp"
#include "tessera/tessera.hpp"
