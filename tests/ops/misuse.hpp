#pragma once
/// @file
/// A table of what callers do wrong, and the check of its rows: the same exception with the same
/// text on every process, nothing sent, and a program that goes on.

#include <exception>
#include <string>
#include <string_view>
#include <typeinfo>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/array/operators.hpp"
#include "tessera/array/shift.hpp"
#include "tessera/detail/array/evaluate/assign.hpp"

#include "src/base/detail.hpp"

#include "support/arrays.hpp"

namespace tessera::test {

/// What is used wrongly: 0, 1, 2, … on a few devices, in one row or in four, and no cell at all.
[[nodiscard]] inline DistArray<double, 1> six() {
  return iota<double>({6}, over(4));
}
[[nodiscard]] inline DistArray<double, 1> five() {
  return iota<double>({5}, over(3));
}
[[nodiscard]] inline DistArray<double, 1> none_at_all() {
  return zeros<double>({0}, over(3));
}
[[nodiscard]] inline DistArray<double, 2> four_by_six() {
  return iota<double>({4, 6}, over(2, 4));
}

/// True if this is the class of the exception, not one below it.
template <class Class>
[[nodiscard]] bool is(std::exception const& error) {
  return typeid(error) == typeid(Class);
}

/// One row: what is done wrong, what it throws, and all of its message or what decides in it.
struct Misuse {
  std::string_view what;
  void (*act)();
  bool (*is_expected)(std::exception const&);
  std::string_view message;  ///< to be found in what it says
};

/// True if the text is the same on every process. Ranks: collective.
[[nodiscard]] inline bool is_alike(std::string_view text) {
  auto const here = static_cast<std::int64_t>(hash_text(text) >> 8U);
  return agree(total_over_processes(here) == here * process_count());
}

/// Arrays that were there before.
class Bystander {
 public:
  Bystander() : before_(counters()) {}
  [[nodiscard]] bool heard_nothing() const {
    auto const now = counters();
    return now.messages == before_.messages && now.bytes == before_.bytes;
  }
  /// A statement that sends over all devices, and is right. Ranks: collective.
  [[nodiscard]] bool still_works() {
    v_ = u_ + roll(u_, 1);
    return holds(v_, std::vector<double>{8, 1, 3, 5, 7, 9, 11, 13, 15});
  }

 private:
  DistArray<double, 1> u_ = iota<double>({9}, over(8));
  DistArray<double, 1> v_ = zeros<double>({9}, over(3));
  Counters before_;
};

/// Does what one row says is wrong. Ranks: collective.
inline void check_misuse(Misuse const& row) {
  Bystander bystander;
  bool is_expected = false;
  std::string message = "nothing was thrown";
  try {
    row.act();
  } catch (std::exception const& error) {
    is_expected = row.is_expected(error);
    message = error.what();
  }
  bool const is_silent = bystander.heard_nothing();
  INFO(std::string(row.what), ": ", message);
  CHECK_ALL(is_expected);
  CHECK_ALL(message.find(row.message) != std::string::npos);
  CHECK(is_alike(message));
  CHECK_ALL(is_silent);
  CHECK(bystander.still_works());
}

inline void check_misuses(std::vector<Misuse> const& table) {
  for (auto const& row : table) check_misuse(row);
}

}  // namespace tessera::test
