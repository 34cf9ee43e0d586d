#pragma once
/// @file
/// One-sided access in the Runtime that lives.

namespace tessera {

class OneSided;

namespace detail {

/// Of the Runtime that lives; asking for it is a host access. Throws: UsageError as `engine()`.
[[nodiscard]] OneSided& one_sided();

}  // namespace detail
}  // namespace tessera
