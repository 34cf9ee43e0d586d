/// Conjugate gradients on a dense matrix: a x = b, with products of a matrix and a vector. Every
/// digit printed is the same for any number of processes.
#include <cmath>
#include <cstdint>
#include <cstdio>
#include <cstdlib>

#include <tessera/all.hpp>

namespace ts = tessera;

int main(int argc, char** argv) {
  ts::Runtime runtime(argc, argv);
  auto const n = argc > 1 ? std::atoll(argv[1]) : 1000;
  ts::Mesh const mesh({{"x", ts::device_count()}});
  ts::NamedSharding const rows(mesh, ts::P("x", ts::none)), cells(mesh, ts::P("x"));

  // g gᵀ / n and a little more on the diagonal: positive definite.
  auto const g = ts::random::normal<double>(ts::random::Key(1), {n, n}, rows);
  auto a = ts::matmul(g, ts::transpose(g), {.sharding = rows});
  a = a / static_cast<double>(n) + ts::where(ts::index(0) == ts::index(1), 0.1, 0.0);
  auto const b = ts::random::uniform<double>(ts::random::Key(2), {n}, cells);

  auto x = ts::zeros<double>({n}, cells);
  auto r = b, p = b;
  auto ap = x;
  double const wanted = 1e-10 * ts::norm(b).value();
  double square = ts::dot(r, r);
  std::int64_t steps = 0;
  for (; std::sqrt(square) > wanted && steps < n; ++steps) {
    ts::matmul_into(ap, a, p);
    double const alpha = square / ts::dot(p, ap).value();
    x += alpha * p;
    r -= alpha * ap;
    double const next = ts::dot(r, r);
    p = r + next / square * p;
    square = next;
  }
  double const left = ts::norm(b - ts::matmul(a, x));
  auto const hash = ts::hash(x);  // every process asks, one prints
  if (ts::process().value() == 0)
    std::printf("%lld steps, %.3g of %.3g left, hash %016llx\n", static_cast<long long>(steps),
                left, wanted, static_cast<unsigned long long>(hash));
  return left <= 10 * wanted ? 0 : 1;
}
