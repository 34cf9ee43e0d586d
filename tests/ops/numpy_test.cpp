#include <cmath>
#include <complex>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/ops/reductions.hpp"

#include "support/arrays.hpp"
#include "support/numpy_cases.hpp"

using namespace tessera;

/// Reductions, against what NumPy 2 answered.
TEST_SUITE_BEGIN("ops/numpy");

namespace {

// A result's type as NumPy names it, and its values.
struct Answer {
  std::string type;
  std::vector<double> values;
};

template <class T>
Answer answer_of(Scalar<T> const& result) {
  Answer answer{test::numpy_name<T>(), {}};
  test::append_number(answer.values, result.value());
  return answer;
}
template <class T>
Answer answer_of(DistArray<T, 1> const& result) {
  Answer answer{test::numpy_name<T>(), {}};
  for (auto const v : result.to_host()) test::append_number(answer.values, v);
  return answer;
}

// `along` is nothing for the whole array, or an axis.
template <class T, class... Along>
Answer reduce(std::string const& name, DistArray<T, 2> const& u, Along const&... along) {
  if (name == "sum") return answer_of(sum(u, along...));
  if (name == "prod") return answer_of(prod(u, along...));
  if constexpr (!detail::is_complex<T>) {
    if (name == "min") return answer_of(min(u, along...));
    if (name == "max") return answer_of(max(u, along...));
    if (name == "argmin") return answer_of(argmin(u, along...));
    if (name == "argmax") return answer_of(argmax(u, along...));
  }
  if (name == "mean") return answer_of(mean(u, along...));
  if (name == "var") return answer_of(var(u, along...));
  if (name == "any") return answer_of(any(u, along...));
  if (name == "all") return answer_of(tessera::all(u, along...));
  return answer_of(count(u, along...));
}

template <class T>
Answer answer_to(test::NumpyCase const& asked) {
  auto const shape = test::shape_of(asked.question[2]);
  auto const cells = test::numbers_of<T>(asked.question[4]);
  auto const u = from_host<T, 2>(std::span<T const>(cells), {shape[0], shape[1]}, test::over(2, 4));
  if (asked.question[3] == "all") return reduce(asked.question[0], u);
  return reduce(asked.question[0], u, axis(std::stoi(asked.question[3])));
}

Answer answer_by_type(test::NumpyCase const& asked) {
  if (asked.question[1] == "int8") return answer_to<std::int8_t>(asked);
  if (asked.question[1] == "float16") return answer_to<float16>(asked);
  if (asked.question[1] == "complex64") return answer_to<std::complex<float>>(asked);
  if (asked.question[1] == "complex128") return answer_to<std::complex<double>>(asked);
  return answer_to<double>(asked);
}

// Means and variances are rounded, NumPy's not always last, and it computes them in float for the
// short types.
double tolerance(std::string const& type) {
  return type == "float16" ? 1e-3 : type == "complex64" ? 1e-6 : 1e-14;
}
bool nearly_equal(Answer const& answer, std::vector<double> const& wanted, double tolerance) {
  auto const& values = answer.values;
  if (values.size() != wanted.size()) return false;
  for (std::size_t k = 0; k < values.size(); ++k)
    if (std::abs(values[k] - wanted[k]) > tolerance * (1 + std::abs(wanted[k]))) return false;
  return true;
}

}  // namespace

TEST_CASE("reductions have NumPy's values and types") {
  for (auto const& asked : test::numpy_cases("reduce")) {
    CAPTURE(asked.line);
    auto const wanted = test::numbers_of<double>(asked.answer[1]);

    auto const answer = answer_by_type(asked);

    CHECK(answer.type == asked.answer[0]);
    bool const is_rounded = asked.question[0] == "mean" || asked.question[0] == "var";
    CHECK_ALL((is_rounded ? nearly_equal(answer, wanted, tolerance(asked.question[1]))
                          : answer.values == wanted));
  }
}

TEST_SUITE_END();
