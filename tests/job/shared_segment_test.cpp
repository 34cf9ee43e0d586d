#include "src/job/ipc/shared_segment.hpp"

#include <cstring>
#include <utility>

#include <doctest/doctest.h>

#include "src/plan/access.hpp"

using namespace tessera;

TEST_SUITE_BEGIN("job/ipc/shared_segment");

namespace {

constexpr auto writes = Segment::MapMode::read_write;

}  // namespace

TEST_CASE("who maps a segment by its ticket sees the same memory") {
  auto const made = Segment::make(100);
  std::string reason;
  auto const mapped = Segment::map(made.ticket(), writes, reason);

  REQUIRE(mapped);
  CHECK(mapped.size_bytes() == 100);
  CHECK(mapped.data() != made.data());
  CHECK(mapped.data()[99] == std::byte{0});
  std::memcpy(mapped.data(), "tesserae", 9);
  CHECK(std::memcmp(made.data(), "tesserae", 9) == 0);
}

TEST_CASE("what is not the segment that was meant is refused, with the reason") {
  auto const made = Segment::make(100);
  std::string reason;

  auto ticket = made.ticket();
  ++ticket.nonce;
  CHECK_FALSE(Segment::map(ticket, writes, reason, {.by_proc = true, .by_socket = false}));
  CHECK(reason.find("another nonce than the one that was offered") != std::string::npos);

  ticket = made.ticket();
  ticket.size_bytes = 200;
  CHECK_FALSE(Segment::map(ticket, writes, reason, {.by_proc = true, .by_socket = false}));
  CHECK(reason.find("not the memory that was offered") != std::string::npos);
}

TEST_CASE("a segment whose descriptor is closed is mapped by nobody else") {
  auto made = Segment::make(100);
  std::string reason;
  auto const mapped = Segment::map(made.ticket(), writes, reason);

  made.close_descriptor();

  CHECK_FALSE(Segment::map(made.ticket(), writes, reason, {.by_proc = true, .by_socket = false}));
  made.data()[0] = std::byte{7};
  CHECK(mapped.data()[0] == std::byte{7});
}

TEST_CASE("where no way is open nothing is tried") {
  auto const made = Segment::make(100);
  std::string reason;
  CHECK_FALSE(Segment::map(made.ticket(), writes, reason, {.by_proc = false, .by_socket = false}));
  CHECK(reason == "no way to it is open");
}

TEST_CASE("a segment moves with its memory") {
  auto made = Segment::make(100);
  auto* const data = made.data();

  auto const moved = std::move(made);

  CHECK(moved.data() == data);
  CHECK_FALSE(made);  // NOLINT: what is left holds nothing
}

TEST_SUITE_END();
