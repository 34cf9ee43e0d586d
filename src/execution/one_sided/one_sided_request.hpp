#pragma once
/// @file
/// A request of one process for cells that another one may hold.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tessera/base/ids.hpp"
#include "tessera/detail/execution/cell_update.hpp"

namespace tessera {

using detail::CellUpdate;
using detail::NumberKind;

/// A read, a write or an atomic that may take a while.
///
/// Threads: the caller's.
struct OneSidedRequest {
  std::int64_t left = 0;               ///< outstanding answers
  DeviceId peer;                       ///< the owner of the cells requested last
  std::vector<std::byte> cells;        ///< the cells read, row-major, if they are kept here
  std::byte* into = nullptr;           ///< destination of the cells read
  std::optional<std::string> failure;  ///< why it has failed, if it has

  std::uint64_t runtime = 0;  ///< number of the engine that sent it
  bool is_abandoned = false;  ///< its Runtime ended before all answers had come

  [[nodiscard]] bool has_succeeded() const { return left == 0 && !failure && !is_abandoned; }
};

}  // namespace tessera
