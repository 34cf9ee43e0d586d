#pragma once
/// @file
/// Whether a request for cells may be served. It came from outside: nothing in it is trusted.

#include <cstdint>
#include <string>

#include "src/execution/one_sided/cell_requests.hpp"

namespace tessera {

/// The most bytes of cells that one request reads or writes.
inline constexpr std::int64_t most_request_bytes = std::int64_t{64} * 1024;

/// Why the request cannot be served, for people; empty if it can: it names cells of `own`, a range
/// of whole words of their bytes, and an update that fits an element; and `payload_bytes` follow
/// it.
[[nodiscard]] std::string reason_against(RequestMessage const& request, Box const& own,
                                         std::int64_t element_bytes, std::int64_t payload_bytes);

}  // namespace tessera
