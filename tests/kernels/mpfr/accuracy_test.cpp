#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "arguments.hpp"
#include "functions.hpp"
#include "worst_error.hpp"

using namespace tessera::test;

TEST_SUITE_BEGIN("formulas/accuracy");

namespace {

constexpr std::size_t count = 300'000;

template <class F, class R>
void check(Arguments<R> of) {
  WorstError<F, R> errors;
  std::vector<R> results(of.count);
  loop_of_baseline<F>(of, results.data());

  errors.take(of, results.data());

  auto const& worst = errors.worst();
  CHECK_MESSAGE(worst.error <= F::template largest_error<R>, std::string(F::name), "(", worst.x,
                ", ", worst.y, ") errs by ", worst.error, " units of the last place");
}

}  // namespace

TEST_CASE_TEMPLATE("no function errs by more units of the last place than it says", R, double,
                   float) {
  auto const x = test_arguments<R>(count);
  for_each_function([&]<class F>() { check<F, R>({x.data(), nullptr, x.size()}); });
}

TEST_CASE_TEMPLATE("pow errs by no more units of the last place than it says", R, double, float) {
  auto const pairs = test_pairs<R>(count);
  check<Pow, R>({pairs.x.data(), pairs.y.data(), pairs.x.size()});
}

TEST_SUITE_END();
