/// @file
/// A network switch in user space, for hosts emulated by network namespaces.
///
///     switch serve SOCKET PROCESS...    gives eth0 to the network of each process, and joins them
///     switch tell SOCKET COMMAND        delay MICROSECONDS | rate MBIT | loss PERCENT |
///                                       cut PORT | heal PORT
///
/// It delays, limits and loses frames where the kernel has no netem. Ports count from 1; delay is
/// one way; rate is per port, 0 for no limit.

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <cstdint>
#include <cstdlib>
#include <cstring>
#include <deque>
#include <iostream>
#include <optional>
#include <random>
#include <span>
#include <sstream>
#include <stdexcept>
#include <string>
#include <system_error>
#include <unordered_map>
#include <utility>
#include <vector>

#include <fcntl.h>
#include <linux/if_tun.h>
#include <net/if.h>
#include <poll.h>
#include <sched.h>
#include <sys/ioctl.h>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

namespace {

using Clock = std::chrono::steady_clock;
using std::chrono::duration_cast;
using std::chrono::nanoseconds;

/// The header the kernel puts before each frame once segmentation is left to us
/// (virtio_net_hdr_v1).
constexpr std::size_t header_bytes = 12;
constexpr std::size_t address_bytes = 6;
constexpr std::size_t ethernet_bytes = 14;
constexpr std::size_t queue_limit_bytes = 64 << 20;
/// Frames taken from one port before the others have their turn.
constexpr int frames_per_turn = 64;

int check(int result, std::string const& what) {
  if (result < 0) throw std::system_error(errno, std::generic_category(), what);
  return result;
}

/// An open file, closed with the object.
class File {
 public:
  explicit File(int descriptor) : descriptor_(descriptor) {}
  File(File&& other) noexcept : descriptor_(std::exchange(other.descriptor_, -1)) {}
  File& operator=(File&&) = delete;
  ~File() {
    if (descriptor_ >= 0) ::close(descriptor_);
  }
  [[nodiscard]] int get() const { return descriptor_; }

 private:
  int descriptor_;
};

struct Command {
  std::string verb;
  double number = 0;
};

Command parse_command(std::string const& text) {
  Command command;
  std::istringstream words(text);
  std::string rest;
  bool const well_formed = bool(words >> command.verb >> command.number) && !(words >> rest);
  std::array const verbs{"delay", "rate", "loss", "cut", "heal"};
  if (!well_formed || command.number < 0 || std::ranges::find(verbs, command.verb) == verbs.end()) {
    throw std::invalid_argument("not a command: " + text);
  }
  return command;
}

struct PaddedShardLayout {
  Clock::time_point due;
  std::vector<char> bytes;
};

/// One host's cable: its TAP device, and the frames under way to it.
class Port {
 public:
  explicit Port(File device) : device_(std::move(device)) {}

  [[nodiscard]] int descriptor() const { return device_.get(); }
  [[nodiscard]] bool is_plugged() const { return is_plugged_; }
  void plug(bool in) { is_plugged_ = in; }

  void queue(std::span<char const> bytes, nanoseconds on_the_wire, nanoseconds delay) {
    if (!is_plugged_ || queued_bytes_ > queue_limit_bytes) return;
    free_at_ = std::max(free_at_, Clock::now()) + on_the_wire;
    queue_.push_back({free_at_ + delay, {bytes.begin(), bytes.end()}});
    queued_bytes_ += bytes.size();
  }

  /// Hands over the frames that are due, and says when the next one is.
  std::optional<Clock::time_point> deliver() {
    while (!queue_.empty() && queue_.front().due <= Clock::now()) {
      PaddedShardLayout const frame = std::move(queue_.front());
      queue_.pop_front();
      queued_bytes_ -= frame.bytes.size();
      if (!is_plugged_) continue;
      // A full device drops the frame, as a cable would.
      (void)!::write(descriptor(), frame.bytes.data(), frame.bytes.size());
    }
    if (queue_.empty()) return std::nullopt;
    return queue_.front().due;
  }

