#include "src/runtime/profiler/profiler.hpp"

#include <array>
#include <cstdio>
#include <string>
#include <utility>
#include <vector>

#include "src/statement/lowering/explain.hpp"
#include "src/statement/statement.hpp"

namespace tessera {
namespace {

// The numbers of a part of each line, combined over all processes.
template <class Part>
void combine_part(std::vector<ReportNumbers>& numbers, CombineBytes how,
                  Profiler::Combine const& combine) {
  std::vector<Part> parts(numbers.begin(), numbers.end());
  combine(std::as_writable_bytes(std::span(parts)), how);
  for (std::size_t i = 0; i < parts.size(); ++i) static_cast<Part&>(numbers[i]) = parts[i];
}

// True if all processes pass the same number, of at most 63 bits.
bool is_equal_everywhere(std::int64_t number, Profiler::Combine const& combine) {
  std::array<std::int64_t, 2> ends{number, -number};
  combine(std::as_writable_bytes(std::span(ends)), max_numbers);
  return ends[0] == -ends[1];
}

void print_refused(RefusedCounts const& counts) {
  auto const words = refused_text(counts);
  std::fwrite(words.data(), 1, words.size(), stderr);
}

}  // namespace

Profiler::Profiler(ObserverOptions const& options, Job const& job) {
  if (options.reports || options.traces) observer_ = std::make_unique<Observer>(options, job);
}

Counters Profiler::totals() const {
  auto result = totals_;
  auto const& [local, shm, ucx, mpi, peer, ipc, nccl, ucx_gpu] = bytes_;
  result.routes = {local, shm, ucx, mpi, peer, ipc, nccl, ucx_gpu};
  return result;
}

Explanations* Profiler::explain_into(Explanations* sink) {
  return std::exchange(sink_, sink);
}

std::size_t Profiler::row_of(Statement const& statement, CompiledStatement const& plan) {
  return observer_ == nullptr ? 0 : observer_->note(statement, plan);
}

std::size_t Profiler::row_of(Operation const& operation, CompiledOperation const& plan) {
  return observer_ == nullptr ? 0 : observer_->note(operation, plan);
}

std::size_t Profiler::row_of(LoopRun const& run) {
  return observer_ == nullptr ? 0 : observer_->note(run.loop, run.blocks);
}

PhaseTimer* Profiler::timer(std::size_t device) {
  return observer_ == nullptr ? nullptr : &observer_->timer(device);
}

void Profiler::count(Statement const& statement, CompiledStatement const& plan) {
  ++totals_.statements;
  totals_.messages += plan.messages;
  totals_.bytes += plan.bytes;
  add_bytes(bytes_, plan, 1);
  if (sink_ == nullptr) return;
  auto& explanation = sink_->statements.emplace_back(explanation_of(plan, statement));
  explanation.writes += explain_stores(plan, statement.forms);
  explanation.writes += explain_pairs(plan, statement.forms);
}

void Profiler::count(Operation const& operation, CompiledOperation const& plan) {
  ++totals_.statements;
  totals_.messages += plan.messages;
  totals_.bytes += plan.bytes;
  for (auto const& step : plan.steps) add_bytes(bytes_, *step.plan, 1);
  if (sink_ != nullptr) sink_->statements.push_back(explanation_of(plan, operation));
}

void Profiler::count(LoopRun const& run) {
  auto const& loop = run.loop;
  totals_.statements += run.blocks * loop.steps * loop.statements;
  totals_.messages += loop.first->messages + (run.blocks - 1) * loop.later->messages;
  totals_.bytes += loop.first->bytes + (run.blocks - 1) * loop.later->bytes;
  add_bytes(bytes_, *loop.first, 1);
  add_bytes(bytes_, *loop.later, run.blocks - 1);
}

void Profiler::show(Job const& job, Refused const& refused, Combine const& combine) const {
  if (observer_ == nullptr) return;
  observer_->write_trace();
  if (!observer_->options().reports) return;
  auto const fingerprint = static_cast<std::int64_t>(observer_->fingerprint() >> 1U);
  bool const comparable = is_equal_everywhere(fingerprint, combine);
  auto numbers = observer_->numbers();
  if (comparable) {
    combine_part<ReportSums>(numbers, add_numbers, combine);
    combine_part<ReportMaxima>(numbers, max_numbers, combine);
  }
  auto counts = refused.counts();
  combine(std::as_writable_bytes(std::span(counts)), add_numbers);
  if (job.self() != ProcessId{0}) return;
  observer_->print_report(numbers,
                          comparable ? "" : "the processes' statements stand at different places");
  print_refused(counts);
}

void Profiler::show_alone(Job const& job, Refused const& refused) const {
  if (observer_ == nullptr) return;
  observer_->write_trace();
  if (!observer_->options().reports || job.self() != ProcessId{0}) return;
  observer_->print_report(observer_->numbers(), "the program ends in an error");
  print_refused(refused.counts());
}

}  // namespace tessera
