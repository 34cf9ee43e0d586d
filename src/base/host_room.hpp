#pragma once
/// @file
/// Memory of the host whose size the program chose, such as that for the cells of a whole array.

#include <cstddef>
#include <cstdint>
#include <new>
#include <stdexcept>
#include <string_view>

namespace tessera {

/// Throws: Error, always, with the size.
[[noreturn]] void throw_without_room(std::int64_t count, std::size_t bytes_each,
                                     std::string_view what);

/// Calls `make(count)`, which allocates so many elements for `what`.
/// Throws: Error, with the size, where this process cannot have the memory.
template <class Make>
void make_room(std::int64_t count, std::size_t bytes_each, std::string_view what,
               Make const& make) {
  try {
    make(static_cast<std::size_t>(count));
  } catch (std::length_error const&) {
    throw_without_room(count, bytes_each, what);
  } catch (std::bad_alloc const&) {
    throw_without_room(count, bytes_each, what);
  }
}

}  // namespace tessera
