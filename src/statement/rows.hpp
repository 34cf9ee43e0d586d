#pragma once
/// @file
/// The library walks over rows without naming the namespace.

#include "tessera/detail/statement/rows.hpp"

namespace tessera {

using detail::visit_rows;

}  // namespace tessera
