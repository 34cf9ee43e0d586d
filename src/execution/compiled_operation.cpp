#include "src/execution/compiled_operation.hpp"

#include <algorithm>
#include <set>
#include <string>
#include <string_view>
#include <utility>

#include "src/base/text.hpp"

namespace tessera {
namespace {

// The reads of an operation, by the arrays in the order in which its statements name them.
class OperationReads {
 public:
  void add(Communication const& read, ArrayModel const& array) {
    auto& into = reads_[place_of(array)];
    into.cells += read.cells;
    into.bytes += read.bytes;
    into.forwarded_bytes += read.forwarded_bytes;
    add_routes(into, read.routes);
    if (read.cause < into.cause || read.reason.empty()) return;
    into.cause = read.cause;
    into.reason = read.reason;
  }
  [[nodiscard]] std::vector<Communication> take() { return std::move(reads_); }

 private:
  std::size_t place_of(ArrayModel const& array) {
    auto const found = std::find(arrays_.begin(), arrays_.end(), &array);
    if (found == arrays_.end()) {
      arrays_.push_back(&array);
      reads_.emplace_back().array = describe(array);
      return reads_.size() - 1;
    }
    return static_cast<std::size_t>(found - arrays_.begin());
  }

  // Names of routes, joined by commas.
  static void add_routes(Communication& into, std::string_view more) {
    std::set<std::string_view> names;
    auto const before = into.routes;
    for (auto rest : {std::string_view(before), more})
      while (!rest.empty()) {
        auto const end = std::min(rest.find(", "), rest.size());
        names.insert(rest.substr(0, end));
        rest.remove_prefix(std::min(end + 2, rest.size()));
      }
    into.routes = join(names);
  }

  std::vector<ArrayModel const*> arrays_;
  std::vector<Communication> reads_;
};

}  // namespace

Explanation explanation_of(CompiledOperation const& plan, Operation const& operation) {
  Explanation explanation;
  explanation.location = operation.location;
  explanation.kind = operation.kind;
  explanation.messages = plan.messages;
  explanation.bytes = plan.bytes;
  explanation.writes = operation.steps->words();
  if (auto const& choice = operation.statements[0]->choice) explanation.choice = *choice;
  OperationReads reads;
  for (auto const* statement : operation.statements)
    for (auto const& operand : statement->operands) reads.add({}, *operand.array);
  for (auto const& step : plan.steps) {
    auto const& statement = *operation.statements[step.statement];
    for (std::size_t l = 0; l < statement.operands.size(); ++l)
      reads.add(step.plan->explanation.reads[l], *statement.operands[l].array);
  }
  explanation.reads = reads.take();
  return explanation;
}

}  // namespace tessera
