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
    // Letter by letter: with its sanitizers on, g++ takes no search in a text for a constant.
    std::size_t arrow = 0;
    while (arrow < text.size() && !is_arrow(text, arrow)) ++arrow;
    read_operands(text, arrow);
    if (arrow < text.size())
      read_result(text, arrow + 2);
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
    for (std::size_t i = 0; i < result_rank; ++i)
      if (users(result[i]) == 0) return false;
    return true;
  }
  /// True of a label that one operand has alone, and the result has not: it is summed first.
  [[nodiscard]] constexpr bool is_alone(char label) const {
    return users(label) == 1 && !has(result_labels(), label);
  }
  [[nodiscard]] constexpr std::size_t alone_in(std::size_t i) const {
    std::size_t alone = 0;
    for (std::size_t k = 0; k < ranks[i]; ++k) alone += is_alone(operands[i][k]) ? 1U : 0U;
    return alone;
  }

 private:
  [[nodiscard]] static constexpr bool is_letter(char c) {
    return (c >= 'a' && c <= 'z') || (c >= 'A' && c <= 'Z');
  }
  [[nodiscard]] static constexpr bool is_arrow(std::string_view text, std::size_t at) {
    return text[at] == '-' && at + 1 < text.size() && text[at + 1] == '>';
  }
  /// How often a label occurs.
  [[nodiscard]] static constexpr std::size_t occurrences(std::string_view labels, char label) {
    std::size_t count = 0;
    for (std::size_t i = 0; i < labels.size(); ++i) count += labels[i] == label ? 1U : 0U;
    return count;
  }
  [[nodiscard]] static constexpr bool has(std::string_view labels, char label) {
    return occurrences(labels, label) > 0;
  }
  [[nodiscard]] static constexpr bool has_twice(std::string_view labels) {
    for (std::size_t i = 0; i < labels.size(); ++i)
      if (occurrences(labels, labels[i]) > 1) return true;
    return false;
  }
  constexpr void read_operands(std::string_view text, std::size_t end) {
    count = 1;
    for (std::size_t i = 0; i < end; ++i) {
      if (text[i] == ' ') continue;
      if (text[i] == ',') {
        if (++count > most) break;
        continue;
      }
      is_right = is_right && is_letter(text[i]) && ranks[count - 1] < max_rank;
      if (is_right) operands[count - 1][ranks[count - 1]++] = text[i];
    }
    is_right = is_right && count <= most;
    if (count > most) count = most;
  }
  constexpr void read_result(std::string_view text, std::size_t begin) {
    for (auto i = begin; i < text.size(); ++i) {
      if (text[i] == ' ') continue;
      is_right = is_right && is_letter(text[i]) && result_rank < max_rank;
      if (is_right) result[result_rank++] = text[i];
    }
  }
  constexpr void make_result() {
    for (char c = 'A'; c <= 'z'; ++c)
      if (is_letter(c) && users(c) == 1 && result_rank < max_rank) result[result_rank++] = c;
  }
};

}  // namespace tessera::detail
