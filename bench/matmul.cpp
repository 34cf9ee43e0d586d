// Products of matrices beside OpenBLAS, and beside what is written by hand with it and MPI.
//
//   bench_matmul LABEL 2 CELLS STEPS PAIRS     prints a line of JSON; see bench/run
//
// The label says what is multiplied; CELLS is the length of a side.
//
//   double-N float-N complex-N   the kernel on one device: ts::matmul_into beside one call of BLAS
//   rows-N                       a, b and c cut by rows: b travels
//   columns-N                    a cut by rows, b by columns, c by rows: b travels
//   batch-N                      64 products, the batch cut: nothing travels
//   terms-N                      (512, N) times (N, 512), both cut along N, a copy of c on each
//                                process; the form "fast" has .bits = ts::fast
//   row-N column-N               a vector from the left, with the matrix cut by columns; from the
//                                right, cut by rows
//
// The raw version computes with its own part of b while another process's is under way; its sums of
// cut terms are added by MPI_Allreduce. BLAS has other bits, so results are compared within a
// bound.
#include <algorithm>
#include <cmath>
#include <complex>
#include <cstdint>
#include <functional>
#include <string_view>
#include <vector>

#include <cblas.h>
#include <mpi.h>
#include <tessera/products.hpp>

#include "forms.hpp"
#include "raw/row_exchange.hpp"

namespace ts = tessera;

using bench::Case;

namespace {

double number(std::int64_t i, std::int64_t j) {
  return static_cast<double>((i * 7919 + j * 104729) % 2003 - 1001) / 1024;
}

// c (m, n) = or += a (m, k) b (k, n), with these distances between rows.
struct Sizes {
  std::int64_t m, n, k, lda, ldb, ldc;
};
void gemm(Sizes const& s, double const* a, double const* b, double* c, bool adds) {
  cblas_dgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, static_cast<int>(s.m),
              static_cast<int>(s.n), static_cast<int>(s.k), 1, a, static_cast<int>(s.lda), b,
              static_cast<int>(s.ldb), adds ? 1 : 0, c, static_cast<int>(s.ldc));
}
void gemm(Sizes const& s, float const* a, float const* b, float* c, bool adds) {
  cblas_sgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, static_cast<int>(s.m),
              static_cast<int>(s.n), static_cast<int>(s.k), 1, a, static_cast<int>(s.lda), b,
              static_cast<int>(s.ldb), adds ? 1 : 0, c, static_cast<int>(s.ldc));
}
void gemm(Sizes const& s, std::complex<double> const* a, std::complex<double> const* b,
          std::complex<double>* c, bool adds) {
  std::complex<double> const one = 1, more = adds ? 1 : 0;
  cblas_zgemm(CblasRowMajor, CblasNoTrans, CblasNoTrans, static_cast<int>(s.m),
              static_cast<int>(s.n), static_cast<int>(s.k), &one, a, static_cast<int>(s.lda), b,
              static_cast<int>(s.ldb), &more, c, static_cast<int>(s.ldc));
}

// This process's part of [0, n).
struct Part {
  std::int64_t lo, hi;
  explicit Part(std::int64_t n, int process = raw::own_rank())
      : lo(raw::begin_of(n, raw::process_count(), process)),
        hi(raw::begin_of(n, raw::process_count(), process + 1)) {}
  [[nodiscard]] std::int64_t size() const { return hi - lo; }
};

// Rows [of_rows) and columns [of_columns) of a matrix of numbers.
template <class T>
std::vector<T> cells_of(Part const& of_rows, Part const& of_columns) {
  std::vector<T> cells;
  for (auto i = of_rows.lo; i < of_rows.hi; ++i)
    for (auto j = of_columns.lo; j < of_columns.hi; ++j)
      cells.push_back(static_cast<T>(number(i, j)));
  return cells;
}
Part all(std::int64_t n) {
  Part part(n);
  part.lo = 0;
  part.hi = n;
  return part;
}
template <class T>
ts::DistArray<T, 2> array_of(std::int64_t rows, std::int64_t columns,
                             ts::NamedSharding const& lies) {
  return ts::from_index<T, 2>({rows, columns}, lies,
                              [](auto const& i) { return static_cast<T>(number(i[0], i[1])); });
}

