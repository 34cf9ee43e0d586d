#pragma once
/// @file
/// Rows that are stored past the caches.

#include <cstdint>

#include "tessera/exchange/kernel.hpp"

namespace tessera {

/// How the rows of a call are stored.
struct RowStore {
  KernelFunction kernel = nullptr;  ///< for inner strides of one element
  KernelCall const* call = nullptr;
  std::int64_t leaves = 0;                   ///< of the call
  std::int64_t element_bytes = 0;            ///< of the target
  std::int64_t const* leaf_bytes = nullptr;  ///< of each leaf's elements
};

/// True if `stream_rows` can do without reading the target's lines: elements fill lines evenly.
[[nodiscard]] bool can_stream(std::int64_t element_bytes);

/// Computes rows [first_row, last_row) of a call, whose target nobody reads soon and which is far
/// larger than the caches: in pieces, each computed in a cache and then stored past all of them, so
/// that the target's lines need not be read before they are written.
/// Threads: any. Allocates nothing.
void stream_rows(RowStore const& store, std::int64_t first_row, std::int64_t last_row);

}  // namespace tessera