 private:
  File device_;
  bool is_plugged_ = true;
  Clock::time_point free_at_{};  ///< when the last byte of the last frame has left
  std::deque<PaddedShardLayout> queue_;
  std::size_t queued_bytes_ = 0;
};

class Switch {
 public:
  explicit Switch(std::vector<Port> ports) : ports_(std::move(ports)) {}

  [[noreturn]] void serve(int control) {
    std::vector<pollfd> waiting;
    for (Port const& port : ports_) waiting.push_back({port.descriptor(), POLLIN, 0});
    waiting.push_back({control, POLLIN, 0});
    for (;;) {
      wait_until(deliver_all(), waiting);
      for (std::size_t i = 0; i < ports_.size(); ++i) {
        if (waiting[i].revents != 0) forward_from(i);
      }
      if (waiting.back().revents != 0) obey(control);
    }
  }

 private:
  std::optional<Clock::time_point> deliver_all() {
    std::optional<Clock::time_point> next;
    for (Port& port : ports_) {
      auto const due = port.deliver();
      if (due && (!next || *due < *next)) next = due;
    }
    return next;
  }

  static void wait_until(std::optional<Clock::time_point> due, std::span<pollfd> waiting) {
    timespec rest{};
    if (due) {
      auto const left = std::max(duration_cast<nanoseconds>(*due - Clock::now()), nanoseconds{0});
      rest.tv_sec = left.count() / 1'000'000'000;
      rest.tv_nsec = left.count() % 1'000'000'000;
    }
    if (::ppoll(waiting.data(), waiting.size(), due ? &rest : nullptr, nullptr) < 0) {
      for (pollfd& one : waiting) one.revents = 0;
    }
  }

  void forward_from(std::size_t from) {
    for (int turn = 0; turn < frames_per_turn; ++turn) {
      auto const count = ::read(ports_[from].descriptor(), buffer_.data(), buffer_.size());
      if (count <= static_cast<ssize_t>(header_bytes + ethernet_bytes)) return;
      if (ports_[from].is_plugged() && !is_lost()) {
        forward(from, {buffer_.data(), static_cast<std::size_t>(count)});
      }
    }
  }

  /// To the port whose host is known to have the address, otherwise to all others.
  void forward(std::size_t from, std::span<char const> frame) {
    auto const to = address_at(frame, header_bytes);
    port_of_[address_at(frame, header_bytes + address_bytes)] = from;
    bool const to_many = (frame[header_bytes] & 1) != 0;
    auto const known = to_many ? port_of_.end() : port_of_.find(to);

    auto const bits = static_cast<double>(frame.size() - header_bytes) * 8;
    auto const on_the_wire =
        mbit_ > 0 ? nanoseconds{static_cast<std::int64_t>(bits * 1000 / mbit_)} : nanoseconds{0};
    for (std::size_t i = 0; i < ports_.size(); ++i) {
      bool const is_meant = known == port_of_.end() || known->second == i;
      if (i != from && is_meant) ports_[i].queue(frame, on_the_wire, delay_);
    }
  }

  static std::uint64_t address_at(std::span<char const> frame, std::size_t offset) {
    std::uint64_t address = 0;
    std::memcpy(&address, frame.data() + offset, address_bytes);
    return address;
  }

  bool is_lost() { return std::uniform_real_distribution<>(0, 100)(random_) < loss_percent_; }

  void obey(int control) {
    std::array<char, 128> text{};
    auto const count = ::recv(control, text.data(), text.size(), 0);
    if (count <= 0) return;
    try {
      obey(parse_command({text.data(), static_cast<std::size_t>(count)}));
    } catch (std::exception const& error) {
      std::cout << error.what() << std::endl;
    }
  }

