#pragma once
/// @file
/// What each process finds where it runs, brought to process 0.

#include <array>
#include <cstdint>
#include <string>
#include <vector>

#include "src/base/text.hpp"
#include "src/job/bootstrap.hpp"
#include "src/job/job.hpp"

namespace info {

/// Text that travels as it is; longer ones are cut off.
template <std::size_t size>
struct FixedText {
  std::array<char, size> letters{};

  FixedText() = default;
  explicit FixedText(std::string const& words) { words.copy(letters.data(), size - 1); }
  [[nodiscard]] std::string text() const { return letters.data(); }
};

/// One process. Sent as bytes.
struct ProcessFacts {
  std::uint64_t mark = 0x6f666e69;  ///< other control messages have none
  std::int64_t process = 0;
  std::int64_t pid = 0;
  std::int64_t host = 0;  ///< the lowest process there
  std::int64_t first_device = 0;
  std::int64_t device_count = 0;
  std::int64_t memory_bytes = 0;  ///< of the host
  std::int64_t cores = 0;         ///< that this process may use
  std::int64_t mask_cores = 0;
  std::int64_t quota_cores = 0;  ///< 0 for none
  FixedText<128> host_name;
  FixedText<256> mask;  ///< "0-3,8"
};

/// Everybody's, by rank, on process 0; empty on the others. Ranks: collective over the job.
/// Throws: TransportError if a process says nothing for a minute.
[[nodiscard]] std::vector<ProcessFacts> gather_processes(tessera::Bootstrap& bootstrap,
                                                         tessera::Job const& job);

/// Numbers as ranges: "0-3,8".
[[nodiscard]] std::string ranges_text(std::vector<std::int64_t> const& numbers);

}  // namespace info
