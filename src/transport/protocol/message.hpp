#pragma once
/// @file
/// The header in front of every payload: it lets the receiver notice that the sender runs another
/// statement.

#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>

#include "tessera/base/error.hpp"
#include "tessera/base/source.hpp"

namespace tessera {

/// Identifies a statement of the program: equal on processes that run the same one.
struct StatementTag {
  std::uint64_t number = 0;  ///< statements so far in this process, including this one
  std::uint64_t hash = 0;    ///< of its kind, expression, arrays, shapes, layouts and maps
  SourceLocation location;

  /// The place is ignored: two branches may contain the same statement.
  friend bool operator==(StatementTag const& a, StatementTag const& b) {
    return a.number == b.number && a.hash == b.hash;
  }
  /// "statement 7 (heat_1d.cpp:41)"
  friend std::ostream& operator<<(std::ostream& out, StatementTag const& tag) {
    out << "statement " << tag.number;
    if (tag.location.known()) out << " (" << tag.location << ')';
    return out;
  }
};

/// The error of processes that run different programs, with what to do: "<evidence> the processes
/// run different programs (<why>); every process must ...". The evidence ends with what joins it to
/// that, a colon or ", so".
[[nodiscard]] Mismatch different_programs(std::string_view evidence, std::string_view why = {});

/// The first cache line of a landing slot.
struct alignas(64) MessageHeader {
  std::uint64_t number;
  std::uint64_t hash;
  std::int64_t size_bytes;  ///< of the payload that follows
  std::uint32_t line;
  char file[36];  ///< the end of the file's name, zero-terminated

  /// Fills in the header of a message of `size` bytes that belongs to `tag`, all but the file.
  void write(StatementTag const& tag, std::int64_t size) {
    number = tag.number;
    hash = tag.hash;
    size_bytes = size;
    line = tag.location.line;
  }
  /// Writes the end of the file name of `place`. Separate from `write`, because it reads every
  /// character and the file seldom changes from one message to the next.
  void write_file(SourceLocation const& location);
  /// True if the message belongs to this statement.
  [[nodiscard]] bool is_of(StatementTag const& tag) const {
    return number == tag.number && hash == tag.hash;
  }
  /// "statement 7 (heat_1d.cpp:41)"
  [[nodiscard]] std::string describe() const;
};
static_assert(sizeof(MessageHeader) == 64);

}  // namespace tessera
