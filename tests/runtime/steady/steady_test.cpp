/// @file
/// Counts what a loop allocates and locks once its first two rounds are over: nothing. A program of
/// its own, because it replaces malloc and pthread_mutex_lock for all threads.
///
/// usage: steady_test    (TESSERA_DEVICES says how many devices)

#include <atomic>
#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <utility>

#include <dlfcn.h>
#include <pthread.h>

#include "tessera/array/creation.hpp"
#include "tessera/array/operators.hpp"
#include "tessera/array/rearrange.hpp"
#include "tessera/array/shift.hpp"
#include "tessera/detail/array/evaluate/assign.hpp"
#include "tessera/ops/member_collectives.hpp"
#include "tessera/ops/products.hpp"
#include "tessera/ops/reductions.hpp"
#include "tessera/program/program.hpp"
#include "tessera/runtime/runtime.hpp"

extern "C" {
void* __libc_malloc(std::size_t);                 // NOLINT: glibc names it
void* __libc_calloc(std::size_t, std::size_t);    // NOLINT: glibc names it
void* __libc_realloc(void*, std::size_t);         // NOLINT: glibc names it
void* __libc_memalign(std::size_t, std::size_t);  // NOLINT: glibc names it
}

namespace {

std::atomic<bool> counting{false};
std::atomic<std::int64_t> allocations{0};
std::atomic<std::int64_t> locks{0};

void note(std::atomic<std::int64_t>& count) {
  if (counting.load(std::memory_order_relaxed)) count.fetch_add(1, std::memory_order_relaxed);
}

}  // namespace

// Every way to ask for memory; operator new comes here as well.
extern "C" {
void* malloc(std::size_t size) {
  note(allocations);
  return __libc_malloc(size);
}
void* calloc(std::size_t count, std::size_t size) {
  note(allocations);
  return __libc_calloc(count, size);
}
void* realloc(void* old, std::size_t size) {
  note(allocations);
  return __libc_realloc(old, size);
}
void* aligned_alloc(std::size_t alignment, std::size_t size) {
  note(allocations);
  return __libc_memalign(alignment, size);
}
int posix_memalign(void** result, std::size_t alignment, std::size_t size) {
  note(allocations);
  *result = __libc_memalign(alignment, size);
  return *result == nullptr ? ENOMEM : 0;
}

int pthread_mutex_lock(pthread_mutex_t* mutex) {
  using Lock = int (*)(pthread_mutex_t*);
  static Lock const original = reinterpret_cast<Lock>(dlsym(RTLD_NEXT, "pthread_mutex_lock"));
  note(locks);
  return original(mutex);
}
}

