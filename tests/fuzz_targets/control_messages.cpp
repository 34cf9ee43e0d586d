// Control messages of other processes, while this one opens channels, takes notes, calls and
// compares statements.
#include "src/transport/protocol/control_messages.hpp"

#include <memory>
#include <vector>

#include "src/job/job.hpp"
#include "src/network/network.hpp"
#include "src/transport/test_hooks.hpp"

#include "one_of_four.hpp"
#include "target.hpp"

namespace tessera::fuzz {
namespace {

constexpr std::int64_t self = 2;         // its parent is process 0, its child process 3
constexpr std::int64_t devices = 2;      // of each process
constexpr std::size_t kinds = 13;        // of messages, and other bytes
constexpr std::size_t most_actions = 8;  // of the program, before it only listens
DeviceId const mine{self * devices};     // and the next one
std::vector<std::int64_t> const others{0, 1, 3};

// The bytes of a message of its kind: what the input has of them, and zeros.
template <class Message>
std::vector<std::byte> of_its_size(Input& in, std::size_t most) {
  auto const taken = in.bytes(std::min(sizeof(Message), most));
  std::vector<std::byte> bytes(sizeof(Message));
  std::ranges::copy(taken, bytes.begin());
  bytes.front() = static_cast<std::byte>(Message{}.kind);
  return bytes;
}

std::vector<std::byte> message_in(Input& in) {
  auto const kind = in.below(kinds);
  auto const most = std::size_t{in.value<std::uint16_t>()};
  switch (kind) {
    case 0:
      return of_its_size<control::Invite>(in, most);
    case 1:
      return of_its_size<control::Answer>(in, most);
    case 2:
      return of_its_size<control::Probe>(in, most);
    case 3:
      return of_its_size<control::Finished>(in, most);
    case 4:
      return of_its_size<control::Failed>(in, most);
    case 5:
      return of_its_size<control::Digests>(in, most);
    case 6:
      return of_its_size<control::Compared>(in, most);
    case 7:
      return of_its_size<control::Ask>(in, most);
    case 8:
      return of_its_size<control::StatementDescription>(in, most);
    case 9:
      return of_its_size<control::Request>(in, most);
    case 10:
      return of_its_size<control::Reply>(in, most);
    case 11:
      return of_its_size<control::Note>(in, most);
    default: {
      auto const raw = in.bytes(std::min<std::size_t>(most, Bootstrap::max_control_bytes));
      return {raw.begin(), raw.end()};
    }
  }
}

// Messages of a network begin with its number.
void send(OneOfFour& bootstrap, Input& in) {
  if (in.below(8) == 7) return bootstrap.add_silence(in.below(64));
  auto const from = others[in.below(others.size())];
  std::int64_t const network = OneOfFour::drawn;
  std::vector<std::byte> bytes(sizeof network);
  std::memcpy(bytes.data(), &network, sizeof network);
  auto const message = message_in(in);
  bytes.insert(bytes.end(), message.begin(), message.end());
  bootstrap.add(ProcessId(from), std::move(bytes));
}

void serve(std::span<std::byte const> request, std::vector<std::byte>& answer) {
  for (auto const byte : request) answer.resize(answer.size() + std::to_integer<std::size_t>(byte));
}

// The process, and what its program does meanwhile. Every wait ends with the messages.
class Process {
 public:
  explicit Process(OneOfFour& bootstrap) : bootstrap_(bootstrap), job_(bootstrap, devices) {
    NetworkOptions options;
    options.compares_statements = true;
    options.question_seconds = 0;
    TransportTestHooks hooks;
    hooks.maps_by_proc = hooks.maps_by_socket = false;  // tickets of others lead nowhere
    network_ = std::make_unique<Network>(bootstrap, job_, options, hooks);
    network_->open_calls(false, serve);
    network_->set_idle_test([](DeviceId) { return true; });  // the caller's wait blocks all
    call_.request.resize(Call::front_bytes + 3);
    call_.to = ProcessId(3);
  }

  void act(Input& in) {
    auto const what = in.below(8);
    DeviceId const own(mine.value() + static_cast<std::int64_t>(in.below(2)));
    DeviceId const other(others[in.below(3)] * devices + static_cast<std::int64_t>(in.below(2)));
    StatementTag const tag{++statements_, 5, SourceLocation("a.cpp", 1)};
    switch (what) {
      case 0:
        return (void)network_->receiver(other, own);
      case 1:
        return (void)network_->sender(own, other, tag);
      case 2:
        return network_->send_handshake(own, other, {});
      case 3:
        return (void)network_->receive_handshake(other, own, tag);
      case 4:
        return call();
      case 5:
        return network_->agree_on_end(tag, [] { return std::string(); });
      default:
        return network_->agree(tag, [] { return std::string(", a statement"); });
    }
  }

  /// Hears what is left.
  void listen() {
    while (bootstrap_.has_messages()) {
      (void)network_->calls()->progress();
      network_->failure().throw_if_set();
    }
  }

 private:
  void call() {
    if (is_called_) return;
    is_called_ = true;
    network_->calls()->begin(call_);
  }

  OneOfFour& bootstrap_;
  Job job_;
  Call call_;
  bool is_called_ = false;
  std::uint64_t statements_ = 0;
  std::unique_ptr<Network> network_;
};

}  // namespace

void attack(std::span<std::byte const> bytes) {
  Input in(bytes);
  OneOfFour bootstrap(self, false);
  auto const actions = in.bytes(1 + in.below(most_actions) * 4);
  while (!in.is_empty()) send(bootstrap, in);
  Process process(bootstrap);
  for (Input what(actions); !what.is_empty();) process.act(what);
  process.listen();
}

}  // namespace tessera::fuzz
