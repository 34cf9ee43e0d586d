#pragma once
/// @file
/// Arrays that nobody names any more, to serve again.

#include <cstdint>
#include <memory>
#include <vector>

#include "tessera/exchange/array_state.hpp"

namespace tessera {

/// The last few arrays that were made. One that only the pool still holds is given out again to who
/// asks for an array of its layout, so that a loop which makes arrays allocates nothing.
///
/// What it gives looks like a new array, so it does not matter that workers drop their references
/// at other moments on other processes.
/// Threads: the caller's.
class ArrayPool {
 public:
  /// An array of this layout that nobody names, as if just made; null if there is none.
  [[nodiscard]] std::shared_ptr<ArrayState> take(Layout const& layout, std::int64_t element_bytes,
                                                 std::uint64_t number);
  /// Keeps a new array in mind, if it is not too large.
  void add(std::shared_ptr<ArrayState> const& array);
  /// True if it is one of them.
  [[nodiscard]] bool holds(std::shared_ptr<ArrayState> const& array) const;
  /// Lets go of all.
  void clear() { entries_.clear(); }

  /// A program that runs ahead of its workers has as many under way as their rings hold.
  static constexpr std::size_t most_arrays = 128;
  /// Of this process, all of them together; larger arrays are not kept.
  static constexpr std::int64_t most_bytes = std::int64_t{32} << 20;
  /// An array that nobody asked for while so many others were made is let go.
  static constexpr std::uint64_t most_idle = 512;

 private:
  struct Entry {
    std::shared_ptr<ArrayState> array;
    std::uint64_t last_asked = 0;  ///< by the count of arrays
  };

  void drop_idle();
  /// Lets go of those that were asked for the longest ago until `bytes` more have room.
  void make_room(std::int64_t bytes);

  std::vector<Entry> entries_;
  std::uint64_t asked_ = 0;
};

}  // namespace tessera
