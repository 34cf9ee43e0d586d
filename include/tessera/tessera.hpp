#pragma once
/// @file
/// Arrays over a mesh of devices: what every program needs. What only some need has headers of its
/// own beside this one, which bring this one too: collectives.hpp, products.hpp, random.hpp,
/// strategies.hpp. all.hpp brings all.

#include "tessera/array/adopt.hpp"
#include "tessera/array/contract.hpp"
#include "tessera/array/creation.hpp"
#include "tessera/array/dist_array.hpp"
#include "tessera/array/field.hpp"
#include "tessera/array/one_sided.hpp"
#include "tessera/array/operators.hpp"
#include "tessera/array/print.hpp"
#include "tessera/array/rearrange.hpp"
#include "tessera/array/shards.hpp"
#include "tessera/array/shift.hpp"
#include "tessera/base/error.hpp"
#include "tessera/detail/array/evaluate/assign.hpp"
#include "tessera/io/npy.hpp"
#include "tessera/layout/layout.hpp"
#include "tessera/layout/parse.hpp"
#include "tessera/ops/partial.hpp"
#include "tessera/ops/reductions.hpp"
#include "tessera/ops/shape.hpp"
#include "tessera/program/program.hpp"
#include "tessera/runtime/budget.hpp"
#include "tessera/runtime/runtime.hpp"
