#pragma once
/// @file
/// Running totals of the messages that this process's devices sent.

#include <cstdint>
#include <ostream>

#include "tessera/detail/base/text.hpp"

namespace tessera {

/// Summed over this process's devices; messages between two devices of one process count too, and
/// all routes read the same. A long message that travels in pieces is one message.
struct Counters {
  std::int64_t statements = 0;  ///< on arrays, executed by this process
  std::int64_t messages = 0;    ///< sent for ghost cells and gathers
  std::int64_t bytes = 0;       ///< of cells in those messages
  std::int64_t plans_made = 0;  ///< statements that had no plan in the cache

  friend Counters operator-(Counters const& a, Counters const& b) {
    return {a.statements - b.statements, a.messages - b.messages, a.bytes - b.bytes,
            a.plans_made - b.plans_made};
  }
  friend bool operator==(Counters const&, Counters const&) = default;
  friend std::ostream& operator<<(std::ostream& out, Counters const& c) {
    return out << detail::counted(c.statements, "statement") << ", "
               << detail::counted(c.messages, "message") << ", " << detail::bytes_text(c.bytes)
               << ", " << detail::counted(c.plans_made, "plan") << " made";
  }
};

}  // namespace tessera
