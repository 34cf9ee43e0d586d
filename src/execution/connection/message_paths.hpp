#pragma once
/// @file
/// Chooses among the ways in which messages travel.

#include "src/execution/message_path.hpp"

namespace tessera {

/// The path of a kind. There is one object for each.
[[nodiscard]] MessagePath const& path_of(PathKind kind);
/// The path of plans whose messages take several: each step is that of all of them, one by one.
[[nodiscard]] MessagePath const& mixed_path();

/// Sorts messages that are connected by their paths, and notes the path of all of them.
void group_by_path(Exchange& exchange);

}  // namespace tessera
