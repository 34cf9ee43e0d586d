#include "src/runtime/statements/statement_summary.hpp"

#include "src/base/text.hpp"
#include "src/statement/numbers.hpp"
#include "src/statement/statement.hpp"

namespace tessera {

Summary::Summary(Statement const& statement)
    : kind_(statement.kind), indices_(statement.work.indices), layout_(statement.work.layout) {
  auto const array_of = [](ArrayModel const& array) {
    return Array{array.number(), array.layout(), 0};
  };
  if (statement.target != nullptr) target_ = array_of(*statement.target);
  for (auto const& operand : statement.operands) {
    if (reads_.empty() || reads_.back().number != operand.array->number())
      reads_.push_back(array_of(*operand.array));
    ++reads_.back().slices;
  }
}

void Summary::add_numbers(Statement const& statement) {
  numbers_ = list_of_numbers(statement);
}

std::string Summary::Array::name() const {
  return text("array ", number, ' ', layout->shape());
}

std::string Summary::describe() const {
  auto words = text(kind_, " of ", counted(indices_.cells(), "cell"), ' ', indices_.extents());
  if (!numbers_.empty()) words += text(" with numbers [", numbers_, ']');
  if (target_) words += text(" to ", target_->name());
  char const* before = ", reads ";
  for (auto const& array : reads_) {
    words += text(before, counted(array.slices, "slice"), " of ", array.name());
    before = ", ";
  }
  return text(words, "; on ", layout_->sharding());
}

}  // namespace tessera
