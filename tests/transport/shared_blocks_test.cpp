#include "src/transport/host_memory/shared_blocks.hpp"

#include <cstring>
#include <map>

#include <doctest/doctest.h>

#include "src/transport/host_memory/segment_directory.hpp"

using namespace tessera;

TEST_SUITE_BEGIN("transport/host_memory/shared_blocks");

namespace {

/// What processes show each other, as a table of the test's.
class Shown {
 public:
  SegmentDirectory of(ProcessId self) {
    return {[this, self](SegmentTicket const& ticket) { tickets_[self] = ticket; },
            [this](ProcessId process, std::string& reason) -> std::optional<SegmentTicket> {
              auto const found = tickets_.find(process);
              if (found != tickets_.end()) return found->second;
              reason = "it shows nothing";
              return std::nullopt;
            },
            {}};
  }

 private:
  std::map<ProcessId, SegmentTicket> tickets_;
};

ProcessId const zero{0};
ProcessId const one{1};

}  // namespace

TEST_CASE("a block that one process makes is found by another, at the same memory") {
  Shown shown;
  SharedBlocks of_zero(shown.of(zero));
  SharedBlocks of_one(shown.of(one));
  std::string reason;

  auto const made = of_zero.make(7, 100);
  auto const found = of_one.find(zero, 7, nullptr, reason);

  REQUIRE(found);
  CHECK(found->size_bytes() == 100);
  std::memcpy(made->data(), "tesserae", 9);
  CHECK(std::memcmp(found->data(), "tesserae", 9) == 0);
  CHECK(reinterpret_cast<std::uintptr_t>(found->data()) % 64 == 0);
}

TEST_CASE("a block that is known already is not mapped again") {
  Shown shown;
  SharedBlocks of_zero(shown.of(zero));
  SharedBlocks of_one(shown.of(one));
  std::string reason;
  auto made = of_zero.make(7, 100);
  auto const found = of_one.find(zero, 7, nullptr, reason);

  CHECK(of_one.find(zero, 7, found, reason) == found);
  made.reset();
  made = of_zero.make(7, 200);
  auto const again = of_one.find(zero, 7, found, reason);
  REQUIRE(again);
  CHECK(again != found);
  CHECK(again->size_bytes() == 200);
}

TEST_CASE("what is not shown is not found, with the reason") {
  Shown shown;
  SharedBlocks of_zero(shown.of(zero));
  SharedBlocks of_one(shown.of(one));
  std::string reason;

  CHECK(of_one.find(zero, 7, nullptr, reason) == nullptr);
  CHECK(reason == "it shows nothing");
  auto made = of_zero.make(7, 100);
  CHECK(of_one.find(zero, 8, nullptr, reason) == nullptr);
  CHECK(reason == "process 0 does not share array 8");
  made.reset();
  CHECK(of_one.find(zero, 7, nullptr, reason) == nullptr);
}

TEST_SUITE_END();
