#include "src/job/ipc/descriptor_server.hpp"

#include <chrono>
#include <string>

#include <doctest/doctest.h>
#include <unistd.h>

#include "src/job/ipc/progress_thread.hpp"
#include "src/job/ipc/shared_segment.hpp"
#include "src/plan/access.hpp"

using namespace tessera;

TEST_SUITE_BEGIN("job/ipc/descriptor_server");

namespace {

constexpr SegmentWays only_by_socket{.by_proc = false, .by_socket = true};

/// A process that hands out descriptors.
struct Server {
  Server() { REQUIRE(thread.start()); }
  ~Server() { thread.stop(); }
  Server(Server const&) = delete;
  Server& operator=(Server const&) = delete;

  ProgressThread thread;
  DescriptorServer descriptor_server{thread, only_by_socket};
};

}  // namespace

TEST_CASE("who knows the nonce is handed the memory") {
  Server server;
  auto made = Segment::make(100);
  made.set_descriptor_server(server.descriptor_server.number());
  std::string reason;

  auto const mapped =
      Segment::map(made.ticket(), Segment::MapMode::read_write, reason, only_by_socket);

  REQUIRE(mapped);
  made.data()[5] = std::byte{7};
  CHECK(mapped.data()[5] == std::byte{7});
}

TEST_CASE("who does not know the nonce is refused, and so is who asks for another file") {
  Server server;
  auto const made = Segment::make(100);
  std::string reason;

  auto const& ticket = made.ticket();
  CHECK(descriptor_from(server.descriptor_server.number(), ticket.descriptor, ticket.nonce + 1,
                        reason)
            .get() < 0);
  CHECK(reason == "the other process does not pass it by a socket: it refuses");
  CHECK(descriptor_from(server.descriptor_server.number(), STDIN_FILENO, 0, reason).get() < 0);
  CHECK(descriptor_from(server.descriptor_server.number(), -1, 0, reason).get() < 0);
}

TEST_CASE("where there is no server the reason is told") {
  std::string reason;
  CHECK(descriptor_from(0, 5, 5, reason).get() < 0);
  CHECK(reason == "the other process does not pass it by a socket: it has none");
  CHECK(descriptor_from(0x1234, 5, 5, reason).get() < 0);
  CHECK(reason.find("Connection refused") != std::string::npos);
}

TEST_CASE("a queue that strangers have filled is told at once, so that another way is taken") {
  ProgressThread thread;  // which does not run, so nobody empties the queue
  DescriptorServer const server(thread, only_by_socket);
  std::string reason;
  int asked = 0;
  do {
    CHECK(descriptor_from(server.number(), 5, 5, reason, std::chrono::milliseconds(1)).get() < 0);
  } while (reason.find("does not answer") != std::string::npos && ++asked < 10000);

  CHECK(asked > 0);
  CHECK(reason.find("Resource temporarily unavailable") != std::string::npos);
}

TEST_CASE("a process without a thread, or whose way is closed, has no server") {
  ProgressThread thread;
  DescriptorServer closed(thread, {.by_proc = true, .by_socket = false});
  CHECK(closed.number() == 0);
  DescriptorServer open(thread, only_by_socket);
  CHECK(open.number() != 0);
  open.close();
  CHECK(open.number() == 0);
}

TEST_SUITE_END();
