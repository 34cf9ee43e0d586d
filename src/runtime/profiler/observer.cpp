#include "src/runtime/profiler/observer.hpp"

#include <algorithm>
#include <array>
#include <chrono>
#include <string_view>

#include "src/base/checks.hpp"
#include "src/base/detail.hpp"
#include "src/base/environment.hpp"
#include "src/execution/gpu_channels/gpu_routes.hpp"
#include "src/statement/statement.hpp"

namespace tessera {
namespace {

constexpr std::size_t slot_count = 4096;
constexpr std::size_t most_slots = slot_count / 2;
constexpr std::size_t spans_per_device = std::size_t{1} << 17U;

std::size_t first_slot(SourceLocation const& location, char const* kind) {
  return static_cast<std::size_t>(
      scramble(bits_of(location.file) ^ (bits_of(kind) << 20U) ^ location.line));
}

}  // namespace

ObserverVariables ObserverVariables::from_environment() {
  auto const is_one = [](char const* variable) {
    return environment_choice(variable, {"0", "1"}) == "1";
  };
  auto const checks = Checks::from_environment();
  return {is_one("TESSERA_STRICT"), is_one("TESSERA_REPORT"), checks.recording,
          checks.communication, environment("TESSERA_TRACE")};
}

ObserverOptions ObserverOptions::from_environment(Bootstrap& bootstrap) {
  auto const here = ObserverVariables::from_environment();
  ObserverOptions options;
  options.trace = here.trace;
  // The processes may have different settings.
  std::array<std::int64_t, 5> asked{here.is_strict, here.reports, here.trace ? 1 : 0,
                                    here.checks_recordings, here.checks_communication};
  bootstrap.max_of_each(asked);
  options.is_strict = asked[0] == 1;
  options.reports = asked[1] == 1;
  options.traces = asked[2] == 1;
  options.checks_recordings = asked[3] == 1;
  options.checks_communication = asked[4] == 1;
  if (!options.traces) return options;
  auto const time = std::chrono::duration_cast<std::chrono::nanoseconds>(
                        std::chrono::system_clock::now().time_since_epoch())
                        .count();
  auto const clock = PhaseTimer::now();
  auto const first = -bootstrap.max_of(-time);
  options.clock_offset_ns = time - first - clock;
  return options;
}

Observer::Observer(ObserverOptions const& options, Job const& job)
    : options_(options), job_(job), slots_(slot_count) {
  observed_.reserve(most_observed);
  observed_.emplace_back().kind = "others";
  auto const spans = options.trace ? spans_per_device : 0;
  for (std::int64_t i = 0; i < job.local_count(); ++i) timers_.emplace_back(most_observed, spans);
}

std::size_t Observer::note(Statement const& statement, CompiledStatement const& plan) {
  auto const row = row_of(statement.location, statement.kind);
  ++observed_[row].runs;
  count(row, plan, 1);
  return row;
}

std::size_t Observer::note(Operation const& operation, CompiledOperation const& plan) {
  auto const row = row_of(operation.location, operation.kind);
  ++observed_[row].runs;
  for (auto const& step : plan.steps) count(row, *step.plan, 1);
  return row;
}

std::size_t Observer::note(Loop const& loop, std::int64_t blocks) {
  auto const row = row_of(loop.location, "loop");
  observed_[row].runs += blocks * loop.steps;
  count(row, *loop.first, 1);
  count(row, *loop.later, blocks - 1);
  return row;
}

void Observer::count(std::size_t row, CompiledStatement const& plan, std::int64_t times) {
  auto& location = observed_[row];
  location.messages += times * plan.messages;
  add_bytes(location.bytes, plan, times);
}

std::size_t Observer::row_of(SourceLocation const& location, char const* kind) {
  for (auto at = first_slot(location, kind);; ++at) {
    auto& slot = slots_[at % slot_count];
    if (slot.file == location.file && slot.kind == kind && slot.line == location.line)
      return slot.row;
    if (slot.file != nullptr) continue;
    if (used_slots_ == most_slots) return 0;
    ++used_slots_;
    slot = {location.file, kind, location.line,
            static_cast<std::uint32_t>(new_row(location, kind))};
    return slot.row;
  }
}

// Adds a row. One text may have several addresses, in several object files of the program.
std::size_t Observer::new_row(SourceLocation const& location, char const* kind) {
  for (std::size_t row = 1; row < observed_.size(); ++row)
    if (observed_[row].location.line == location.line &&
        std::string_view(observed_[row].location.file) == location.file &&
        std::string_view(observed_[row].kind) == kind)
      return row;
  if (observed_.size() == most_observed) return 0;
  observed_.emplace_back();
  observed_.back().location = location;
  observed_.back().kind = kind;
  return observed_.size() - 1;
}

std::uint64_t Observer::fingerprint() const {
  std::uint64_t hash = observed_.size();
  for (auto const& location : observed_) {
    hash = mix(hash, hash_text(location.location.file_name()));
    hash = mix(hash, mix(location.location.line, hash_text(location.kind)));
  }
  return hash;
}

}  // namespace tessera
