#pragma once
/// @file
/// Random numbers by counters: keys, and what is drawn with them.

#include "tessera/random/random.hpp"
#include "tessera/tessera.hpp"
