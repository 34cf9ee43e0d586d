#pragma once
/// @file
/// Everything a program needs: one array, many devices.

#include "tessera/array/adopt.hpp"
#include "tessera/array/creation.hpp"
#include "tessera/array/dist_array.hpp"
#include "tessera/array/print.hpp"
#include "tessera/array/shards.hpp"
#include "tessera/base/error.hpp"
#include "tessera/exchange/budget.hpp"
#include "tessera/exchange/runtime.hpp"
#include "tessera/expr/assign.hpp"
#include "tessera/expr/evaluate.hpp"
#include "tessera/expr/field.hpp"
#include "tessera/expr/operators.hpp"
#include "tessera/expr/rearrange.hpp"
#include "tessera/expr/shift.hpp"
#include "tessera/io/npy.hpp"
#include "tessera/layout/layout.hpp"
#include "tessera/layout/parse.hpp"
#include "tessera/ops/partial.hpp"
#include "tessera/ops/reductions.hpp"
#include "tessera/ops/shape.hpp"
