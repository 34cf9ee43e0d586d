#include "src/runtime/engine.hpp"

#include <cstdlib>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/base/error.hpp"
#include "tessera/detail/array/erased/handle.hpp"

#include "src/index/affine_map.hpp"
#include "src/plan/access.hpp"
#include "src/statement/statement.hpp"

#include "support/agree.hpp"
#include "support/arrays.hpp"

using namespace tessera;
using test::holds;
using test::over;

/// Copies between layouts, run by the engine without the expression floor.
TEST_SUITE_BEGIN("runtime/engine");

namespace {

// cell i of `to` = cell i + offset of `from`, for i in [first, last): a statement made by hand.
struct CopyKernel {};

void copy_doubles(void const* context, std::int64_t first, std::int64_t last) {
  auto const& call = *static_cast<KernelCall const*>(context);
  auto const count = call.extents->back();
  TESSERA_ASSERT(call.extents->size() == 1 && first == 0 && last == 1, first, ' ', last);
  auto* const to = reinterpret_cast<double*>(call.target);
  auto const* const from = reinterpret_cast<double const*>(call.operands[0].first);
  for (std::int64_t j = 0; j < count; ++j)
    to[j * call.target_strides->back()] = from[j * call.operands[0].strides->back()];
}

void copy_shifted(DistArray<double, 1> const& to, DistArray<double, 1> const& from,
                  std::int64_t first, std::int64_t last, std::int64_t offset) {
  Statement statement;
  CopyKernel const kernel;
  statement.kind = "shifted copy";
  statement.type_hash = 7;
  statement.work = {to.layout(), AffineMap::identity(1), Box{{first}, {last}}};
  statement.target = to.storage();
  AffineMap moved{1, {}};
  moved.axes.push_back({0, offset, 1});
  statement.operands.push_back({from.storage(), Access::plain(moved), -1});
  statement.forms = {copy_doubles, copy_doubles};
  statement.kernel = &kernel;
  statement.kernel_bytes = sizeof kernel;
  engine().run(statement);
}

}  // namespace

TEST_CASE("messages longer than a slot travel in pieces and count once") {
  std::int64_t const cells = 8 * 200'003;  // 1.6 MB a device
  auto const u = iota<double>({cells}, over(8));
  auto v = zeros<double>({cells}, {Mesh({7, 6, 5, 4, 3, 2, 1, 0}, {8}, {"x"}), P("x")});

  auto const sent = test::sent_by([&] { copy_shifted(v, u, 0, cells, 0); });

  CHECK(sent.messages == 8);
  CHECK(sent.bytes == cells * 8);
  CHECK_ALL(holds(v, u.to_host()));
}

TEST_CASE("a long message goes one way to a device that sends none") {
  std::int64_t const cells = 500'001;
  auto const u = iota<double>({cells}, {Mesh({6}, {1}, {"x"}), P("x")});
  auto v = zeros<double>({cells}, {Mesh({1}, {1}, {"x"}), P("x")});
  for (int s = 0; s < 3; ++s) copy_shifted(v, u, 0, cells, 0);

  CHECK_ALL(holds(v, u.to_host()));
}

TEST_CASE("everybody sends long messages to everybody at once") {
  std::int64_t const cells = 300'000;
  auto const u = iota<double>({cells}, over(8));
  auto v = zeros<double>({cells}, {test::row(8), P(none)});

  auto const sent = test::sent_by([&] { copy_shifted(v, u, 0, cells, 0); });

  CHECK(sent.messages == 8 * 7);
  CHECK_ALL(holds(v, u.to_host()));
}

TEST_CASE("a one-way pipeline of many statements never overruns its readers") {
  auto u = iota<double>({64}, over(8));
  for (int s = 0; s < 2000; ++s) copy_shifted(u, u, 0, 63, 1);

  CHECK_ALL(holds(u, std::vector<double>(64, 63.0)));
}

