#pragma once
/// @file
/// The labels of einsum, read by the compiler.

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "tessera/detail/ops/products/product.hpp"

namespace tessera::detail {

/// A text as a template's argument.
template <std::size_t size>
struct TemplateText {
  char text[size];
  consteval TemplateText(char const (&given)[size]) {  // NOLINT: a literal is one
    std::copy_n(given, size, text);
  }
  [[nodiscard]] constexpr std::string_view view() const { return {text, size - 1}; }
};

/// "ij,jk->ik" in parts; blanks do not count. Without an arrow, the result has the labels that
/// occur once, in the order of the alphabet.
template <std::size_t most>
struct EinsumParts {
  std::array<std::array<char, max_rank + 1>, most> operands{};
  std::array<std::size_t, most> ranks{};
  std::size_t count = 0;
  std::array<char, 64> result{};
  std::size_t result_rank = 0;
  bool is_right = true;  ///< only letters, commas and one arrow, and not too many of them

  constexpr explicit EinsumParts(std::string_view text) {
    auto const arrow = text.find("->");
    bool const has_result = arrow != std::string_view::npos;
    read_operands(text.substr(0, has_result ? arrow : text.size()));
    if (has_result)
      read_result(text.substr(arrow + 2));
    else
      make_result();
  }

  [[nodiscard]] constexpr std::string_view operand(std::size_t i) const {
    return {operands[i].data(), ranks[i]};
  }
  [[nodiscard]] constexpr std::string_view result_labels() const {
    return {result.data(), result_rank};
  }
  /// How many operands have a label.
  [[nodiscard]] constexpr std::size_t users(char label) const {
    std::size_t users = 0;
    for (std::size_t i = 0; i < count; ++i) users += has(operand(i), label) ? 1U : 0U;
    return users;
  }
  /// True if one operand, or the result, has a label twice.
  [[nodiscard]] constexpr bool repeats() const {
    bool repeats = has_twice(result_labels());
    for (std::size_t i = 0; i < count; ++i) repeats = repeats || has_twice(operand(i));
    return repeats;
  }
  /// True if all labels of the result occur in an operand.
  [[nodiscard]] constexpr bool knows_result() const {
    for (auto const label : result_labels())
      if (users(label) == 0) return false;
    return true;
  }
  /// True of a label that one operand has alone, and the result has not: it is summed first.
  [[nodiscard]] constexpr bool is_alone(char label) const {
    return users(label) == 1 && !has(result_labels(), label);
  }
  [[nodiscard]] constexpr std::size_t alone_in(std::size_t i) const {
    std::size_t alone = 0;
    for (auto const label : operand(i)) alone += is_alone(label) ? 1U : 0U;
    return alone;
  }

 private:
  [[nodiscard]] static constexpr bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  }
  [[nodiscard]] static constexpr bool has(std::string_view labels, char label) {
    return labels.find(label) != std::string_view::npos;
  }
  [[nodiscard]] static constexpr bool has_twice(std::string_view labels) {
    for (std::size_t i = 0; i < labels.size(); ++i)
      if (has(labels.substr(i + 1), labels[i])) return true;
    return false;
  }
  constexpr void read_operands(std::string_view text) {
    count = 1;
    for (auto const c : text) {
      if (c == ' ') continue;
      if (c == ',') {
        if (++count > most) break;
        continue;
      }
      is_right = is_right && is_letter(c) && ranks[count - 1] < max_rank;
      if (is_right) operands[count - 1][ranks[count - 1]++] = c;
    }
    is_right = is_right && count <= most;
    count = std::min(count, most);
  }
  constexpr void read_result(std::string_view text) {
    for (auto const c : text) {
      if (c == ' ') continue;
      is_right = is_right && is_letter(c) && result_rank < max_rank;
      if (is_right) result[result_rank++] = c;
    }
  }
  constexpr void make_result() {
    for (char c = 'A'; c <= 'z'; ++c)
      if (is_letter(c) && users(c) == 1 && result_rank < max_rank) result[result_rank++] = c;
  }
};

}  // namespace tessera::detail
