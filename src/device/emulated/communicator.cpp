#include "src/device/emulated/communicator.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <chrono>
#include <cstring>
#include <new>
#include <thread>
#include <utility>
#include <vector>

#include "tessera/base/error.hpp"
#include "tessera/detail/base/assert.hpp"

#include "src/base/text.hpp"

namespace tessera::emulated {
namespace {

// Memory for a message between two members, piece by piece.
struct Mailbox {
  std::atomic<std::uint64_t> filled{0};
  std::atomic<std::uint64_t> drained{0};
  std::int64_t message_bytes = 0;
  std::array<std::byte, 16 * 1024> piece;
};

// The shared state of a communicator's members; the mailboxes follow it, by sender and receiver.
struct Board {
  std::atomic<std::int64_t> joined{0};
};
constexpr std::int64_t mailboxes_begin = 64;

// As on a network, nothing has arrived yet when work that was posted beside it begins: code that
// does not wait for a group then reads old cells.
constexpr std::chrono::microseconds latency{200};

std::int64_t board_bytes(std::int64_t members) {
  return mailboxes_begin + members * members * static_cast<std::int64_t>(sizeof(Mailbox));
}

struct Transfer {
  Mailbox* box = nullptr;
  bool is_send = false;
  std::byte* bytes = nullptr;
  std::int64_t size_bytes = 0;
  std::int64_t at = 0;  // how much has been moved
  bool is_done = false;
};

void copy_bytes(std::byte* to, std::byte const* from, std::int64_t size_bytes) {
  if (size_bytes > 0) std::memcpy(to, from, static_cast<std::size_t>(size_bytes));
}

// Moves a piece, if it can be; returns whether it did. A message of nothing is one empty piece.
bool move_piece(Transfer& transfer) {
  auto& box = *transfer.box;
  auto const filled = box.filled.load(std::memory_order_acquire);
  auto const drained = box.drained.load(std::memory_order_acquire);
  if (transfer.is_send ? filled != drained : filled == drained) return false;
  auto const size = std::min(std::ssize(box.piece), transfer.size_bytes - transfer.at);
  if (transfer.is_send) {
    box.message_bytes = transfer.size_bytes;
    copy_bytes(box.piece.data(), transfer.bytes + transfer.at, size);
    box.filled.store(filled + 1, std::memory_order_release);
  } else {
    if (box.message_bytes != transfer.size_bytes)
      throw DeviceError(text("a member of a group sent ", box.message_bytes,
                             " bytes where another one receives ", transfer.size_bytes));
    copy_bytes(transfer.bytes + transfer.at, box.piece.data(), size);
    box.drained.store(drained + 1, std::memory_order_release);
  }
  transfer.at += size;
  transfer.is_done = transfer.at == transfer.size_bytes;
  return true;
}

// Runs until all are done. Transfers between two members run one after the other.
void move_all(std::vector<Transfer> transfers, Progress& progress,
              std::atomic<bool> const& is_abandoned) {
  while (!transfers.empty()) {
    if (is_abandoned || progress.is_stopping())
      throw DeviceError("messages of a group were abandoned");
    std::vector<std::pair<Mailbox const*, bool>> busy;
    bool moved = false;
    for (auto& transfer : transfers) {
      std::pair<Mailbox const*, bool> const way(transfer.box, transfer.is_send);
      if (std::ranges::find(busy, way) != busy.end()) continue;
      moved = move_piece(transfer) || moved;
      busy.push_back(way);
    }
    std::erase_if(transfers, [](Transfer const& transfer) { return transfer.is_done; });
    if (!moved) std::this_thread::yield();
  }
}

class EmulatedGroup : public GpuCommunicator {
 public:
  EmulatedGroup(StreamParts parts, SharedBytes::Name const& name, std::int64_t rank,
                std::int64_t members)
      : parts_(std::move(parts)),
        bytes_(std::make_shared<SharedBytes>(name)),
        rank_(rank),
        members_(members) {
    ++board().joined;
  }
  ~EmulatedGroup() override { EmulatedGroup::abandon(); }

  bool is_ready() override {
    if (board().joined < members_) return false;
    return !std::exchange(is_new_, false);  // so that a caller that does not ask again is noticed
  }
  void begin() override {
    check();
    transfers_.clear();
  }
  void send(std::int64_t rank, std::byte const* from, std::int64_t size_bytes) override {
    transfers_.push_back({&box(rank_, rank), true, reach(from), size_bytes});
  }
  void receive(std::int64_t rank, std::byte* to, std::int64_t size_bytes) override {
    transfers_.push_back({&box(rank, rank_), false, reach(to), size_bytes});
  }
  // As on a GPU, it begins by itself. It may still wait when nobody has the group any more: the
  // mailboxes stay until it has seen that.
  void end() override {
    check();
    auto const number = parts_.post([transfers = transfers_, progress = parts_.progress,
                                     is_abandoned = is_abandoned_, keeps_mailboxes = bytes_] {
      std::this_thread::sleep_for(latency);
      move_all(transfers, *progress, *is_abandoned);
    });
    parts_.progress->ask(number);
    is_new_ = true;
  }
  void abandon() noexcept override { *is_abandoned_ = true; }

 private:
  void check() const { TESSERA_ASSERT(!is_new_, "a group was used before it was ready"); }
  [[nodiscard]] Board& board() const { return *reinterpret_cast<Board*>(bytes_->data()); }
  [[nodiscard]] Mailbox& box(std::int64_t from, std::int64_t to) const {
    auto* const first = reinterpret_cast<Mailbox*>(bytes_->data() + mailboxes_begin);
    return first[from * members_ + to];
  }
  [[nodiscard]] std::byte* reach(std::byte const* address) const {
    TESSERA_ASSERT(parts_.memory->gpu_of(address) == parts_.gpu,
                   "a member of a group sends and receives in memory of its GPU");
    return parts_.memory->reach(address);
  }

  StreamParts parts_;
  std::shared_ptr<SharedBytes> bytes_;
  std::int64_t rank_;
  std::int64_t members_;
  bool is_new_ = true;
  std::vector<Transfer> transfers_;
  std::shared_ptr<std::atomic<bool>> is_abandoned_ = std::make_shared<std::atomic<bool>>(false);
};

}  // namespace

GpuCommunicatorId make_group_id(std::int64_t members, std::unique_ptr<SharedBytes>& keeps) {
  keeps = std::make_unique<SharedBytes>(board_bytes(members));
  ::new (keeps->data()) Board;
  auto* const boxes = keeps->data() + mailboxes_begin;
  for (std::int64_t i = 0; i < members * members; ++i)
    ::new (boxes + i * static_cast<std::int64_t>(sizeof(Mailbox))) Mailbox;
  GpuCommunicatorId id;
  std::memcpy(id.bytes.data(), &keeps->name(), sizeof keeps->name());
  return id;
}

std::unique_ptr<GpuCommunicator> join_communicator(StreamParts const& parts,
                                                   GpuCommunicatorId const& id, std::int64_t rank,
                                                   std::int64_t members) {
  SharedBytes::Name name;
  std::memcpy(&name, id.bytes.data(), sizeof name);
  return std::make_unique<EmulatedGroup>(parts, name, rank, members);
}

}  // namespace tessera::emulated
