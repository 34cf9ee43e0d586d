#pragma once
/// @file
/// Arrays that are no longer in use, kept to be used again.

#include <cstdint>
#include <memory>
#include <vector>

#include "src/execution/storage/array_state.hpp"

namespace tessera {

/// The last few arrays that were made. One that only the pool still holds is reused for the next
/// array of its layout, so that a loop which makes arrays allocates nothing.
///
/// A partial array that only the pool still holds releases its partial results when the next array
/// is made, so that these are reused, too.
///
/// A reused array looks like a new one, so it does not matter that workers drop their references at
/// different moments on different processes.
/// Threads: the caller's.
class ArrayPool {
 public:
  /// An idle array of this layout, as if just made; null if there is none.
  [[nodiscard]] std::shared_ptr<ArrayState> take(Layout const& layout, std::int64_t element_bytes,
                                                 std::uint64_t number);
  /// Remembers a new array, if it is not too large.
  void add(std::shared_ptr<ArrayState> const& array);
  /// True if it is one of them.
  [[nodiscard]] bool holds(std::shared_ptr<ArrayState> const& array) const;
  /// Releases the arrays that only the pool holds.
  void release_idle();
  /// Releases all arrays.
  void clear() { entries_.clear(); }

  /// A program that runs ahead of its workers uses as many at once as their rings hold.
  static constexpr std::size_t most_arrays = 128;
  /// The pool keeps at most these bytes of a process; larger arrays are not kept. Memory that is
  /// new costs more than the messages that fill it: its pages have to be mapped.
  static constexpr std::int64_t most_bytes = std::int64_t{256} << 20;
  /// An idle array is released when this many others were made since its last use.
  static constexpr std::uint64_t most_idle = 512;

 private:
  struct Entry {
    std::shared_ptr<ArrayState> array;
    std::uint64_t last_asked = 0;  ///< by the count of arrays
  };

  void drop_idle();
  /// Releases the partial results of idle arrays.
  void release_partials();
  /// Releases the least recently used arrays until there is room for `bytes` more.
  void make_room(std::int64_t bytes);

  std::vector<Entry> entries_;
  std::uint64_t asked_ = 0;
};

}  // namespace tessera
