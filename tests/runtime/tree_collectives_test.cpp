#include "src/runtime/tree_collectives.hpp"

#include <array>
#include <stdexcept>
#include <string_view>

#include <doctest/doctest.h>

#include "tessera/detail/runtime/submit.hpp"

#include "src/runtime/listener.hpp"
#include "src/statement/statement.hpp"

#include "support/runtime_parts.hpp"

using namespace tessera;
using test::RuntimeParts;

TEST_SUITE_BEGIN("runtime/tree_collectives");

namespace {

// Counts what it is told.
class CountingListener final : public Listener {
 public:
  void note(Statement const& /*statement*/) override {}
  void note(Operation const& /*operation*/) override {}
  void note(ReplayedSteps const& /*steps*/) override {}
  [[nodiscard]] bool note(KeptValue const& /*kept*/) override { return false; }
  void note_move(std::shared_ptr<ArrayModel> const& /*array*/) noexcept override { ++moves; }
  void note_host_access() override { ++accesses; }
  [[nodiscard]] std::string_view reason_to_run_bodies() const override { return {}; }

  int moves = 0;
  int accesses = 0;
};

}  // namespace

TEST_CASE("one process keeps its bytes, and each collective is a statement") {
  RuntimeParts parts(3);
  std::array<std::byte, 3> bytes{std::byte{1}, std::byte{0}, std::byte{255}};
  auto const before = bytes;

  parts.collectives.or_over_processes(bytes, SourceLocation("a.cpp", 1), {"where a test compares"});
  CHECK(bytes == before);
  CHECK(parts.log.last().number == 1);
  CHECK(parts.log.last().location.line == 1);
}

TEST_CASE("collectives for different purposes have different hashes") {
  RuntimeParts parts(1);
  std::byte byte{};
  auto const hash_of = [&](Collective const& collective) {
    parts.collectives.or_over_processes({&byte, 1}, {}, collective);
    return parts.log.last().hash;
  };
  CHECK(hash_of({"one"}) == hash_of({"one"}));
  CHECK(hash_of({"one"}) != hash_of({"other"}));
  CHECK(hash_of({"one", 1}) != hash_of({"one", 2}));
  CHECK(hash_of({"one", 0, 1}) != hash_of({"one", 0, 2}));
}

TEST_CASE("what needs other processes costs nothing where there are none") {
  RuntimeParts parts(2);
  CHECK(parts.collectives.rendezvous_seconds() == 0);
  CHECK(parts.collectives.least_caches().nearest > 0);
  CHECK(parts.log.last().number == 0);
}

TEST_CASE("a listener is told of host accesses and moves, but not of the runtime's own") {
  RuntimeParts parts(1);
  CountingListener const listener;
  std::byte byte{};

  parts.collectives.or_over_processes({&byte, 1}, {}, {"where a test compares"});
  parts.collectives.synchronize();
  CHECK(listener.accesses == 2);

  parts.collectives.combine({&byte, 1}, or_bytes, {"where a test compares"});
  parts.devices.synchronize();
  CHECK(listener.accesses == 2);

  detail::note_move(nullptr);
  CHECK(listener.moves == 1);
}

TEST_CASE("after a failure every collective throws it") {
  RuntimeParts parts(1);
  CHECK_THROWS_AS(parts.collectives.guarded([] { throw std::logic_error("first"); }),
                  std::logic_error);
  std::byte byte{};
  CHECK_THROWS_AS(parts.collectives.or_over_processes({&byte, 1}, {}, {"late"}), std::logic_error);
  CHECK_THROWS_AS(parts.collectives.synchronize(), std::logic_error);
  CHECK_THROWS_AS((void)parts.collectives.least_caches(), std::logic_error);
}

TEST_SUITE_END();
