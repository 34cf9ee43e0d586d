#pragma once
/// @file
/// What a process asks of the one that holds some cells, and how that one answers.

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "tessera/exchange/array_state.hpp"
#include "tessera/exchange/one_sided.hpp"

namespace tessera {

/// Cells of one box of one device. The bytes to write follow it. All processes are of one build.
struct CellRequest {
  enum class What : std::uint8_t { read, write, update };
  What what = What::read;
  CellUpdate update;
  std::uint64_t array = 0;
  std::int64_t device = 0;
  std::uint64_t box = 0;
  std::array<std::int64_t, max_rank> lo{};
  std::array<std::int64_t, max_rank> hi{};
  std::int64_t first_byte = 0;  ///< of the stream of the cells' bytes
  std::int64_t bytes = 0;
};

/// The arrays whose epoch is open in this process, and the answers.
///
/// Threads: any. Arrays are kept alive by it, and their buffers stay where they are.
class OpenArrays {
 public:
  void add(std::shared_ptr<ArrayState> array);
  void remove(ArrayState const& array);

  /// Does what a request asks. The answer: a byte that is 0, and what was read; or one that is not,
  /// and why it could not be done.
  void serve(std::span<std::byte const> request, std::vector<std::byte>& answer);

 private:
  [[nodiscard]] std::string trouble_with(CellRequest const& request, Shard*& shard);

  std::mutex mutex_;
  std::map<std::uint64_t, std::shared_ptr<ArrayState>> arrays_;
};

}  // namespace tessera
