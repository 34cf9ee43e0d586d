#include "src/liveness/remote_heartbeat.hpp"

#include <atomic>
#include <chrono>
#include <memory>
#include <optional>
#include <string>
#include <thread>
#include <vector>

#include <doctest/doctest.h>
#include <sys/socket.h>
#include <unistd.h>

#include "support/secrets.hpp"
#include "support/transport_thread_job.hpp"

using namespace tessera;
using namespace tessera::test;
using namespace std::chrono_literals;

/// Once is enough: not in every process of a spread.
TEST_SUITE_BEGIN("liveness/remote_heartbeat" * doctest::skip(launched_by_mpi()));

namespace {

/// A process of another host, as far as its beats go.
struct Process {
  std::unique_ptr<Bootstrap> bootstrap;
  ProgressThread thread;
  std::unique_ptr<RemoteHeartbeats> heartbeats;

  /// Ends it as the system would: its socket is closed.
  void die() {
    thread.stop();
    heartbeats.reset();
  }
};

char cannot_tell(ProcessId /*about*/) {
  return '?';
}

enum class Start { all, first_alone };

/// Processes by rank, which have all told each other where to ask.
class Far {
 public:
  Far(std::int64_t count, std::int64_t per_host,
      RemoteHeartbeats::StateOf const& state_of = cannot_tell, Start start = Start::all)
      : job_(count, per_host) {
    for (std::int64_t i = 0; i < count; ++i) processes_.push_back(std::make_unique<Process>());
    std::vector<std::jthread> threads;
    for (std::int64_t i = 0; i < count; ++i)
      threads.emplace_back([this, i, start, &state_of] {
        auto& process = (*this)[i];
        process.bootstrap = job_.join(i);
        process.heartbeats = std::make_unique<RemoteHeartbeats>(
            *process.bootstrap, process.thread, RemoteHeartbeats::Trust{own_secret(), refused_},
            state_of);
        if (i == 0 || start == Start::all) (void)process.thread.start();
        process.heartbeats->announce_address(*process.bootstrap);
      });
  }
  ~Far() {
    for (auto& process : processes_) process->die();
  }
  Far(Far const&) = delete;
  Far& operator=(Far const&) = delete;

  /// Datagrams that any of them has not believed.
  [[nodiscard]] std::int64_t refused() const { return refused_.count(RefusedKind::heartbeat); }
  Process& operator[](std::int64_t i) { return *processes_[static_cast<std::size_t>(i)]; }

  /// What `self` makes of `peer` within so long; nothing if all is well.
  std::optional<std::string> watch(std::int64_t self, std::int64_t peer, double silence,
                                   std::chrono::milliseconds time, HeartbeatWatch watch = {}) {
    auto const end = std::chrono::steady_clock::now() + time;
    while (std::chrono::steady_clock::now() < end) {
      auto const failure = (*this)[self].heartbeats->failure_of(ProcessId(peer), watch, silence);
      if (failure) return failure;
      std::this_thread::sleep_for(10ms);
    }
    return std::nullopt;
  }
  /// Waits until an answer of `peer` has come, so that the path is known.
  void know(std::int64_t self, std::int64_t peer) {
    HeartbeatWatch watch;
    auto const answers = [&] {
      (void)(*this)[self].heartbeats->failure_of(ProcessId(peer), watch, 1e9);
      return watch.peer_heartbeats;
    };
    while (answers() == 0) std::this_thread::sleep_for(1ms);
  }

 private:
  ThreadJob job_;
  Refused refused_;
  std::vector<std::unique_ptr<Process>> processes_;
};

}  // namespace

TEST_CASE("a process that computes answers for as long as it lives") {
  Far far(2, 1);

  CHECK(far.watch(0, 1, 3, 4s).value_or("all is well") == "all is well");
}

TEST_CASE("a process that stops answering is told after the silence") {
  Far far(2, 1);
  far.know(0, 1);
  far[1].thread.stop();

  auto const failure = far.watch(0, 1, 0.3, 10s);

  REQUIRE(failure);
  CHECK(*failure == far[0].heartbeats->name_of(ProcessId(1)) +
                        " has not answered for 0.3 s: it is stopped, its host is down or the link "
                        "to it is cut");
}

TEST_CASE("a process that has ended is told at once, but not while all are leaving") {
  Far far(2, 1);
  far.know(0, 1);
  auto const name = far[0].heartbeats->name_of(ProcessId(1));
  far[1].die();

  CHECK(far.watch(0, 1, 1e9, 300ms, {.may_have_left = true}) == std::nullopt);
  CHECK(far.watch(0, 1, 1e9, 10s) == name + " has died");
  CHECK(far[0].heartbeats->death_of(ProcessId(1)) == name + " has died");
}

TEST_CASE("a process that never answered is not judged") {
  Far far(2, 1, cannot_tell, Start::first_alone);

  CHECK(far.watch(0, 1, 0.7, 1200ms) == std::nullopt);
}

TEST_CASE("others of its host tell what has become of a process") {
  std::atomic<char> letter = 'T';
  Far far(3, 2, [&letter](ProcessId) { return letter.load(); });
  far.know(2, 1);
  auto const name = far[2].heartbeats->name_of(ProcessId(1));
  far[1].thread.stop();

  SUBCASE("it is stopped") {
    CHECK(far.watch(2, 1, 1, 10s) == name + " has not answered for 1 s: it is stopped");
  }
  SUBCASE("a debugger holds it, and it counts as alive") {
    letter = 't';
    CHECK(far.watch(2, 1, 3, 5s).value_or("all is well") == "all is well");
  }
  SUBCASE("it is gone") {
    letter = '\0';
    CHECK(far.watch(2, 1, 1e9, 10s) == name + " has died");
  }
}

TEST_CASE("what others send to the socket is ignored") {
  Far far(2, 1);
  auto const place = far[1].heartbeats->own_place();
  int const stranger = ::socket(AF_INET, SOCK_DGRAM, 0);
  REQUIRE(stranger >= 0);
  for (std::size_t const size : {0U, 1U, 48U, 56U, 1000U}) {
    std::vector<char> const rubbish(size, 'x');
    (void)::sendto(stranger, rubbish.data(), rubbish.size(), 0,
                   reinterpret_cast<sockaddr const*>(&place), sizeof place);
  }

  far.know(0, 1);
  while (far.refused() < 5) std::this_thread::sleep_for(1ms);
  char letter = 0;
  CHECK(::recv(stranger, &letter, 1, MSG_DONTWAIT) < 0);
  CHECK(far.refused() == 5);
  ::close(stranger);
}

TEST_SUITE_END();
