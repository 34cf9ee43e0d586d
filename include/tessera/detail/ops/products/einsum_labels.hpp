#pragma once
/// @file
/// The labels of einsum, read by the compiler.

#include <algorithm>
#include <array>
#include <cstddef>
#include <string_view>

#include "tessera/detail/ops/products/product.hpp"

namespace tessera::detail {

/// A text that can be a template argument.
template <std::size_t size>
struct TemplateText {
  char text[size];
  consteval TemplateText(char const (&given)[size]) {  // NOLINT: a literal is one
    std::copy_n(given, size, text);
  }
  [[nodiscard]] constexpr std::string_view view() const { return {text, size - 1}; }
};

/// The parts of a text such as "ij,jk->ik". Blanks are ignored. Without an arrow, the result has
/// the labels that occur once, in alphabetical order, capital letters first.
template <std::size_t most>
struct EinsumParts {
  std::array<std::array<char, max_rank + 1>, most> operands{};
  std::array<std::size_t, most> ranks{};
  std::size_t count = 0;
  std::array<char, 64> result{};
  std::size_t result_rank = 0;
  bool is_valid = true;  ///< only letters, commas and one arrow; no more than there is room for

  constexpr explicit EinsumParts(std::string_view text) {
    // Not text.find("->"): with sanitizers on, g++ does not accept it in a constant expression.
    std::size_t arrow = 0;
    while (arrow < text.size() && !is_arrow(text, arrow)) ++arrow;
    read_operands(text, arrow);
    if (arrow < text.size())
      read_result(text, arrow + 2);
    else
      infer_result();
  }

  [[nodiscard]] constexpr std::string_view operand(std::size_t i) const {
    return {operands[i].data(), ranks[i]};
  }
  [[nodiscard]] constexpr std::string_view result_labels() const {
    return {result.data(), result_rank};
  }
  /// The number of operands that have a label.
  [[nodiscard]] constexpr std::size_t operands_with(char label) const {
    std::size_t found = 0;
    for (std::size_t i = 0; i < count; ++i) found += has(operand(i), label) ? 1U : 0U;
    return found;
  }
  /// True if an operand or the result has a label twice.
  [[nodiscard]] constexpr bool has_repeated_label() const {
    bool found = has_twice(result_labels());
    for (std::size_t i = 0; i < count; ++i) found = found || has_twice(operand(i));
    return found;
  }
  /// True if each label of the result occurs in an operand.
  [[nodiscard]] constexpr bool result_labels_exist() const {
    for (std::size_t i = 0; i < result_rank; ++i)
      if (operands_with(result[i]) == 0) return false;
    return true;
  }
  /// True if a label occurs in one operand alone, and not in the result: it is summed first.
  [[nodiscard]] constexpr bool is_alone(char label) const {
    return operands_with(label) == 1 && !has(result_labels(), label);
  }
  /// The number of such labels in operand i.
  [[nodiscard]] constexpr std::size_t count_alone(std::size_t i) const {
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
      is_valid = is_valid && is_letter(text[i]) && ranks[count - 1] < max_rank;
      if (is_valid) operands[count - 1][ranks[count - 1]++] = text[i];
    }
    is_valid = is_valid && count <= most;
    if (count > most) count = most;
  }
  constexpr void read_result(std::string_view text, std::size_t begin) {
    for (auto i = begin; i < text.size(); ++i) {
      if (text[i] == ' ') continue;
      is_valid = is_valid && is_letter(text[i]) && result_rank < max_rank;
      if (is_valid) result[result_rank++] = text[i];
    }
  }
  constexpr void infer_result() {
    for (char c = 'A'; c <= 'z'; ++c) {
      if (!is_letter(c) || operands_with(c) != 1) continue;
      is_valid = is_valid && result_rank < max_rank;
      if (is_valid) result[result_rank++] = c;
    }
  }
};

}  // namespace tessera::detail
