/// @file
/// Prints the largest error of each function in units of the last place, and its argument.
///
/// usage: errors [--all] [--count N] [FUNCTION]
///
/// --all takes all floats; without it, and for doubles, N arguments are random, 10^7 unless said.

#include <cinttypes>
#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <vector>

#include "arguments.hpp"
#include "functions.hpp"
#include "worst_error.hpp"

using namespace tessera::test;

namespace {

struct Options {
  bool all = false;
  std::size_t count = 10'000'000;
  std::string_view function;
};

template <class F, class R>
void print(WorstError<F, R> const& errors) {
  auto const& worst = errors.worst();
  std::printf("%-6s %-6s %.4f at %a", std::string(F::name).c_str(),
              sizeof(R) == 8 ? "double" : "float", worst.error, double{worst.x});
  if (F::arguments == 2) std::printf(", %a", double{worst.y});
  std::printf("\n");
  std::fflush(stdout);
}

template <class F, class R>
void take(WorstError<F, R>& errors, Arguments<R> of) {
  std::vector<R> results(of.count);
  fast_loop<F>(of, results.data());
  errors.take(of, results.data());
}

template <class F>
void print_error_of_all_floats() {
  constexpr std::uint32_t length = 1U << 16U;
  std::vector<float> x(length);
  WorstError<F, float> errors;
  // Arguments with large errors first, so that the oracle is asked about few others.
  auto const first = test_arguments<float>(length);
  take(errors, {first.data(), nullptr, first.size()});
  for (std::uint32_t i = 0; i < length; ++i) {
    for (std::uint32_t j = 0; j < length; ++j)
      x[j] = tessera::detail::formula::of_bits<float>(i * length + j);
    take(errors, {x.data(), nullptr, length});
  }
  print(errors);
}

template <class F, class R>
void print_error_of_random(std::size_t count) {
  WorstError<F, R> errors;
  if constexpr (F::arguments == 2) {
    auto const pairs = test_pairs<R>(count);
    take(errors, {pairs.x.data(), pairs.y.data(), pairs.x.size()});
  } else {
    auto const x = test_arguments<R>(count / 2);
    take(errors, {x.data(), nullptr, x.size()});
  }
  print(errors);
}

template <class F>
void print_errors(Options const& options) {
  if (!options.function.empty() && options.function != F::name) return;
  print_error_of_random<F, double>(options.count);
  if constexpr (F::arguments == 1) {
    if (options.all) return print_error_of_all_floats<F>();
  }
  print_error_of_random<F, float>(options.count);
}

}  // namespace

int main(int argc, char** argv) {
  Options options;
  for (int i = 1; i < argc; ++i) {
    std::string_view const argument = argv[i];
    if (argument == "--all")
      options.all = true;
    else if (argument == "--count" && i + 1 < argc)
      options.count = std::strtoull(argv[++i], nullptr, 10);
    else
      options.function = argument;
  }
  for_each_function([&]<class F>() { print_errors<F>(options); });
  print_errors<Pow>(options);
}