TEST_CASE("of many messages that go one way, each brings its own cells") {
  std::int64_t const cells = 4 * 500;
  NamedSharding const low{Mesh({0, 1, 2, 3}, {4}, {"x"}), P("x")};
  NamedSharding const high{Mesh({4, 5, 6, 7}, {4}, {"x"}), P("x")};
  std::vector<DistArray<double, 1>> from;
  std::vector<DistArray<double, 1>> to;
  for (int s = 0; s < 30; ++s) {
    from.push_back(full<double>({cells}, s, low));
    to.push_back(zeros<double>({cells}, high));
  }

  for (std::size_t s = 0; s < from.size(); ++s) copy_shifted(to[s], from[s], 0, cells, 0);

  for (std::size_t s = 0; s < from.size(); ++s) {
    CAPTURE(s);
    CHECK_ALL(holds(to[s], std::vector<double>(cells, static_cast<double>(s))));
  }
}

TEST_CASE("a plan is made once, and again after 256 others") {
  auto u = iota<double>({600}, over(8));
  auto v = zeros<double>({600}, over(4));
  auto const plans = [&](auto const& body) {
    auto const before = counters();
    body();
    return (counters() - before).plans_made;
  };

  CHECK_ALL(plans([&] { copy_shifted(v, u, 0, 600, 0); }) == 1);
  CHECK_ALL(plans([&] { copy_shifted(v, u, 0, 600, 0); }) == 0);
  CHECK_ALL(plans([&] {
              for (std::int64_t k = 1; k <= 300; ++k) copy_shifted(v, u, 0, 600 - k, k);
            }) == 300);
  CHECK_ALL(plans([&] { copy_shifted(v, u, 0, 300, 300); }) == 0);
  CHECK_ALL(plans([&] { copy_shifted(v, u, 0, 600, 0); }) == 1);
  CHECK_ALL(holds(v, u.to_host()));
}

TEST_CASE("an array that is read while its statements wait in the rings is not freed") {
  auto v = zeros<double>({64}, over(8));
  for (int s = 0; s < 300; ++s) {
    auto const u = full<double>({64}, s, over(8));
    copy_shifted(v, u, 0, 63, 1);
  }
  std::vector<double> wanted(64, 299.0);
  wanted.back() = 0.0;
  CHECK_ALL(holds(v, wanted));
}

TEST_CASE("counters read the same on every route and count only what was sent") {
  auto const before = counters();
  auto u = iota<double>({16}, over(8));
  CHECK_ALL((counters() - before).messages == 0);
  auto const sent = test::sent_by([&] {
    copy_shifted(u, u, 0, 16, 0);
    copy_shifted(u, u, 1, 16, -1);
  });
  CHECK(sent.messages == 7);
  CHECK(sent.bytes == 7 * 8);

  auto const here = counters() - before;
  auto const& [local, shm, ucx, mpi, peer, ipc, nccl, ucx_gpu] = here.routes;
  CHECK_ALL(local + shm + ucx + mpi + peer + ipc + nccl + ucx_gpu == here.bytes);
  CHECK_ALL((process_count() > 1 || shm + ucx + mpi + ipc == 0));
  CHECK_ALL((process_count() < 8 || local + peer == 0));
  auto const* const forced = std::getenv("TESSERA_ROUTE");
  std::string const route = forced == nullptr ? "" : forced;
  CHECK_ALL((route.empty() || route == "shm" || shm == 0));
  CHECK_ALL((route.empty() || route == "ucx" || ucx == 0));
  CHECK_ALL((route.empty() || route == "mpi" || mpi == 0));
}

TEST_CASE("a mesh with a device that the job lacks is refused before anything is sent") {
  auto const before = counters();
  CHECK_ALL_THROW((void)detail::make_state(over(device_count() + 1), {16}, 8), ShardingError);
  CHECK_ALL(counters() == before);
  auto const u = iota<double>({16}, over(8));
  CHECK_ALL(std::ssize(u.to_host()) == 16);
}

TEST_SUITE_END();
