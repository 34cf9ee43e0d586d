#pragma once
/// @file
/// Meshes, specs, cuts and shardings from the text they print as.
///
/// Spaces do not count. A long list that was printed with "..." cannot be read back, nor can a mesh
/// axis whose name has a ',' '=' ')' or control character in it, or more than 256 bytes.

#include <string_view>

#include "tessera/layout/named_sharding.hpp"

namespace tessera {

/// "Mesh(x=2, y=4)", "Mesh(x=3, devices 5 to 7)", "Mesh(x=2, devices 3, 1)".
/// Throws: UsageError, with the place and what was expected there; ShardingError as Mesh.
[[nodiscard]] Mesh parse_mesh(std::string_view text);

/// P("data", none, ("model", "x")), P("x").partial("y", max).
/// Throws: UsageError, with the place and what was expected there.
[[nodiscard]] PartitionSpec parse_spec(std::string_view text);

/// "balanced", "ceil", "strict", "unit(64)", "explicit_sizes(3, 0, 2)", "segments(4, 8 unit(2))",
/// "cyclic(5)".
/// Throws: UsageError, with the place and what was expected there; ShardingError as Cut.
[[nodiscard]] Cut parse_cut(std::string_view text);

/// NamedSharding(Mesh(x=2, y=4), P("x", none)), with one cut or a list (ceil, strict) behind it.
/// Throws: UsageError, with the place and what was expected there; ShardingError as NamedSharding.
[[nodiscard]] NamedSharding parse_sharding(std::string_view text);

}  // namespace tessera
