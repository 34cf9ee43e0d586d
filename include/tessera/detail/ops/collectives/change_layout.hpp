#pragma once
/// @file
/// The arrays that collectives return, without their element type.

#include <cstdint>
#include <optional>

#include "tessera/base/source.hpp"
#include "tessera/detail/statement/array_ref.hpp"
#include "tessera/layout/cut.hpp"
#include "tessera/mesh/partition_spec.hpp"

namespace tessera {
struct FromTo;
}

namespace tessera::detail {

/// all_gather. Throws: as that.
[[nodiscard]] StatePtr gathered(StatePtr const& from, SpecEntry const& axes,
                                SourceLocation const& location);
/// all_reduce. Throws: as that.
[[nodiscard]] StatePtr summed(StatePtr const& from, SpecEntry const& axes,
                              SourceLocation const& location);
/// reduce_scatter. Throws: as that.
[[nodiscard]] StatePtr summed_and_cut(StatePtr const& from, SpecEntry const& axes,
                                      std::int64_t dimension, std::optional<Cut> const& cut,
                                      SourceLocation const& location);
/// all_to_all. Throws: as that.
[[nodiscard]] StatePtr cut_elsewhere(StatePtr const& from, SpecEntry const& axes,
                                     FromTo const& dimensions, SourceLocation const& location);

}  // namespace tessera::detail
