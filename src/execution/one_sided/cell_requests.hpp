#pragma once
/// @file
/// Requests to the process that owns some cells, and its answers.

#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <string>
#include <vector>

#include "src/execution/one_sided/one_sided_request.hpp"
#include "src/execution/storage/array_state.hpp"

namespace tessera {

/// The part of a request that goes to one owner, as it is sent: cells of one box of one device. The
/// bytes to write follow it. All processes are of one build.
struct RequestMessage {
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
  std::uint64_t epoch = 0;  ///< in which alone the request is good
};

/// The first byte of an answer.
enum class AnswerStatus : std::uint8_t {
  done,     ///< what was read follows
  refused,  ///< the reason follows, for people
};

/// The arrays whose epoch is open in this process, and the answers.
///
/// Threads: any. Arrays are kept alive by it, and their buffers stay where they are.
class OpenArrays {
 public:
  void add(std::shared_ptr<ArrayState> array, std::uint64_t epoch);
  void remove(ArrayState const& array);

  /// Does what a message asks. Appends the status to the answer, then the cells or the refusal.
  void serve(std::span<std::byte const> message, std::vector<std::byte>& answer);

 private:
  /// The place of a request's cells, or the reason why it is refused.
  struct Found {
    ArrayState* array = nullptr;
    Shard* shard = nullptr;
    std::string reason;
  };
  [[nodiscard]] Found find(std::span<std::byte const> message) const;

  struct Open {
    std::shared_ptr<ArrayState> array;
    std::uint64_t epoch = 0;
  };

  std::mutex mutex_;
  std::map<std::uint64_t, Open> arrays_;  ///< by the array's number
};

}  // namespace tessera