namespace {

using namespace tessera;

bool all_passed = true;
double largest = 0;  // of the last step

// True if 200 steps allocated, locked and planned nothing.
template <class Body>
bool is_steady(Body const& body, std::int64_t& plans) {
  allocations = locks = 0;
  auto const before = counters();
  counting = true;
  for (int s = 0; s < 200; ++s) body();
  synchronize();
  counting = false;
  plans = (counters() - before).plans_made;
  return allocations == 0 && locks == 0 && plans == 0;
}

// The first round makes plans, buffers and ghost cells. Where it leaves ghost cells fresh, the
// second one sends less and makes plans of its own. The rounds after it do without. Only arrays
// that a step makes are still made where the devices have never before been so far behind, as on a
// busy machine; then the next steps show it.
template <class Body>
void measure(char const* name, Body const& body) {
  body();
  body();
  synchronize();
  std::int64_t plans = 0;
  bool passed = false;
  for (int attempt = 0; attempt < 20 && !passed; ++attempt) passed = is_steady(body, plans);
  std::printf("%s: %lld allocations, %lld locks, %lld plans in 200 steps on %lld devices%s\n", name,
              static_cast<long long>(allocations), static_cast<long long>(locks),
              static_cast<long long>(plans), static_cast<long long>(device_count()),
              passed ? "" : "   FAILED");
  all_passed = all_passed && passed;
}

// A recorded loop: what a run allocates and locks does not depend on its steps.
template <class Body>
void measure_loop(char const* name, Body const& body) {
  auto program = record(body, {4, {}});
  auto const cost_of = [&](std::int64_t steps) {
    allocations = locks = 0;
    counting = true;
    program.run(steps);
    counting = false;
    return allocations + locks;
  };
  program.run(40);
  (void)cost_of(40);
  auto const few = cost_of(40);
  auto const many = cost_of(4000);
  bool const passed = few == many;
  std::printf("%s: %lld allocations and locks in 40 steps, %lld in 4000 on %lld devices%s\n", name,
              static_cast<long long>(few), static_cast<long long>(many),
              static_cast<long long>(device_count()), passed ? "" : "   FAILED");
  all_passed = all_passed && passed;
}

void run_all() {
  Mesh const row({{"x", device_count()}});
  auto const rows = device_count() % 2 == 0 ? 2 : 1;
  Mesh const grid({{"y", rows}, {"x", device_count() / rows}});
  auto const inner = range(1, -1), left = range(0, -2), right = from(2);

  auto u = iota<double>({1002}, {row, P("x")});
  measure("heat by slices", [&] { u(inner) = 0.8 * u(inner) + 0.1 * u(left) + 0.1 * u(right); });

  auto looped = iota<double>({1002}, {row, P("x")});
  measure_loop("heat in blocks", [&] {
    looped(inner) = 0.8 * looped(inner) + 0.1 * looped(left) + 0.1 * looped(right);
  });

  auto scaled = iota<double>({1002}, {row, P("x")});
  measure_loop("heat and a sum in two parts", [&] {
    scaled(inner) = 0.8 * scaled(inner) + 0.1 * scaled(left) + 0.1 * scaled(right);
    scaled = scaled - 1e-6 * sum(scaled);
  });
  measure_loop("heat and a sum, replayed statement by statement", [&] {
    scaled(inner) = 0.8 * scaled(inner) + 0.1 * scaled(left) + 0.1 * scaled(right);
    scaled = scaled - 1e-6 * sum(scaled, fast);
  });

  auto now = iota<double>({1002}, {row, P("x")});
  auto later = iota<double>({1002}, {row, P("x")});
  measure_loop("the same with a swap", [&] {
    later(inner) = 0.8 * now(inner) + 0.1 * now(left) + 0.1 * now(right);
    later = later - 1e-6 * sum(now);
    std::swap(now, later);
  });

  auto ring = iota<double>({1000}, {row, P("x")});
  measure("roll", [&] { ring = 0.9 * roll(ring, 1) + 0.1 * roll(ring, -1); });

  auto plane = iota<double>({34, 66}, {grid, P("y", "x")});
  auto next = plane;
  measure("five points in two dimensions", [&] {
    next(inner, inner) = plane(inner, inner) + 0.1 * (plane(left, inner) + plane(right, inner) +
                                                      plane(inner, left) + plane(inner, right));
    plane(inner, inner) = next(inner, inner);
  });

  auto v = iota<double>({1000}, {row, P("x")});
  measure("a swap with small writes in between", [&] {
    v(inner) = 0.3 * v(left) + 0.7 * v(right);
    v(0) = 1.0;
    v(range(700, 703)) = 2.0;
  });

  auto residual = iota<double>({1000}, {row, P("x")});
  Scalar<double> before = sum(residual);
  measure("scalars that are made of others", [&] {
    Scalar<double> const factor = before / (1.0 + sum(residual * residual));
    residual = residual - factor * v;
    before = 0.5 * (before + factor);
  });

  auto const other = iota<double>({1000}, {row, P(none)});
  auto gathered = iota<double>({1000}, {row, P("x")});
  measure("the other half through a temporary",
          [&] { gathered(range(0, 500)) = gathered(range(500, none)) + other(range(0, 500)); });

  auto dealt = iota<double>({1000}, {row, P("x"), Cut::cyclic(1)});
  measure("neighbours in many boxes", [&] {
    dealt(inner) = 0.8 * dealt(inner) + 0.1 * dealt(left) + 0.1 * dealt(right);
    dealt(700) = 1.0;
  });

  auto fine = iota<double>({1025}, {row, P("x")});
  auto coarse = iota<double>({513}, {row, P("x")});
  measure("down to a coarse mesh and up again", [&] {
    coarse(inner) =
        0.3 * fine(range(1, -3, 2)) + 0.3 * fine(range(2, -2, 2)) + 0.3 * fine(range(3, none, 2));
    fine(range(none, none, 2)) += 0.1 * coarse;
    fine(range(1, none, 2)) += 0.1 * (coarse(range(0, -1)) + coarse(from(1)));
  });

  auto square = iota<double>({40, 40}, {grid, P("y", "x")});
  measure("a transpose added in place, under a mask", [&] {
    square += 0.1 * transpose(square);
    square(square > 9.0) = 0.5 * square;
    square(range(none, none, -1), all) += square(0, newaxis, all);
  });

  auto const by_terms = iota<float>({4096, 256 * device_count()}, {row, P(none, "x")});
  auto const of_terms = iota<float>({256 * device_count(), 2}, {row, P("x", none)});
  auto product = zeros<float>({4096, 2}, {row, P("x", none)});
  measure("a product whose sums pass along all devices",
          [&] { matmul_into(product, by_terms, of_terms); });
  auto const by_rows = iota<float>({64, 32}, {row, P("x", none)});
  auto const by_columns = iota<float>({32, 48}, {row, P(none, "x")});
  auto plain_product = zeros<float>({64, 48}, {row, P("x", none)});
  measure("a product of rows and columns", [&] {
    matmul_into(plain_product, by_rows, by_columns);
    matmul_into(plain_product, by_rows, by_columns, {.adds = true});
  });
  MatmulOptions const as_parts{.sharding = {row, P(none, none).partial("x")}, .bits = fast};
  measure("partial results of a product", [&] { (void)matmul(by_terms, of_terms, as_parts); });
  MatmulOptions const fast_product{.sharding = {row, P("x", none)}, .bits = fast};
  measure("a product that adds parts", [&] { product = matmul(by_terms, of_terms, fast_product); });
  auto const few_rows = iota<float>({64, 256 * device_count()}, {row, P(none, "x")});
  auto small_product = zeros<float>({64, 2}, {row, P("x", none)});
  measure_loop("a product whose sums pass along, in a loop",
               [&] { matmul_into(small_product, few_rows, of_terms, {.adds = true}); });

  auto const values = per_device<double>(Group(Mesh({{"x", device_count()}}), "x"),
                                         {8 * device_count(), 3}, [](Member, auto) { return 1; });
  measure("an all_gather of values", [&] { (void)all_gather(values, 1); });
  measure("a gather of values", [&] { (void)gather(values, 0, 0); });
  measure("a broadcast of values", [&] { (void)broadcast(values, 0); });
  measure("a scatter of values", [&] { (void)scatter(values, 0, 1); });
  measure("an all_reduce of values", [&] { (void)all_reduce(values, ReduceOp::avg); });
  measure("a reduce of values", [&] { (void)reduce(values, 0, ReduceOp::max); });
  measure("a reduce_scatter of values", [&] { (void)reduce_scatter(values, 0); });
  measure("an all_to_all of values", [&] { (void)all_to_all(values); });

  auto columns = sum(plane, axis(0));
  auto half = sum(plane, axis(1));
  measure("sums along dimensions", [&] {
    columns = sum(plane, axis(0));
    half = 0.5 * half + sum(0.1 * plane, axis(1));
    plane -= 0.01 * mean(plane, axis(0).keep_dimensions());
    largest = max(max(plane, axis(1)));
  });
}

}  // namespace

int main(int argc, char** argv) {
  // Costs by which sums pass along the devices of all its products that can do so.
  ::setenv("TESSERA_COSTS", "read_cells=1e15,messages=1e15", 0);
  Runtime const runtime(argc, argv);
  run_all();
  return all_passed ? 0 : 1;
}
