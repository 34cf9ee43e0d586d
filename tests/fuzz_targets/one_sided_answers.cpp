// Answers to one-sided requests: of other numbers than were sent, of other lengths, twice.
#include <cstring>
#include <memory>
#include <vector>

#include "src/execution/one_sided/request_queue.hpp"
#include "src/transport/rpc/pending_calls.hpp"

#include "support/no_collectives.hpp"
#include "support/one_process.hpp"

#include "target.hpp"

namespace tessera::fuzz {
namespace {

constexpr std::size_t most_answer = 80;
constexpr std::int64_t room = 16;  // of cells in a call

// Answers come out of the input, whatever was asked; after them, the other process is lost.
class Strangers final : public Calls {
 public:
  explicit Strangers(Input& in) : in_(in) {}

  [[nodiscard]] std::int64_t most_bytes() const override {
    return static_cast<std::int64_t>(sizeof(RequestMessage)) + 1 + room;
  }
  [[nodiscard]] bool needs_the_other_caller() const override { return false; }
  void begin(Call& call) override {
    slots_.add(call);
    call.is_sent = true;
    std::memcpy(&last_number_, call.request.data(), sizeof last_number_);
  }
  bool progress() override {
    if (in_.is_empty()) {
      slots_.fail(ProcessId(0), "it is lost");
      return true;
    }
    bool const is_known = in_.below(2) == 1;
    auto const taken = in_.bytes(1 + in_.below(most_answer));
    std::vector<std::byte> bytes(taken.begin(), taken.end());
    if (is_known) {  // of the call before, or of one before that
      auto const number = last_number_ - in_.below(4);
      bytes.insert(bytes.begin(), sizeof number, std::byte{0});
      std::memcpy(bytes.data(), &number, sizeof number);
    }
    return slots_.answer(bytes) != nullptr;
  }

 private:
  Input& in_;
  CallSlots slots_;
  std::uint64_t last_number_ = 0;
};

// Reads so many cells, into memory of just their size; or writes them.
void send(RequestQueue& queue, std::shared_ptr<OneSidedRequest> const& request, Input& in) {
  auto const cells = static_cast<std::int64_t>(1 + in.below(6));
  auto const element_bytes = static_cast<std::int64_t>(1 + in.below(24));
  RequestMessage message;
  message.bytes = cells * element_bytes;
  bool const writes = in.below(2) == 1;
  if (writes) message.what = RequestMessage::What::write;
  request->cells.assign(static_cast<std::size_t>(message.bytes), std::byte{9});
  request->cells.shrink_to_fit();
  request->into = writes ? nullptr : request->cells.data();
  Box const box{{0}, {cells}};
  queue.send_cells(request, message, strided_block(box, {0}, {1}, element_bytes),
                   writes ? request->cells.data() : nullptr);
}

}  // namespace

void attack(std::span<std::byte const> bytes) {
  static auto& process = *new test::OneProcess(1);  // never ends
  test::NoCollectives collectives;
  Input in(bytes);
  Strangers calls(in);
  RequestQueue queue(collectives, process.network, process.job);
  queue.open(calls);
  auto const requests = 1 + in.below(3);
  std::vector<std::shared_ptr<OneSidedRequest>> sent;
  for (std::size_t i = 0; i < requests; ++i) {
    sent.push_back(std::make_shared<OneSidedRequest>());
    send(queue, sent.back(), in);
  }
  for (auto const& request : sent) {
    bool const has_failed = refuses([&] { queue.wait(*request); });
    require(request->left == 0, "a wait that ended without all answers");
    require(has_failed != request->has_succeeded(), "a request that neither failed nor succeeded");
  }
  (void)refuses([&] { queue.finish(); });
}

}  // namespace tessera::fuzz
