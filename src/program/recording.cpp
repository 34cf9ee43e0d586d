#include "src/program/recording.hpp"

#include <algorithm>
#include <map>
#include <numeric>
#include <utility>

#include "tessera/base/error.hpp"

#include "src/base/text.hpp"
#include "src/program/recorded_slices.hpp"
#include "src/runtime/allocation.hpp"
#include "src/runtime/over_processes.hpp"
#include "src/runtime/statement_hooks.hpp"
#include "src/statement/numbers.hpp"
#include "src/statement/statement.hpp"

namespace tessera {
namespace {

constexpr char const* remedy =
    "; a loop is recorded once and replayed: use ts::Step for values that depend on the "
    "number of the step, where(...) instead of an if, a Scalar for values that the devices "
    "compute, or a plain for loop";

[[noreturn]] void refuse(SourceLocation const& loop, std::string const& what) {
  throw UsageError(text("the body of the loop at ", loop, ' ', what, remedy));
}

// Determines whether a kernel's step number follows the loop's own or is constant.
void find_step(RecordedStatement& one, RecordedStatement const& other) {
  if (!one.statement.step || one.step == other.step) return;
  one.has_fixed_step = true;
  one.step = *one.statement.step;
}

bool is_same_number(RecordedStatement const& one, RecordedStatement const& other) {
  return one.numbers == other.numbers &&
         one.statement.step.has_value() == other.statement.step.has_value() &&
         one.step == (one.has_fixed_step ? other.statement.step.value_or(0) : other.step);
}

// True if both are statements of operations with equal steps, or both are not part of any.
bool is_same_part(RecordedStatement const& one, RecordedStatement const& other) {
  if (one.operation == nullptr || other.operation == nullptr)
    return one.operation == other.operation;
  return one.operation->steps->hash() == other.operation->steps->hash();
}

// Describes how two statements differ, apart from their arrays; empty if they are equal.
std::string difference(RecordedStatement const& a, RecordedStatement const& b) {
  auto const& one = a.statement;
  auto const& other = b.statement;
  if (a.operation != nullptr && b.operation != nullptr && !is_same_part(a, b))
    return text("runs ", name_of(one), " in other steps the second time, written ",
                b.operation->steps->words(), ", than the first, ", a.operation->steps->words());
  if (one.type_hash != other.type_hash || one.is_reduction() != other.is_reduction() ||
      !is_same_part(a, b))
    return text("runs another statement in its second step, ", name_of(other),
                ", than in its first, ", name_of(one));
  if (!is_same_number(a, b))
    return text("uses a number that changes from step to step in ", name_of(one));
  bool const same_cells = one.work.indices == other.work.indices &&
                          one.slab_map == other.slab_map && shows_same_cells(a, b);
  if (!same_cells) return text("uses other slices in its second step in ", name_of(one));
  if (!(*one.work.layout == *other.work.layout) || one.scalars.size() != other.scalars.size())
    return text("uses other arrays in its second step in ", name_of(one));
  return {};
}

// The mapping from objects of the first step to objects of the second in the same positions.
template <class T>
class Matches {
 public:
  using Pointer = std::shared_ptr<T>;

  // False if it does not agree with what was found before.
  bool add(Pointer const& first, Pointer const& second) {
    auto const before = number_of(things_, first);
    if (before == things_.size()) {
      if (number_of(turned_, second) != turned_.size()) return false;
      things_.push_back(first);
      turned_.push_back(second);
      return true;
    }
    return turned_[before] == second;
  }

  [[nodiscard]] std::vector<Pointer> const& things() const { return things_; }

  // Makes the map a permutation: a chain that ends with a new object is closed, so that its first
  // object is reused. `may_serve(thing)` says whether nothing else holds that object.
  template <class MayServe>
  void close(MayServe const& may_serve) {
    for (std::size_t i = 0; i < turned_.size(); ++i) {
      if (number_of(things_, turned_[i]) != things_.size()) continue;
      makes_new_ = true;
      auto const begin = start_of_chain(i);
      is_held_ = is_held_ || !may_serve(things_[begin]);
      things_.push_back(turned_[i]);
      turned_.push_back(things_[begin]);
    }
  }
  [[nodiscard]] bool is_held() const { return is_held_; }
  [[nodiscard]] bool makes_new() const { return makes_new_; }
  // For each object the number of its successor, after `close`.
  [[nodiscard]] std::vector<std::size_t> next() const {
    std::vector<std::size_t> next;
    for (auto const& thing : turned_) next.push_back(number_of(things_, thing));
    return next;
  }

