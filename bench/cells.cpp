// Statements of one cell at a time, in the caches, beside a plain loop of the compiler's best
// flags. Functions of the plain loop are those of the C library.
//
//   bench_cells LABEL 1 CELLS STEPS PAIRS     prints one line of JSON; see bench/run
//
// A label is STATEMENT-TYPE, as exp-double; the statements are those of main.
#include <algorithm>
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <functional>
#include <limits>
#include <string>
#include <vector>

#include <mpi.h>
#include <tessera/tessera.hpp>

#include "pairs.hpp"
#include "raw/aligned.hpp"

namespace ts = tessera;

namespace {

/// This process's cells of one of our arrays, and of the plain loop's.
template <class T>
struct Cells {
  ts::DistArray<T, 1> u, v, w;
  std::vector<T> plain_u, plain_v, plain_w;

  explicit Cells(std::int64_t n)
      : u(values(n, 0)), v(values(n, n)), w(ts::zeros<T>({n}, spread())) {
    auto const self = ts::process().value();
    auto const begin = raw::begin_of(n, ts::process_count(), self);
    auto const end = raw::begin_of(n, ts::process_count(), self + 1);
    for (auto i = begin; i < end; ++i) {
      plain_u.push_back(value_at(i));
      plain_v.push_back(value_at(n + i));
    }
    plain_w.resize(plain_u.size());
  }

  /// In [0.1, 8.1): far from special values, on both sides of 1.
  static T value_at(std::int64_t i) { return static_cast<T>(0.1 + 8.0 * bench::start_at(i)); }
  static ts::NamedSharding spread() { return {ts::Mesh({{"x", ts::device_count()}}), ts::P("x")}; }
  static ts::DistArray<T, 1> values(std::int64_t n, std::int64_t first) {
    return ts::from_index<T>({n}, spread(), [first](auto i) { return value_at(first + i[0]); });
  }
};

/// One row of the table.
struct Statement {
  std::string name;
  std::function<void()> ours;
  std::function<void()> plain;
};

/// The loop of a formula of two cells.
template <class T, class Formula>
std::function<void()> loop_of(Cells<T>& cells, Formula formula) {
  return [&cells, formula] {
    T const* const u = cells.plain_u.data();
    T const* const v = cells.plain_v.data();
    T* const w = cells.plain_w.data();
    auto const count = std::ssize(cells.plain_u);
#pragma GCC ivdep
    for (std::int64_t i = 0; i < count; ++i) w[i] = formula(u[i], v[i]);
  };
}

template <class T>
std::vector<Statement> arithmetic(Cells<T>& c) {
  auto const half = static_cast<T>(0.5);
  auto const limit = static_cast<T>(4);
  return {
      {"axpy", [&c, half] { c.w = half * c.u + c.v; },
       loop_of(c, [half](T x, T y) { return half * x + y; })},
      {"where", [&c, limit] { c.w = where(c.u > limit, 2 * c.u, c.u - 1); },
       loop_of(c, [limit](T x, T) { return x > limit ? 2 * x : x - 1; })},
      {"sqrt", [&c] { c.w = sqrt(c.u); }, loop_of(c, [](T x, T) { return std::sqrt(x); })},
      {"divide", [&c] { c.w = c.u / c.v; }, loop_of(c, [](T x, T y) { return x / y; })},
      {"floor", [&c] { c.w = floor(c.u); }, loop_of(c, [](T x, T) { return std::floor(x); })},
      {"minimum", [&c] { c.w = minimum(c.u, c.v); },
       loop_of(c, [](T x, T y) { return x < y ? x : y; })},
  };
}

template <class T>
std::vector<Statement> functions(Cells<T>& c) {
#define TESSERA_ROW(name)                                                             \
  {                                                                                   \
#name, [&c] { c.w = name(c.u); }, loop_of(c, [](T x, T) { return std::name(x); }) \
  }
#define TESSERA_ROW2(name)                                                                      \
  {                                                                                             \
#name, [&c] { c.w = name(c.u, c.v); }, loop_of(c, [](T x, T y) { return std::name(x, y); }) \
  }
  return {TESSERA_ROW(exp),
          TESSERA_ROW(exp2),
          TESSERA_ROW(expm1),
          TESSERA_ROW(log),
          TESSERA_ROW(log2),
          TESSERA_ROW(log10),
          TESSERA_ROW(log1p),
          TESSERA_ROW(sin),
          TESSERA_ROW(cos),
          TESSERA_ROW(tan),
          TESSERA_ROW(atan),
          TESSERA_ROW(sinh),
          TESSERA_ROW(cosh),
          TESSERA_ROW(tanh),
          TESSERA_ROW(cbrt),
          TESSERA_ROW(erf),
          TESSERA_ROW(erfc),
          TESSERA_ROW(tgamma),
          TESSERA_ROW(lgamma),
          TESSERA_ROW2(pow),
          TESSERA_ROW2(atan2),
          TESSERA_ROW2(hypot),
          {"asin", [&c] { c.w = asin(c.u * static_cast<T>(0.12)); },
           loop_of(c, [](T x, T) { return std::asin(x * static_cast<T>(0.12)); })},
          {"acos", [&c] { c.w = acos(c.u * static_cast<T>(0.12)); },
           loop_of(c, [](T x, T) { return std::acos(x * static_cast<T>(0.12)); })}};
#undef TESSERA_ROW
#undef TESSERA_ROW2
}

/// The results agree to some units in the last place.
template <class T>
bool agree(Cells<T> const& cells, std::int64_t n) {
  auto const ours = cells.w.to_host();
  auto const begin = raw::begin_of(n, ts::process_count(), ts::process().value());
  for (std::size_t i = 0; i < cells.plain_w.size(); ++i) {
    auto const a = ours[static_cast<std::size_t>(begin) + i];
    auto const b = cells.plain_w[i];
    if (std::abs(a - b) > 16 * std::numeric_limits<T>::epsilon() * std::abs(b)) return false;
  }
  return true;
}

template <class T>
int run(bench::Case const& what, std::string const& name) {
  Cells<T> cells(what.cells);
  auto all = arithmetic(cells);
  for (auto& row : functions(cells)) all.push_back(std::move(row));
  auto const row =
      std::find_if(all.begin(), all.end(), [&](auto const& s) { return s.name == name; });
  if (row == all.end()) {
    std::fprintf(stderr, "there is no statement '%s'\n", name.c_str());
    return 2;
  }
  auto const pairs = bench::time_pairs(what, row->ours, row->plain);
  return bench::print(what, pairs, agree(cells, what.cells));
}

}  // namespace

int main(int argc, char** argv) {
  ts::Runtime runtime(argc, argv);
  auto const what = bench::case_of(argc, argv);
  if (!what) return 2;
  auto const dash = what->label.find('-');
  auto const name = what->label.substr(0, dash);
  if (what->label.find("-float") == dash) return run<float>(*what, name);
  return run<double>(*what, name);
}
