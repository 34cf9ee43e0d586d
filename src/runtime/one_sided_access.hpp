#pragma once
/// @file
/// One-sided access in the Runtime that lives.

namespace tessera {

class OneSided;

namespace detail {

/// Returns that of the Runtime that lives. The call counts as a host access. Throws: UsageError as
/// `engine()`.
[[nodiscard]] OneSided& one_sided();

}  // namespace detail
}  // namespace tessera
