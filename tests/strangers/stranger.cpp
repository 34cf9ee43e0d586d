// Strangers to a job that speak its protocols, but do not know its secret.
//
//     stranger guest IP:PORT SECONDS       a process of another job asks an address server
//     stranger heartbeats IP:PORT COUNT    heartbeats of another job
//     stranger messages FOLDER COUNT       by UCX, to the addresses and with the requests in FOLDER
//
// Prints what it has sent. Code 1: it was answered.

#include <algorithm>
#include <array>
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <fstream>
#include <iterator>
#include <memory>
#include <random>
#include <span>
#include <string>
#include <vector>

#include <arpa/inet.h>
#include <netinet/in.h>
#include <sys/socket.h>
#include <tessera/base/error.hpp>
#include <unistd.h>

#include "src/execution/one_sided/cell_requests.hpp"
#include "src/job/ipc/descriptor.hpp"
#include "src/job/job_secret.hpp"
#include "src/liveness/heartbeat_seal.hpp"
#include "src/transport/rpc/address_server.hpp"
#include "src/transport/rpc/remote_calls.hpp"
#include "src/transport/rpc/ucx/am_worker.hpp"

namespace fs = std::filesystem;
using namespace tessera;

namespace {

using Bytes = std::vector<std::byte>;
using ucx::library;

/// What a stranger would add to a cell.
constexpr std::int64_t millions = 1'000'000;

sockaddr_in place_of(std::string const& words) {
  auto const colon = words.find(':');
  sockaddr_in place{};
  place.sin_family = AF_INET;
  place.sin_port = htons(static_cast<in_port_t>(std::stoi(words.substr(colon + 1))));
  if (::inet_pton(AF_INET, words.substr(0, colon).c_str(), &place.sin_addr) != 1)
    throw Error("not an address: " + words);
  return place;
}

// Of a job that the attacked one does not know.
JobSecret another_secret() {
  return JobSecret(random_bits());
}

int be_guest(std::string const& where, double seconds) {
  auto const place = place_of(where);
  auto const packed = static_cast<std::int64_t>(std::uint64_t{place.sin_addr.s_addr} << 32U |
                                                std::uint64_t{place.sin_port} << 16U);
  try {
    (void)ucx::ask_for_address({packed, ProcessId(1), ProcessId(0), another_secret(), seconds});
  } catch (TransportError const& error) {
    std::printf("refused: %s\n", error.what());
    return 0;
  }
  std::puts("answered");
  return 1;
}

int send_heartbeats(std::string const& where, int count) {
  auto const place = place_of(where);
  Descriptor const socket(::socket(AF_INET, SOCK_DGRAM | SOCK_CLOEXEC, 0));
  std::array seals{HeartbeatSeal(another_secret(), ProcessId(1), 2),
                   HeartbeatSeal(another_secret(), ProcessId(0), 2)};
  for (int i = 0; i < count; ++i) {
    HeartbeatDatagram datagram;
    datagram.to = i % 2;
    datagram.about = 1 - i % 2;
    datagram.is_answer = i % 3 != 0;
    datagram.state = 'X';
    seals[static_cast<std::size_t>(i % 2)].sign(datagram);
    (void)::sendto(socket.get(), &datagram, sizeof datagram, 0,
                   reinterpret_cast<sockaddr const*>(&place), sizeof place);
  }
  std::printf("heartbeats %d\n", count);
  return 0;
}

/// The request as it was before requests had codes.
struct RequestWithoutCode {
  std::uint64_t number = 1;
  RequestMessage::What what = RequestMessage::What::update;
  CellUpdate update;
  std::uint64_t array = 0;
  std::int64_t device = 0;
  std::uint64_t box = 0;
  std::array<std::int64_t, max_rank> lo{};
  std::array<std::int64_t, max_rank> hi{};
  std::int64_t first_byte = 0;
  std::int64_t bytes = 0;
};

template <class T>
Bytes bytes_of(T const& value) {
  auto const* const first = reinterpret_cast<std::byte const*>(&value);
  return {first, first + sizeof value};
}

std::vector<Bytes> files_of(fs::path const& folder, std::string const& kind) {
  std::vector<Bytes> found;
  for (auto const& entry : fs::directory_iterator(folder)) {
    if (!entry.path().filename().string().starts_with(kind + '.')) continue;
    std::ifstream file(entry.path(), std::ios::binary);
    std::string const text{std::istreambuf_iterator<char>(file), {}};
    auto const* const first = reinterpret_cast<std::byte const*>(text.data());
    found.emplace_back(first, first + text.size());
  }
  return found;
}

/// Messages that no process has sent.
class Forgery {
 public:
  explicit Forgery(std::vector<Bytes> sent) : sent_(std::move(sent)) {}

  Bytes next() {
    ++made_;
    if (sent_.empty() || made_ % 4 == 0) return without_code();
    auto bytes = sent_[random_() % sent_.size()];
    if (made_ % 4 == 1) return bytes;  // as it came before
    if (made_ % 4 == 2) return with_millions(bytes);
    for (int i = 0; i < 3; ++i) bytes[random_() % bytes.size()] = std::byte(random_() % 256);
    return bytes;
  }

