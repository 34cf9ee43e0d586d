#pragma once
/// @file
/// The questions and NumPy's answers in tests/numpy/cases.txt; make_cases.py there says what the
/// lines mean.

#include <cmath>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "tessera/index/index.hpp"

namespace tessera::test {

/// One line: what is asked, and NumPy's answer behind the arrow.
struct NumpyCase {
  std::string line;
  std::vector<std::string> question;  ///< without the kind
  std::vector<std::string> answer;
};

inline std::vector<std::string> split(std::string const& words, char separator) {
  std::vector<std::string> result;
  if (words == "-") return result;
  std::istringstream in(words);
  for (std::string word; std::getline(in, word, separator);) result.push_back(word);
  return result;
}

/// All cases of a kind: "slice", "promote", ...
inline std::vector<NumpyCase> numpy_cases(std::string const& kind) {
  std::ifstream file(TESSERA_NUMPY_CASES);
  if (!file) throw std::runtime_error("cannot read " TESSERA_NUMPY_CASES);
  std::vector<NumpyCase> cases;
  for (std::string line; std::getline(file, line);) {
    auto const words = split(line, ' ');
    if (words.front() != kind) continue;
    NumpyCase found{line, {}, {}};
    bool is_answer = false;
    for (std::size_t k = 1; k < words.size(); ++k) {
      if (words[k] == "->")
        is_answer = true;
      else
        (is_answer ? found.answer : found.question).push_back(words[k]);
    }
    cases.push_back(std::move(found));
  }
  if (cases.empty()) throw std::runtime_error("there is no case of kind " + kind);
  return cases;
}

template <class T>
[[nodiscard]] T number_of(std::string const& word) {
  if constexpr (std::is_same_v<T, std::uint64_t>)
    return std::stoull(word);
  else if constexpr (std::is_floating_point_v<T>)
    return static_cast<T>(std::strtod(word.c_str(), nullptr));
  else
    return static_cast<T>(std::stoll(word));
}

template <class T>
[[nodiscard]] std::vector<T> numbers_of(std::string const& words) {
  std::vector<T> result;
  for (auto const& word : split(words, ',')) result.push_back(number_of<T>(word));
  return result;
}

[[nodiscard]] inline Shape shape_of(std::string const& words) {
  auto const extents = numbers_of<std::int64_t>(words);
  return Shape(extents.begin(), extents.end());
}

/// The type's name as NumPy has it.
template <class T>
[[nodiscard]] std::string numpy_name() {
  if constexpr (std::is_same_v<T, bool>) return "bool";
  auto const bits = std::to_string(8 * sizeof(T));
  if constexpr (std::is_floating_point_v<T>) return "float" + bits;
  return (std::is_signed_v<T> ? "int" : "uint") + bits;
}

}  // namespace tessera::test
