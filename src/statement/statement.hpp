#pragma once
/// @file
/// Statements, without naming their namespace.

#include "tessera/detail/statement/statement.hpp"

#include "src/statement/array_model.hpp"
#include "src/statement/kernel.hpp"
#include "src/statement/scalar_model.hpp"

namespace tessera {

using detail::OperandRequest;
using detail::Purpose;
using detail::Reduction;
using detail::Statement;
using detail::WriteMode;

}  // namespace tessera