ts::Mesh line() {
  return ts::Mesh({{"x", ts::device_count()}});
}
ts::NamedSharding by_rows() {
  return {line(), ts::P("x", ts::none)};
}
ts::NamedSharding by_columns() {
  return {line(), ts::P(ts::none, "x")};
}
ts::NamedSharding copies() {
  return {line(), ts::P(ts::none, ts::none)};
}

// True if the cells of this process agree with BLAS's, relative to the largest.
template <class T, std::size_t N>
bool agree(ts::DistArray<T, N> const& c, std::vector<T> const& wanted) {
  double largest = 0, error = 0;
  std::size_t at = 0;
  for (auto const& shard : c.addressable_shards()) {
    auto const& box = shard.box();
    for (std::int64_t cell = 0; cell < box.cells(); ++cell, ++at) {
      std::int64_t rest = cell, offset = 0;
      for (auto d = box.rank(); d-- > 0; rest /= box.extent(d))
        offset += rest % box.extent(d) * shard.strides()[d];
      largest = std::max<double>(largest, std::abs(wanted[at]));
      error = std::max<double>(error, std::abs(shard.data()[offset] - wanted[at]));
    }
  }
  double const bound = sizeof(T) == 4 ? 1e-4 : 1e-12;
  int const own = at == wanted.size() && error <= bound * largest ? 1 : 0;
  int every = 0;
  MPI_Allreduce(&own, &every, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  return every == 1;
}

// Cells of another process while its own are multiplied.
template <class T, class Multiply>
void multiply_around(std::vector<T> const& own, std::vector<T>& other,
                     std::function<std::int64_t(int)> const& count, Multiply const& multiply) {
  auto const size = raw::process_count(), rank = raw::own_rank();
  multiply(rank, own.data());
  for (int step = 1; step < size; ++step) {
    auto const from = (rank + step) % size, to = (rank + size - step) % size;
    MPI_Sendrecv(own.data(), static_cast<int>(count(rank) * std::int64_t{sizeof(T)}), MPI_BYTE, to,
                 0, other.data(), static_cast<int>(count(from) * std::int64_t{sizeof(T)}), MPI_BYTE,
                 from, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    multiply(from, other.data());
  }
}

template <class T>
int on_one_device(Case const& what) {
  auto const n = what.cells;
  auto const a = array_of<T>(n, n, copies());
  auto const b = array_of<T>(n, n, copies());
  auto c = ts::zeros<T>({n, n}, copies());
  auto const x = cells_of<T>(all(n), all(n));
  std::vector<T> y(x.size());
  auto const pairs = bench::time_pairs(
      what, [&] { ts::matmul_into(c, a, b); },
      [&] {
        gemm({n, n, n, n, n, n}, x.data(), x.data(), y.data(), false);
      });
  return bench::print(what, pairs, agree(c, y), "plain");
}

int rows_or_columns(Case const& what, bool is_columns) {
  auto const n = what.cells;
  auto const a = array_of<double>(n, n, by_rows());
  auto const b = array_of<double>(n, n, is_columns ? by_columns() : by_rows());
  auto c = ts::zeros<double>({n, n}, by_rows());
  Part const own(n);
  auto const x = cells_of<double>(own, all(n));
  auto const y = is_columns ? cells_of<double>(all(n), own) : x;
  std::vector<double> other((static_cast<std::size_t>(own.size()) + 1) *
                            static_cast<std::size_t>(n));
  std::vector<double> z(x.size());
  auto const multiply = [&](int from, double const* cells) {
    Part const part(n, from);
    if (is_columns)
      gemm({own.size(), part.size(), n, n, part.size(), n}, x.data(), cells, z.data() + part.lo,
           false);
    else
      gemm({own.size(), n, part.size(), n, n, n}, x.data() + part.lo, cells, z.data(),
           from != raw::own_rank());
  };
  auto const count = [&](int process) { return Part(n, process).size() * n; };
  auto const pairs = bench::time_pairs(
      what, [&] { ts::matmul_into(c, a, b); },
      [&] { multiply_around<double>(y, other, count, multiply); });
  return bench::print(what, pairs, agree(c, z), "plain");
}

int batch(Case const& what) {
  auto const n = what.cells;
  constexpr std::int64_t count = 64;
  ts::NamedSharding const cut(line(), ts::P("x", ts::none, ts::none));
  auto const make = [](auto const& i) { return number(i[0] + i[1], i[2]); };
  auto const a = ts::from_index<double, 3>({count, n, n}, cut, make);
  auto c = ts::zeros<double>({count, n, n}, cut);
  Part const own(count);
  std::vector<double> x;
  for (auto p = own.lo; p < own.hi; ++p)
    for (std::int64_t i = 0; i < n; ++i)
      for (std::int64_t j = 0; j < n; ++j) x.push_back(make(std::array{p, i, j}));
  std::vector<double> z(x.size());
  auto const pairs = bench::time_pairs(
      what, [&] { ts::matmul_into(c, a, a); },
      [&] {
        for (std::int64_t p = 0; p < own.size(); ++p)
          gemm({n, n, n, n, n, n}, x.data() + p * n * n, x.data() + p * n * n, z.data() + p * n * n,
               false);
      });
  return bench::print(what, pairs, agree(c, z), "plain");
}

int cut_terms(Case const& what) {
  constexpr std::int64_t side = 512;
  auto const k = what.cells;
  auto const a = array_of<double>(side, k, by_columns());
  auto const b = array_of<double>(k, side, by_rows());
  auto c = ts::zeros<double>({side, side}, copies());
  Part const own(k);
  auto const x = cells_of<double>(all(side), own);
  auto const y = cells_of<double>(own, all(side));
  std::vector<double> z(side * side);
  auto const pairs = bench::time_pairs(
      what, [&] { ts::matmul_into(c, a, b); },
      [&] {
        gemm({side, side, own.size(), own.size(), side, side}, x.data(), y.data(), z.data(), false);
        MPI_Allreduce(MPI_IN_PLACE, z.data(), side * side, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
      });
  auto const code = bench::print(what, pairs, agree(c, z), "plain");
  auto const fast_pairs = bench::time_pairs(
      what,
      [&] {
        c = ts::matmul(a, b, {.sharding = {line(), ts::P(ts::none, ts::none)}, .bits = ts::fast});
      },
      [&] {
        gemm({side, side, own.size(), own.size(), side, side}, x.data(), y.data(), z.data(), false);
        MPI_Allreduce(MPI_IN_PLACE, z.data(), side * side, MPI_DOUBLE, MPI_SUM, MPI_COMM_WORLD);
      });
  return std::max(code, bench::print(what, fast_pairs, agree(c, z), "fast"));
}

int vector(Case const& what, bool is_row) {
  auto const n = what.cells;
  ts::NamedSharding const everywhere(line(), ts::P(ts::none));
  auto const a = array_of<float>(n, n, is_row ? by_columns() : by_rows());
  auto const v = ts::from_index<float, 1>(
      {n}, everywhere, [](auto const& i) { return static_cast<float>(number(i[0], 1)); });
  auto c = ts::zeros<float>({n}, {line(), ts::P("x")});
  Part const own(n);
  auto const x = is_row ? cells_of<float>(all(n), own) : cells_of<float>(own, all(n));
  std::vector<float> y;
  for (std::int64_t i = 0; i < n; ++i) y.push_back(static_cast<float>(number(i, 1)));
  std::vector<float> z(static_cast<std::size_t>(own.size()));
  auto const rows = static_cast<int>(is_row ? n : own.size());
  auto const columns = static_cast<int>(is_row ? own.size() : n);
  auto const pairs = bench::time_pairs(
      what,
      [&] {
        if (is_row)
          ts::matmul_into(c, v, a);
        else
          ts::matmul_into(c, a, v);
      },
      [&] {
        cblas_sgemv(CblasRowMajor, is_row ? CblasTrans : CblasNoTrans, rows, columns, 1, x.data(),
                    columns, y.data(), 1, 0, z.data(), 1);
      });
  return bench::print(what, pairs, agree(c, z), "plain");
}

int run(Case const& what) {
  std::string_view const label = what.label;
  auto const kind = label.substr(0, label.find('-'));
  if (kind == "float") return on_one_device<float>(what);
  if (kind == "complex") return on_one_device<std::complex<double>>(what);
  if (kind == "rows" || kind == "columns") return rows_or_columns(what, kind == "columns");
  if (kind == "batch") return batch(what);
  if (kind == "terms") return cut_terms(what);
  if (kind == "row" || kind == "column") return vector(what, kind == "row");
  return on_one_device<double>(what);
}

}  // namespace

int main(int argc, char** argv) {
  ts::Runtime runtime(argc, argv);
  auto const what = bench::case_of(argc, argv);
  return what ? run(*what) : 2;
}