  void obey(Command const& command) {
    if (command.verb == "delay") {
      delay_ = nanoseconds{static_cast<std::int64_t>(command.number * 1000)};
    } else if (command.verb == "rate") {
      mbit_ = command.number;
    } else if (command.verb == "loss") {
      loss_percent_ = command.number;
    } else {
      ports_.at(static_cast<std::size_t>(command.number) - 1).plug(command.verb == "heal");
    }
  }

  std::vector<Port> ports_;
  std::unordered_map<std::uint64_t, std::size_t> port_of_;
  nanoseconds delay_{0};
  double mbit_ = 0;
  double loss_percent_ = 0;
  std::mt19937 random_{1};  // the same losses in every run
  std::vector<char> buffer_ = std::vector<char>(1 << 17);
};

/// Makes eth0, a TAP device, in the network of a process. Leaves this process in that network.
Port make_port(std::string const& process) {
  std::string const path = "/proc/" + process + "/ns/net";
  File const network(check(::open(path.c_str(), O_RDONLY | O_CLOEXEC), path));
  check(::setns(network.get(), CLONE_NEWNET), "setns " + path);

  File device(check(::open("/dev/net/tun", O_RDWR | O_NONBLOCK | O_CLOEXEC), "/dev/net/tun"));
  ifreq request{};
  std::strcpy(request.ifr_name, "eth0");
  request.ifr_flags = IFF_TAP | IFF_NO_PI | IFF_VNET_HDR;
  check(::ioctl(device.get(), TUNSETIFF, &request), "TUNSETIFF");
  int size = header_bytes;
  check(::ioctl(device.get(), TUNSETVNETHDRSZ, &size), "TUNSETVNETHDRSZ");
  // Without these, large sends are cut into frames of 1500 bytes: several times slower.
  check(::ioctl(device.get(), TUNSETOFFLOAD, TUN_F_CSUM | TUN_F_TSO4 | TUN_F_TSO6),
        "TUNSETOFFLOAD");
  return Port(std::move(device));
}

std::vector<Port> make_ports(std::span<char*> processes) {
  File const home(check(::open("/proc/self/ns/net", O_RDONLY | O_CLOEXEC), "own network"));
  std::vector<Port> ports;
  for (char const* process : processes) ports.push_back(make_port(process));
  check(::setns(home.get(), CLONE_NEWNET), "setns to the own network");
  return ports;
}

sockaddr_un address_of(std::string const& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  if (path.size() >= sizeof address.sun_path) throw std::invalid_argument("too long: " + path);
  std::strcpy(address.sun_path, path.c_str());
  return address;
}

void serve(std::string const& path, std::span<char*> processes) {
  File const control(check(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), "socket"));
  auto const address = address_of(path);
  ::unlink(path.c_str());
  check(::bind(control.get(), reinterpret_cast<sockaddr const*>(&address), sizeof address), path);
  Switch the_switch(make_ports(processes));
  std::cout << "ready" << std::endl;
  the_switch.serve(control.get());
}

void tell(std::string const& path, std::string const& text) {
  (void)parse_command(text);
  File const control(check(::socket(AF_UNIX, SOCK_DGRAM | SOCK_CLOEXEC, 0), "socket"));
  auto const address = address_of(path);
  check(static_cast<int>(::sendto(control.get(), text.data(), text.size(), 0,
                                  reinterpret_cast<sockaddr const*>(&address), sizeof address)),
        path);
}

}  // namespace

int main(int argc, char** argv) try {
  std::string const verb = argc > 3 ? argv[1] : "";
  if (verb == "serve") {
    serve(argv[2], std::span(argv, static_cast<std::size_t>(argc)).subspan(3));
  } else if (verb == "tell") {
    tell(argv[2], argv[3]);
  } else {
    std::cerr << "usage: switch serve SOCKET PROCESS... | switch tell SOCKET COMMAND\n";
    return 2;
  }
  return 0;
} catch (std::exception const& error) {
  std::cerr << "switch: " << error.what() << '\n';
  return 1;
}