 private:
  static std::size_t number_of(std::vector<Pointer> const& things, Pointer const& thing) {
    return static_cast<std::size_t>(std::find(things.begin(), things.end(), thing) -
                                    things.begin());
  }
  std::size_t start_of_chain(std::size_t end) const {
    for (;;) {
      auto const before = number_of(turned_, things_[end]);
      if (before == turned_.size()) return end;
      end = before;
    }
  }

  std::vector<Pointer> things_;
  std::vector<Pointer> turned_;
  bool makes_new_ = false;
  bool is_held_ = false;
};

// The roles of objects some steps later.
template <class T>
class Renaming {
 public:
  Renaming(std::vector<std::shared_ptr<T>> const& things, std::vector<std::size_t> called)
      : things_(things), called_(std::move(called)) {}

  [[nodiscard]] bool turns(std::shared_ptr<T> const& first, std::shared_ptr<T> const& later) const {
    if (first == nullptr) return later == nullptr;
    auto const found = std::find(things_.begin(), things_.end(), first);
    return things_[called_[static_cast<std::size_t>(found - things_.begin())]] == later;
  }

 private:
  std::vector<std::shared_ptr<T>> const& things_;
  std::vector<std::size_t> called_;
};

std::int64_t references(RecordedStep const& step, ArrayModel const* array) {
  std::int64_t count = 0;
  for (auto const& moved : step.moves) count += moved.get() == array ? 1 : 0;
  for (auto const& recorded : step.statements) {
    auto const& statement = recorded.statement;
    count += statement.target.get() == array ? 1 : 0;
    for (auto const& operand : statement.operands) count += operand.array.get() == array ? 1 : 0;
  }
  return count;
}

std::int64_t references(RecordedStep const& step, ScalarModel const* scalar) {
  std::int64_t count = 0;
  for (auto const& recorded : step.statements) {
    auto const& statement = recorded.statement;
    count += statement.result.get() == scalar ? 1 : 0;
    for (auto const& read : statement.scalars) count += read.get() == scalar ? 1 : 0;
  }
  return count;
}

std::int64_t order_of(std::vector<std::size_t> const& next) {
  std::int64_t order = 1;
  for (std::size_t a = 0; a < next.size(); ++a) {
    std::int64_t length = 1;
    for (auto b = next[a]; b != a; b = next[b]) ++length;
    order = std::lcm(order, length);
  }
  return order;
}

bool any_counts_from_end(RecordedStep const& first, RecordedStep const& second) {
  for (std::size_t s = 0; s < std::min(first.statements.size(), second.statements.size()); ++s)
    if (counts_from_end(first.statements[s], second.statements[s])) return true;
  return false;
}

// Adds the arrays and scalars of two statements; false if they do not match.
bool match(Statement const& one, Statement const& other, Matches<ArrayModel>& arrays,
           Matches<ScalarModel>& scalars) {
  bool same = (one.target == nullptr) == (other.target == nullptr);
  if (same && one.target != nullptr) same = arrays.add(one.target, other.target);
  for (std::size_t l = 0; same && l < one.operands.size(); ++l)
    same = arrays.add(one.operands[l].array, other.operands[l].array);
  for (std::size_t s = 0; same && s < one.scalars.size(); ++s)
    same = scalars.add(one.scalars[s], other.scalars[s]);
  if (same && one.is_reduction()) same = scalars.add(one.result, other.result);
  return same;
}

bool match_moves(RecordedStep const& first, RecordedStep const& second,
                 Matches<ArrayModel>& arrays) {
  if (first.moves.size() != second.moves.size()) return false;
  for (std::size_t m = 0; m < first.moves.size(); ++m)
    if (!arrays.add(first.moves[m], second.moves[m])) return false;
  return true;
}

// Views are made without communication, so the processes may hold different references.
bool is_so_anywhere(bool here, SourceLocation const& loop) {
  std::byte byte{here};
  detail::or_unheard({&byte, 1}, loop, {"where a loop is recorded"});
  return byte != std::byte{0};
}

// What the statements of two steps name.
struct StepMatches {
  Matches<ArrayModel> arrays;
  Matches<ScalarModel> scalars;
};

// Throws: UsageError if the statements are not alike.
StepMatches match_statements(RecordedStep& first, RecordedStep const& second,
                             SourceLocation const& loop) {
  StepMatches matches;
  auto& ones = first.statements;
  auto const& others = second.statements;
  for (std::size_t s = 0; s < std::min(ones.size(), others.size()); ++s) {
    find_step(ones[s], others[s]);
    find_slices(ones[s], others[s]);
    if (auto const what = difference(ones[s], others[s]); !what.empty()) refuse(loop, what);
    if (!match(ones[s].statement, others[s].statement, matches.arrays, matches.scalars))
      refuse(loop, text("does not exchange its arrays in the same way in every step: ",
                        name_of(ones[s].statement), " names different ones in its second step"));
  }
  if (ones.size() != others.size())
    refuse(loop, text("runs ", counted(std::ssize(ones), "statement"), " in its first step and ",
                      others.size(), " in its second"));
  return matches;
}

// A statement only names its arrays.
void keep_arrays(Statement& statement) {
  if (statement.target != nullptr) statement.target = statement.target->shared();
  for (auto& operand : statement.operands) operand.array = operand.array->shared();
}

bool lie_alike(ArrayBindings const& bindings) {
  for (std::size_t a = 0; a < bindings.arrays.size(); ++a) {
    auto const& one = *bindings.arrays[a];
    auto const& other = *bindings.arrays[bindings.next_array[a]];
    if (!(*one.layout() == *other.layout()) || one.element_bytes() != other.element_bytes())
      return false;
  }
  return true;
}

}  // namespace

Recorder::Recorder(std::int64_t step, SourceLocation const& loop, std::uint64_t newest_before_loop)
    : number_(step),
      loop_(loop),
      newest_before_loop_(newest_before_loop),
      newest_before_step_(detail::newest_number()) {}

void Recorder::note(Statement const& statement) {
  auto& recorded = step_.statements.emplace_back();
  recorded.statement = statement;
  keep_arrays(recorded.statement);
  auto const* const bytes = static_cast<std::byte const*>(statement.kernel);
  recorded.kernel.assign(bytes, bytes + statement.kernel_bytes);
  recorded.numbers = hash_of_numbers(statement);
  recorded.recorded_in = number_;
  recorded.statement.kernel = nullptr;  // the kernel is stored here from now on
  if (statement.step) recorded.step = *statement.step - number_;
}

void Recorder::note(Operation const& operation) {
  auto const call = std::make_shared<OperationCall const>(operation);
  for (auto const* statement : operation.statements) {
    note(*statement);
    step_.statements.back().operation = call;
  }
}

bool Recorder::note(KeptValue const& kept) {
  auto const number = kept.partial.number();
  bool const is_of_loop = number > newest_before_loop_;
  if (is_of_loop && number <= newest_before_step_) step_.sums_earlier_partials = true;
  return is_of_loop;
}

void Recorder::note_move(std::shared_ptr<ArrayModel> const& array) noexcept {
  if (array != nullptr) step_.moves.push_back(array);
}

void Recorder::note_host_access() {
  refuse(loop_,
         "reads or writes cells on the host, or waits for the devices, which a step of a "
         "replayed loop cannot do");
}

ArrayBindings compare_steps(RecordedStep& first, RecordedStep const& second,
                            SourceLocation const& loop) {
  detail::catch_up_on_numbers();
  ArrayBindings bindings;
  if (any_counts_from_end(first, second))
    bindings.fallback_reason = "a slice by the number of the step counts from the end at first";
  else if (second.sums_earlier_partials)
    bindings.fallback_reason = "a step reads a partial array that the step before has made";
  if (!bindings.fallback_reason.empty()) return bindings;
  auto [arrays, scalars] = match_statements(first, second, loop);
  if (!match_moves(first, second, arrays)) {
    bindings.fallback_reason = "arrays are moved or swapped differently in consecutive steps";
    return bindings;
  }
  auto const is_unused = [&](auto const& thing) {
    return detail::reference_count(storage_of(thing)) == references(first, thing.get()) +
                                                             references(second, thing.get()) +
                                                             2;  // ours, and this one
  };
  arrays.close(is_unused);
  scalars.close(is_unused);
  if ((arrays.makes_new() || scalars.makes_new()) &&
      is_so_anywhere(arrays.is_held() || scalars.is_held(), loop)) {
    bindings.fallback_reason = "arrays made in a step are still in use after it";
    return bindings;
  }
  bindings.arrays = arrays.things();
  bindings.next_array = arrays.next();
  bindings.scalars = scalars.things();
  bindings.next_scalar = scalars.next();
  bindings.makes_new = arrays.makes_new() || scalars.makes_new();
  if (!lie_alike(bindings)) {
    bindings.fallback_reason = "arrays of different shapes or shardings change places";
    return bindings;
  }
  bindings.period = std::lcm(order_of(bindings.next_array), order_of(bindings.next_scalar));
  return bindings;
}

bool runs_the_same(RecordedStep const& first, RecordedStep const& step) {
  return !step.sums_earlier_partials && first.moves.size() == step.moves.size() &&
         std::equal(first.statements.begin(), first.statements.end(), step.statements.begin(),
                    step.statements.end(), [](auto const& one, auto const& other) {
                      return difference(one, other).empty();
                    });
}

std::vector<std::size_t> pattern_of(RecordedStep const& step, RecordedStep const& next) {
  std::map<void const*, std::size_t> places;
  std::vector<std::size_t> pattern;
  auto const add = [&](void const* thing) {
    pattern.push_back(places.try_emplace(thing, pattern.size()).first->second);
  };
  for (auto const* one : {&step, &next}) {
    for (auto const& recorded : one->statements) {
      auto const& statement = recorded.statement;
      add(statement.target.get());
      add(statement.result.get());
      for (auto const& operand : statement.operands) add(operand.array.get());
      for (auto const& scalar : statement.scalars) add(scalar.get());
    }
    for (auto const& moved : one->moves) add(moved.get());
  }
  return pattern;
}

bool is_same_step(RecordedStep const& first, RecordedStep const& step,
                  ArrayBindings const& bindings, std::int64_t steps_later) {
  if (!runs_the_same(first, step)) return false;
  Renaming const arrays(bindings.arrays, renamed(bindings.next_array, steps_later));
  Renaming const scalars(bindings.scalars, renamed(bindings.next_scalar, steps_later));
  for (std::size_t m = 0; m < step.moves.size(); ++m)
    if (!arrays.turns(first.moves[m], step.moves[m])) return false;
  for (std::size_t s = 0; s < step.statements.size(); ++s) {
    auto const& one = first.statements[s].statement;
    auto const& other = step.statements[s].statement;
    if (!arrays.turns(one.target, other.target) || !scalars.turns(one.result, other.result))
      return false;
    for (std::size_t l = 0; l < one.operands.size(); ++l)
      if (!arrays.turns(one.operands[l].array, other.operands[l].array)) return false;
    for (std::size_t k = 0; k < one.scalars.size(); ++k)
      if (!scalars.turns(one.scalars[k], other.scalars[k])) return false;
  }
  return true;
}

std::vector<std::size_t> renamed(std::vector<std::size_t> const& next, std::int64_t steps) {
  std::vector<std::size_t> bindings(next.size());
  std::iota(bindings.begin(), bindings.end(), std::size_t{0});
  for (std::int64_t step = 0; step < steps; ++step)
    for (auto& name : bindings) name = next[name];
  return bindings;
}

}  // namespace tessera
