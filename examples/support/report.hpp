#pragma once
/// @file
/// What the examples print: the same lines in all of them, on one process of the job.

#include <chrono>
#include <cstdint>
#include <limits>
#include <string>

#include "support/options.hpp"

namespace examples {

/// Between two looks at whether a line about the progress is due.
inline constexpr std::int64_t steps_between_looks = 128;

inline constexpr double any_change = std::numeric_limits<double>::infinity();

/// Prints the lines of one run and remembers whether all went well.
///
/// Every process makes one and calls the same functions; only where it `speaks` is something
/// printed.
class Report {
 public:
  explicit Report(bool speaks) : speaks_(speaks) {}

  /// "heat_1d: 100 cells, 1000 steps, fixed ends; 2 devices". `workers` is "2 devices" and the
  /// like.
  void start(Program const& program, Options const& options, std::string const& workers);

  /// The time of the steps runs from here …
  void start_clock();
  /// … a line now and then while they run …
  void progress(std::int64_t step);
  /// … to here; everything has to be computed by now.
  void stop_clock();
  /// The same after so many steps, where fewer than the most that were allowed have done.
  void stop_clock(std::int64_t steps);

  void picture(std::string const& drawn);
  /// Writes a file, on the one process; a failure if that cannot be done.
  void file(std::string const& path, std::string const& bytes);
  /// What was there before and after; a change of more than `allowed` of it is a failure. Where it
  /// changes as the equation wants, that is any_change.
  void total(char const* what, double before, double after, double allowed);
  /// The largest difference to the exact solution; more than `allowed` is a failure.
  void error(double error, double allowed);
  /// A number that was to become as small as `wanted`; a failure if it is larger.
  void small(char const* what, double value, double wanted);
  /// Any other check.
  void check(char const* what, bool passed);
  /// Time per step and cells per second.
  void time();
  void bits(std::uint64_t hash);

  /// 0, or 1 after a failure.
  [[nodiscard]] int exit_code() const { return failed_ ? 1 : 0; }

 private:
  using Clock = std::chrono::steady_clock;

  bool speaks_;
  bool failed_ = false;
  double cells_ = 1;
  std::int64_t steps_ = 0;
  Clock::time_point started_;
  Clock::time_point last_line_;
  double seconds_ = 0;
};

/// "1 device", "2 devices"
[[nodiscard]] std::string counted(std::int64_t n, std::string const& noun);

}  // namespace examples
