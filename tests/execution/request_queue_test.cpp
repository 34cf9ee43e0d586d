#include "src/execution/one_sided/request_queue.hpp"

#include <cstring>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/base/error.hpp"

#include "support/no_collectives.hpp"
#include "support/one_process.hpp"

using namespace tessera;

TEST_SUITE_BEGIN("execution/request_queue");

namespace {

// Keeps what is sent, and answers when it is told to: with the number of the byte in the stream.
class FakeCalls final : public Calls {
 public:
  [[nodiscard]] std::int64_t most_bytes() const override {
    return static_cast<std::int64_t>(sizeof(RequestMessage)) + 1 + room;
  }
  [[nodiscard]] bool needs_the_other_caller() const override { return false; }
  void begin(Call& call) override {
    call.is_sent = true;
    waiting.push_back(&call);
    auto const bytes = std::span(call.request).subspan(Call::front_bytes);
    std::memcpy(static_cast<void*>(&messages.emplace_back()), bytes.data(), sizeof(RequestMessage));
    written.emplace_back(bytes.begin() + sizeof(RequestMessage), bytes.end());
  }
  bool progress() override {
    if (!answers) return false;
    for (auto* const call : waiting) answer(*call);
    waiting.clear();
    return true;
  }

  std::int64_t room = 16;  // for cells
  bool answers = true;
  AnswerStatus status = AnswerStatus::done;
  std::int64_t surplus = 0;  // of bytes in an answer
  std::string words;         // of a refusal
  std::vector<Call*> waiting;
  std::vector<RequestMessage> messages;
  std::vector<std::vector<std::byte>> written;

 private:
  void answer(Call& call) const {
    RequestMessage message;
    std::memcpy(static_cast<void*>(&message), call.request.data() + Call::front_bytes,
                sizeof message);
    call.answer.assign(Call::front_bytes, std::byte{});
    call.answer.push_back(static_cast<std::byte>(status));
    auto const asked = message.what == RequestMessage::What::write ? 0 : message.bytes;
    for (std::int64_t i = 0; status == AnswerStatus::done && i < asked + surplus; ++i)
      call.answer.push_back(static_cast<std::byte>(message.first_byte + i));
    for (char const c : words) call.answer.push_back(static_cast<std::byte>(c));
    call.is_answered = true;
  }
};

struct TestedQueue {
  TestedQueue() { requests.open(calls); }

  // Asks for so many cells, or sends them.
  void send(std::int64_t cells, std::int64_t element_bytes, std::byte const* from) {
    RequestMessage message;
    message.bytes = cells * element_bytes;
    if (from != nullptr) message.what = RequestMessage::What::write;
    Box const box{{0}, {cells}};
    requests.send_cells(request, message, strided_block(box, {0}, {1}, element_bytes), from);
  }

  test::OneProcess process{1};
  test::NoCollectives collectives;
  FakeCalls calls;
  RequestQueue requests{collectives, process.network, process.job};
  std::shared_ptr<OneSidedRequest> request = std::make_shared<OneSidedRequest>();
};

}  // namespace

TEST_CASE("cells travel in pieces of what a call holds, each of whole cells") {
  TestedQueue queue;
  queue.calls.room = 20;
  queue.request->cells.resize(40);
  queue.request->into = queue.request->cells.data();

  queue.send(5, 8, nullptr);
  CHECK(queue.request->left == 3);
  CHECK_FALSE(queue.request->has_succeeded());
  queue.requests.wait(*queue.request);

  REQUIRE(queue.calls.messages.size() == 3);
  CHECK(queue.calls.messages[1].first_byte == 16);
  CHECK(queue.calls.messages[1].bytes == 16);
  CHECK(queue.calls.messages[2].bytes == 8);
  CHECK(queue.request->has_succeeded());
  for (std::size_t i = 0; i < 40; ++i)
    CHECK(queue.request->cells[i] == std::byte{static_cast<unsigned char>(i)});
}

TEST_CASE("a cell that is longer than a call travels in words") {
  TestedQueue queue;
  queue.send(1, 40, nullptr);

  REQUIRE(queue.calls.messages.size() == 3);
  CHECK(queue.calls.messages[0].bytes == 16);
  CHECK(queue.calls.messages[2].bytes == 8);
  queue.requests.finish();
}

