#pragma once
/// @file
/// The data behind TESSERA_REPORT and TESSERA_TRACE: the statements of the program by their places,
/// and a timer per device.

#include <array>
#include <cstdint>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "src/execution/compiled_operation.hpp"
#include "src/execution/compiled_statement.hpp"
#include "src/execution/loop.hpp"
#include "src/execution/phase_timer.hpp"
#include "src/job/bootstrap.hpp"
#include "src/job/job.hpp"
#include "src/statement/statement.hpp"

namespace tessera {

/// The variables of this process.
struct ObserverVariables {
  bool is_strict = false;             ///< TESSERA_STRICT
  bool reports = false;               ///< TESSERA_REPORT
  bool checks_recordings = false;     ///< TESSERA_CHECK=recording
  bool checks_communication = false;  ///< TESSERA_CHECK=communication or numbers
  std::optional<std::string> trace;   ///< TESSERA_TRACE

  /// Throws: ConfigError for a variable that cannot be read.
  [[nodiscard]] static ObserverVariables from_environment();
};

/// The requests of the environment; equal on every process except for the file.
struct ObserverOptions {
  bool is_strict = false;             ///< TESSERA_STRICT
  bool reports = false;               ///< TESSERA_REPORT
  bool traces = false;                ///< TESSERA_TRACE is set on some process
  bool checks_recordings = false;     ///< TESSERA_CHECK=recording
  bool checks_communication = false;  ///< TESSERA_CHECK=communication or numbers
  std::optional<std::string> trace;   ///< TESSERA_TRACE
  std::int64_t clock_offset_ns = 0;   ///< from PhaseTimer::now() to a time that all processes share

  /// A collective over the job: launchers do not pass their environment on to every host.
  /// Throws: ConfigError for a variable that cannot be read.
  [[nodiscard]] static ObserverOptions from_environment(Bootstrap& bootstrap);
};

/// A statement of the source, and this process's messages for it.
struct ObservedStatement {
  SourceLocation location;
  char const* kind = "";
  std::int64_t runs = 0;
  std::int64_t messages = 0;
  std::array<std::int64_t, route_count> bytes{};  ///< by Route
};

/// Numbers of the report that add up over processes: std::int64_t without exception.
struct ReportSums {
  std::array<std::int64_t, phase_count> times_ns{};
  std::int64_t messages = 0;
  std::array<std::int64_t, route_count> bytes{};  ///< by Route
};
/// Numbers whose maximum is taken over processes: as above.
struct ReportMaxima {
  std::int64_t runs = 0;
  std::array<std::int64_t, phase_count> most_ns{};  ///< of one device, or of one process
  std::int64_t most_messages = 0;                   ///< of one process
};
/// One line of the report.
struct ReportNumbers : ReportSums, ReportMaxima {
  void add(ReportNumbers const& other);
};

/// Threads: the caller's, except for the phase timers.
class Observer {
 public:
  Observer(ObserverOptions const& options, Job const& job);

  [[nodiscard]] ObserverOptions const& options() const { return options_; }
  /// Records a run of a statement, and returns the row for its times. Allocates nothing.
  [[nodiscard]] std::size_t note(Statement const& statement, CompiledStatement const& plan);
  /// The same of an operation, as one run.
  [[nodiscard]] std::size_t note(Operation const& operation, CompiledOperation const& plan);
  /// Records `blocks` blocks of a loop, whose steps count as runs, and returns the row for their
  /// times.
  [[nodiscard]] std::size_t note(Loop const& loop, std::int64_t blocks);
  [[nodiscard]] PhaseTimer& timer(std::size_t device) { return timers_[device]; }
  [[nodiscard]] std::vector<ObservedStatement> const& observed() const { return observed_; }

  /// Equal on processes whose statements stand at the same places, in the same order.
  [[nodiscard]] std::uint64_t fingerprint() const;
  /// This process's part: a line per place, then one with the sums of all and the maxima over
  /// processes. No worker may be busy.
  [[nodiscard]] std::vector<ReportNumbers> numbers() const;
  /// Returns the table as text. `only_here` says why the numbers are those of this process alone,
  /// if they are.
  [[nodiscard]] std::string report(std::span<ReportNumbers const> numbers,
                                   std::string_view only_here) const;

  /// Prints the table on the standard error.
  void print_report(std::span<ReportNumbers const> numbers, std::string_view only_here) const;

  /// Writes this process's part of the trace if requested; logs an error if that fails.
  void write_trace() const;

  static constexpr std::size_t most_observed = 512;  ///< more share the first row

 private:
  struct Slot {
    char const* file = nullptr;
    char const* kind = nullptr;
    std::uint32_t line = 0;
    std::uint32_t row = 0;
  };

  void count(std::size_t row, CompiledStatement const& plan, std::int64_t times);
  [[nodiscard]] std::size_t row_of(SourceLocation const& location, char const* kind);
  [[nodiscard]] std::size_t new_row(SourceLocation const& location, char const* kind);

  ObserverOptions options_;
  Job const& job_;
  std::vector<ObservedStatement> observed_;
  std::vector<Slot> slots_;  ///< open addressing by the addresses of file and kind
  std::size_t used_slots_ = 0;
  std::deque<PhaseTimer> timers_;
};

/// Throws: ConfigError if process `self` could not write the trace that is asked for: a job that
/// runs for hours shall not lose it.
void check_trace_file(std::string const& asked, ProcessId self);

/// Returns the file to which process `self` writes its trace: "run.json" for process 0,
/// "run.1.json" for process 1.
[[nodiscard]] std::string trace_file(std::string const& asked, ProcessId self);

/// The trace as JSON for Chrome's trace viewer and Perfetto.
[[nodiscard]] std::string trace_text(Observer const& observer, Job const& job,
                                     std::deque<PhaseTimer> const& timers);

}  // namespace tessera
