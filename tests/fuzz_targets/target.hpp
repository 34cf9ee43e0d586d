#pragma once
/// @file
/// What the targets share. A target is one file with one function, `attack`.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <string_view>
#include <type_traits>

#include "tessera/base/error.hpp"

namespace tessera::fuzz {

/// Gives a part of the library bytes from outside. A named error is as good as success; a finding
/// is any other exception, a report of a sanitizer, a failed `require`, and no end within seconds.
/// The same bytes always do the same: nothing is kept from one call to the next.
void attack(std::span<std::byte const> bytes);

/// A finding, unless it holds.
void require(bool holds, std::string_view what);
/// The words of an error are for a terminal: short, and without control characters.
void check_words(std::string_view words);

[[nodiscard]] inline std::string_view as_text(std::span<std::byte const> bytes) {
  return {reinterpret_cast<char const*>(bytes.data()), bytes.size()};
}

/// Calls `f`. True if it has thrown a named error, whose words are checked.
template <class F>
bool refuses(F const& f) {
  try {
    f();
    return false;
  } catch (Error const& error) {
    check_words(error.what());
    return true;
  }
}

/// Takes bytes apart from left to right.
class Input {
 public:
  explicit Input(std::span<std::byte const> bytes) : left_(bytes) {}

  [[nodiscard]] bool is_empty() const { return left_.empty(); }
  /// As many bytes as there are, at most so many.
  std::span<std::byte const> bytes(std::size_t most) {
    auto const taken = left_.first(most < left_.size() ? most : left_.size());
    left_ = left_.subspan(taken.size());
    return taken;
  }
  std::span<std::byte const> rest() { return bytes(left_.size()); }
  /// A value of these bytes; those that are missing are 0.
  template <class T>
  T value() {
    static_assert(std::is_trivially_copyable_v<T>);
    T result{};
    auto const taken = bytes(sizeof result);
    if (!taken.empty()) std::memcpy(static_cast<void*>(&result), taken.data(), taken.size());
    return result;
  }
  /// A number below `end`, by one byte.
  std::size_t below(std::size_t end) { return value<std::uint8_t>() % end; }

 private:
  std::span<std::byte const> left_;
};

}  // namespace tessera::fuzz