TEST_CASE("what is to be written stands behind the message, and may change afterwards") {
  TestedQueue queue;
  std::vector<std::byte> cells(24, std::byte{7});
  queue.send(3, 8, cells.data());
  cells.assign(24, std::byte{0});

  CHECK(queue.calls.written[0] == std::vector<std::byte>(16, std::byte{7}));
  CHECK(queue.calls.written[1] == std::vector<std::byte>(8, std::byte{7}));
  queue.requests.finish();
}

TEST_CASE("a request that was refused throws where it is waited for, and at the end of the epoch") {
  TestedQueue queue;
  queue.calls.status = AnswerStatus::refused;
  queue.calls.words = "no such cells";
  queue.send(1, 8, nullptr);

  CHECK_THROWS_WITH_AS(queue.requests.wait(*queue.request), "process 0: no such cells", PeerFailed);
  CHECK_FALSE(queue.request->has_succeeded());
  CHECK_THROWS_AS(queue.requests.finish(), PeerFailed);
}

TEST_CASE("the words of a refusal cannot steer the terminal, and are not repeated without end") {
  TestedQueue queue;
  queue.calls.status = AnswerStatus::refused;
  queue.calls.words = "\x1b[2J" + std::string(100'000, 'x');
  queue.send(1, 8, nullptr);

  std::string words;
  try {
    queue.requests.wait(*queue.request);
  } catch (PeerFailed const& error) {
    words = error.what();
  }
  CHECK(words.starts_with("process 0: \\x1b[2Jxxx"));
  CHECK(words.ends_with("xxx... (100004 bytes)"));
  CHECK(words.size() < 300);
}

TEST_CASE("a refusal of this library is shown whole") {
  TestedQueue queue;
  queue.calls.status = AnswerStatus::refused;
  queue.calls.words =
      "device 9223372036854775807 was asked for cells of array 9223372036854775807: an update of "
      "other numbers than those of 9223372036854775807 bytes there";
  queue.send(1, 8, nullptr);

  CHECK_THROWS_WITH_AS(queue.requests.wait(*queue.request),
                       doctest::Contains("9223372036854775807 bytes there"), PeerFailed);
}

TEST_CASE("an answer of another length than asked for writes nothing") {
  for (std::int64_t const surplus : {-8, -1, 1, 1000}) {
    TestedQueue queue;
    queue.calls.surplus = surplus;
    queue.request->cells.assign(8, std::byte{9});
    queue.request->into = queue.request->cells.data();
    queue.send(1, 8, nullptr);

    CHECK_THROWS_WITH_AS(queue.requests.wait(*queue.request),
                         doctest::Contains("bytes of cells where it was asked for 8"), PeerFailed);
    CHECK(queue.request->cells == std::vector<std::byte>(8, std::byte{9}));
    CHECK_THROWS_AS(queue.requests.finish(), PeerFailed);
  }
}

TEST_CASE("a request that nobody waits for is finished with the epoch") {
  TestedQueue queue;
  std::weak_ptr<OneSidedRequest> const watched = queue.request;
  queue.send(2, 8, nullptr);
  queue.request.reset();
  CHECK_FALSE(watched.expired());

  queue.requests.finish();
  CHECK(watched.expired());
}

TEST_CASE("so many calls may be under way; one more waits for an answer") {
  TestedQueue queue;
  queue.calls.answers = false;
  for (int i = 0; i < 64; ++i) queue.send(1, 8, nullptr);
  CHECK(queue.request->left == 64);

  queue.calls.answers = true;
  queue.send(1, 8, nullptr);

  CHECK(queue.request->left == 1);
  queue.requests.finish();
  CHECK(queue.request->has_succeeded());
}

TEST_CASE("a request that is under way when the queue ends is abandoned, and never succeeds") {
  static std::vector<Call*> unanswered;  // the memory of calls stays, since it may still be used
  std::shared_ptr<OneSidedRequest> request;
  {
    TestedQueue queue;
    queue.calls.answers = false;
    queue.send(1, 8, nullptr);
    request = queue.request;
    unanswered = queue.calls.waiting;
    CHECK_FALSE(request->is_abandoned);
  }
  CHECK(request->is_abandoned);
  CHECK_FALSE(request->has_succeeded());
}

TEST_SUITE_END();