 private:
  Bytes without_code() {
    RequestWithoutCode request;
    std::memcpy(request.update.operand.data(), &millions, sizeof millions);
    request.array = random_() % 8;
    request.device = static_cast<std::int64_t>(random_() % 4);
    request.hi[0] = 1;
    request.bytes = sizeof millions;
    return bytes_of(request);
  }
  // A genuine request, the same but for its operand and its counter.
  Bytes with_millions(Bytes bytes) {
    if (bytes.size() < Call::front_bytes + sizeof(RequestMessage)) return bytes;
    CallFront front;
    RequestMessage request;
    std::memcpy(static_cast<void*>(&front), bytes.data(), sizeof front);
    std::memcpy(static_cast<void*>(&request), bytes.data() + sizeof front, sizeof request);
    front.counter += 1 + random_() % 1000;
    request.what = RequestMessage::What::update;
    std::memcpy(request.update.operand.data(), &millions, sizeof millions);
    std::memcpy(bytes.data(), &front, sizeof front);
    std::memcpy(bytes.data() + sizeof front, &request, sizeof request);
    return bytes;
  }

  std::vector<Bytes> sent_;
  std::mt19937_64 random_{7};
  int made_ = 0;
};

/// Something sent, until UCX is done with it.
struct Sending {
  Bytes bytes;
  void* request = nullptr;
};

// Waits for the end of a send, at most for a minute; false if it has failed.
bool wait_for(ucx::AmWorker const& worker, Sending const& sending) {
  if (sending.request == nullptr) return true;
  if (UCS_PTR_IS_ERR(sending.request)) return false;
  auto const end = std::chrono::steady_clock::now() + std::chrono::seconds(60);
  ucs_status_t status = UCS_INPROGRESS;
  while (status == UCS_INPROGRESS && std::chrono::steady_clock::now() < end) {
    (void)worker.progress();
    status = library().request_check_status(sending.request);
  }
  library().request_free(sending.request);
  return status == UCS_OK;
}

// Requests to one worker; how many have left.
int send_requests(Bytes const& address, Forgery& forgery, int count) {
  int answers = 0;
  ucs_status_t error = UCS_OK;
  ucx::AmWorker const worker([&](auto, ucp_ep_h) { ++answers; });
  auto* const endpoint = worker.endpoint_to(address, error);
  int left = 0;
  for (int i = 0; i < count && error == UCS_OK; ++i) {
    Sending sending{forgery.next()};
    ucp_request_param_t params{};
    params.op_attr_mask = UCP_OP_ATTR_FIELD_FLAGS;
    params.flags = UCP_AM_SEND_FLAG_REPLY | UCP_AM_SEND_FLAG_EAGER;
    sending.request = library().am_send_nbx(endpoint, ucx::AmWorker::message_id, nullptr, 0,
                                            sending.bytes.data(), sending.bytes.size(), &params);
    if (wait_for(worker, sending)) ++left;
  }
  for (int look = 0; look < 1000; ++look) (void)worker.progress();
  ucx::close(worker.get(), endpoint);
  if (answers > 0) std::printf("answered %d requests\n", answers);
  return left;
}

// Messages with guessed tags to one worker; how many have left.
int send_tagged(Bytes const& address, int count) {
  ucs_status_t error = UCS_OK;
  ucx::Worker worker({.features = UCP_FEATURE_TAG});
  auto* const endpoint = worker.endpoint_to(address, error);
  std::mt19937_64 random(11);
  int left = 0;
  for (int i = 0; i < count && error == UCS_OK; ++i) {
    Bytes const bytes(random() % 1000, std::byte(i));
    ucp_request_param_t const params{};
    auto* const request =
        library().tag_send_nbx(endpoint, bytes.data(), bytes.size(), random(), &params);
    for (int look = 0; look < 1000; ++look) (void)worker.progress();
    if (UCS_PTR_IS_ERR(request)) break;
    if (request != nullptr) library().request_free(request);
    ++left;
  }
  ucx::close(worker.get(), endpoint);
  return left;
}

int send_messages(fs::path const& folder, int count) {
  Forgery forgery(files_of(folder, "sent"));
  int requests = 0;
  int tagged = 0;
  for (auto const& address : files_of(folder, "address")) {
    requests += send_requests(address, forgery, count);
    tagged += send_tagged(address, count);
  }
  std::printf("requests %d\ntagged %d\n", requests, tagged);
  return 0;
}

}  // namespace

int main(int argc, char** argv) {
  if (argc != 4) return 2;
  std::string const what = argv[1];
  if (what == "guest") return be_guest(argv[2], std::atof(argv[3]));
  if (what == "heartbeats") return send_heartbeats(argv[2], std::atoi(argv[3]));
  if (what == "messages") return send_messages(argv[2], std::atoi(argv[3]));
  return 2;
}
