#include "tessera/detail/array/gpu/gpu_work.hpp"

#include <cstddef>
#include <cstdint>
#include <random>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/detail/random/random_node.hpp"
#include "tessera/random/random.hpp"

#include "src/statement/statement.hpp"

#include "support/gpu_threads.hpp"
#include "support/seeds.hpp"

using namespace tessera;
using namespace tessera::detail;
using namespace tessera::test;

/// What threads of a GPU draw, done on the host, beside what the host does.
TEST_SUITE_BEGIN("random/gpu_work");

namespace {

/// The node's numbers in a random box of a larger statement, by GPU threads and by rows.
template <std::size_t N, bool unit, class D>
void draws_as_the_host_does(RandomNode<D> const& node, std::mt19937& random) {
  using T = typename D::value_type;
  using Kernel = RandomKernel<D>;
  RandomBox<N> box(random);
  for (std::size_t d = 0; d < N; ++d) box.first[d] += 3;  // no box begins before its statement
  Index extents;
  for (std::size_t d = 0; d < N; ++d) extents.push_back(box.extents[d] + box.first[d] + 2);
  auto const numbers = node.numbers.in(extents);
  Kernel kernel{node.distribution, node.key, numbers.first, {}};
  for (std::size_t d = 0; d < max_rank; ++d) kernel.strides[d] = numbers.strides[d];

  auto const strides = box.random_strides(random, unit);
  GpuCall call;
  call.box.first = &box.first;
  call.box.extents = &box.extents;
  call.box.kernel = &kernel;
  call.box.target_strides = &strides;
  call.box.step = 12;
  call.kernel_bytes = sizeof(Kernel);
  call.unit_stride = unit;
  std::int64_t last = 0;
  for (std::size_t d = 0; d < N; ++d) last += (box.extents[d] - 1) * strides[d];
  std::vector<unsigned char> expected(static_cast<std::size_t>(last + 1) * sizeof(T));
  auto target = expected;
  call.box.target = reinterpret_cast<std::byte*>(expected.data());
  assign_rows<Kernel, T, unit>(&call.box, 0, box.rows());

  call.box.target = reinterpret_cast<std::byte*>(target.data());
  auto const by_value = box_by_value<Kernel, N>(call);
  REQUIRE(by_value);
  GpuAssignment<Kernel, T, N, unit> const work{*by_value, random_shape(random)};
  for_each_thread(work.shape, work);

  CHECK(target == expected);
}

template <class D>
void draws_as_the_host_does(RandomNode<D> const& node) {
  std::mt19937 random(test::seed_of_all(3));
  for (int i = 0; i < 20; ++i) {
    draws_as_the_host_does<1, true>(node, random);
    draws_as_the_host_does<1, false>(node, random);
    draws_as_the_host_does<2, true>(node, random);
    draws_as_the_host_does<3, true>(node, random);
  }
}

}  // namespace

TEST_CASE("threads of a GPU draw the numbers of rows") {
  random::Key const key(8);
  draws_as_the_host_does(random::uniform<double>(key));
  draws_as_the_host_does(random::uniform<float>(key.at(Step(3)).fold_in(4)));
  draws_as_the_host_does(random::uniform<float16>(key));
  draws_as_the_host_does(random::normal<double>(key));
  draws_as_the_host_does(random::normal<float>(key));
  draws_as_the_host_does(random::exponential<float>(key));
  draws_as_the_host_does(random::truncated_normal<double>(key, 1, 4));
  draws_as_the_host_does(random::integers<std::int32_t>(key, 0, (std::int64_t{1} << 31) - 7));
  draws_as_the_host_does(random::integers<std::int64_t>(key, -4, 9));
  draws_as_the_host_does(random::bernoulli(key, 0.25));
  draws_as_the_host_does(random::categorical<std::int16_t>(key, {0.25, 0.5, 0.25}));
}

TEST_SUITE_END();
