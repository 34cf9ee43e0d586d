#pragma once
/// @file
/// The questions and NumPy's answers in tests/numpy/cases.txt; make_cases.py there says what the
/// lines mean.

#include <cmath>
#include <complex>
#include <cstdint>
#include <fstream>
#include <sstream>
#include <stdexcept>
#include <string>
#include <string_view>
#include <type_traits>
#include <vector>

#include "tessera/array/element.hpp"

#include "src/index/index.hpp"

#include "numpy_paths.hpp"

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
  else if constexpr (detail::is_floating<T>)
    return static_cast<T>(std::strtod(word.c_str(), nullptr));
  else
    return static_cast<T>(std::stoll(word));
}

template <class T>
[[nodiscard]] std::vector<T> numbers_of(std::string const& words) {
  std::vector<T> result;
  if constexpr (detail::is_complex<T>) {
    auto const parts = numbers_of<detail::real_of<T>>(words);
    for (std::size_t k = 0; k + 1 < parts.size(); k += 2)
      result.emplace_back(parts[k], parts[k + 1]);
  } else {
    for (auto const& word : split(words, ',')) result.push_back(number_of<T>(word));
  }
  return result;
}

/// A complex number is two numbers.
template <class T>
void append_number(std::vector<double>& numbers, T const& x) {
  if constexpr (detail::is_complex<T>) {
    numbers.push_back(static_cast<double>(x.real()));
    numbers.push_back(static_cast<double>(x.imag()));
  } else {
    numbers.push_back(static_cast<double>(x));
  }
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
  if constexpr (detail::is_complex<T>) return "complex" + bits;
  if constexpr (detail::is_floating<T>) return "float" + bits;
  return (std::is_signed_v<T> ? "int" : "uint") + bits;
}

}  // namespace tessera::test
