#include "src/statement/numbers.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstring>
#include <limits>

#include "src/base/detail.hpp"
#include "src/base/text.hpp"

namespace tessera {
namespace {

// The hash of any NaN, whatever its sign and payload.
constexpr std::uint64_t nan_bits = 0x7ff8'0000'0000'0000;

// The fewest digits from which the number can be read back.
template <class T>
std::string digits_of(T value) {
  std::array<char, 64> letters;
  auto const end = std::to_chars(letters.data(), letters.data() + letters.size(), value).ptr;
  return {letters.data(), end};
}

}  // namespace

void HashNumbers::signed_integer(std::int64_t value) {
  hash_ = mix(hash_, static_cast<std::uint64_t>(value));
}
void HashNumbers::unsigned_integer(std::uint64_t value) {
  hash_ = mix(hash_, value);
}
void HashNumbers::real(float value) {
  hash_ = mix(hash_, std::isnan(value) ? nan_bits : bits_of(value));
}
void HashNumbers::real(double value) {
  hash_ = mix(hash_, std::isnan(value) ? nan_bits : bits_of(value));
}
void HashNumbers::real(long double value) {
  if (std::isnan(value)) {
    hash_ = mix(hash_, nan_bits);
    return;
  }
  // The 80 bits of x86 lie in 16 bytes, of which the last 6 are padding.
  constexpr bool is_extended = std::numeric_limits<long double>::digits == 64;
  constexpr std::size_t size = is_extended ? 10 : sizeof value;
  std::array<std::uint64_t, (sizeof value + 7) / 8> words{};
  std::memcpy(words.data(), &value, size);
  for (auto const word : words) hash_ = mix(hash_, word);
}
void HashNumbers::structure(std::span<std::byte const> bytes) {
  hash_ = mix(hash_, hash_text({reinterpret_cast<char const*>(bytes.data()), bytes.size()}));
}
void HashNumbers::position(std::size_t position) {
  hash_ = mix(hash_, position);
}

void ListNumbers::add(std::string_view number) {
  if (!has_room()) return;
  if (!list_.empty()) list_ += ", ";
  list_ += number;
  if (!has_room()) list_ += ", ...";
}
void ListNumbers::signed_integer(std::int64_t value) {
  if (has_room()) add(digits_of(value));
}
void ListNumbers::unsigned_integer(std::uint64_t value) {
  if (has_room()) add(digits_of(value));
}
void ListNumbers::real(float value) {
  if (has_room()) add(digits_of(value));
}
void ListNumbers::real(double value) {
  if (has_room()) add(digits_of(value));
}
void ListNumbers::real(long double value) {
  if (has_room()) add(digits_of(value));
}
void ListNumbers::structure(std::span<std::byte const> bytes) {
  if (!has_room()) return;
  constexpr std::size_t most_shown = 32;
  constexpr char const* digits = "0123456789abcdef";
  std::string hex = "struct 0x";
  for (auto const byte : bytes.first(std::min(bytes.size(), most_shown))) {
    hex += digits[std::to_integer<unsigned>(byte) >> 4U];
    hex += digits[std::to_integer<unsigned>(byte) & 15U];
  }
  add(bytes.size() > most_shown ? hex + "..." : hex);
}
void ListNumbers::position(std::size_t) {}

std::uint64_t hash_of_numbers(Statement const& statement) {
  HashNumbers numbers;
  if (statement.visit_numbers != nullptr) statement.visit_numbers(statement.kernel, numbers);
  return numbers.hash();
}

std::uint64_t hash_with_step(Statement const& statement) {
  auto const hash = hash_of_numbers(statement);
  return statement.step ? mix(hash, static_cast<std::uint64_t>(*statement.step)) : hash;
}

std::string list_of_numbers(Statement const& statement) {
  ListNumbers numbers;
  if (statement.visit_numbers != nullptr) statement.visit_numbers(statement.kernel, numbers);
  if (!statement.step) return numbers.list();
  return text(numbers.list(), numbers.list().empty() ? "" : ", ", "step ", *statement.step);
}

}  // namespace tessera
