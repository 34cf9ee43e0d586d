#pragma once
/// @file
/// The number of a loop's step, as an expression.

#include <array>
#include <cstdint>

#include "tessera/base/error.hpp"
#include "tessera/detail/array/evaluate/build.hpp"

namespace tessera {

/// The number of the loop's step in which a statement is computed, counted from 0. The body of
/// `iterate` receives it; it is the only number that may change from step to step.
///
/// Shapes:  no dimensions; an expression of std::int64_t.
/// Example: iterate(100, [&](Step t) { u = u + 0.1 * t; });
class Step : public ExpressionBase {
 public:
  using value_type = std::int64_t;
  static constexpr std::size_t rank = 0;

  explicit Step(std::int64_t number) : number_(number) {}

  [[nodiscard]] std::array<std::int64_t, 0> extents() const { return {}; }
  [[nodiscard]] SourceLocation location() const { return {}; }
  /// The number for the statement that is being built; a replay does not use it.
  [[nodiscard]] std::int64_t number() const { return number_; }

 private:
  std::int64_t number_;
};

namespace detail {

struct StepKernel {
  static constexpr KernelEnds ends{};
  template <bool unit, class Call>
  [[nodiscard]] TESSERA_FUNCTION auto row(Call const& call) const {
    return ConstantRow<std::int64_t>{call.step};
  }
};

[[nodiscard]] inline auto make_kernel(Step const& step, Builder& builder) {
  auto& statement = builder.statement();
  if (statement.step.value_or(step.number()) != step.number())
    throw UsageError(
        "one statement uses the steps of two loops, one inside the other; split it into two");
  statement.step = step.number();
  return StepKernel{};
}

}  // namespace detail
}  // namespace tessera
