#include "src/transport/host_memory/shared_blocks.hpp"

#include <array>
#include <atomic>
#include <map>
#include <mutex>
#include <new>
#include <utility>

#include "tessera/base/error.hpp"

#include "src/base/text.hpp"
#include "src/job/ipc/shared_segment.hpp"
#include "src/transport/host_memory/segment_directory.hpp"

namespace tessera {
namespace {

/// The directory of a process's shared blocks. The owner writes entries before it passes a fence,
/// and others read them after it.
struct Directory {
  struct Entry {
    std::atomic<std::uint64_t> number;  ///< 0 where nothing is shown
    std::atomic<std::int64_t> descriptor;
    std::atomic<std::int64_t> size_bytes;
    std::atomic<std::uint64_t> nonce;
  };
  std::array<Entry, SharedBlocks::most> entries;

  [[nodiscard]] Entry* find(std::uint64_t wanted, std::uint64_t from) {
    for (std::size_t i = 0; i < entries.size(); ++i) {
      auto& entry = entries[(from + i) % entries.size()];
      if (entry.number.load(std::memory_order_acquire) == wanted) return &entry;
    }
    return nullptr;
  }
};

class Block final : public SharedBlock {
 public:
  explicit Block(Segment segment) : segment_(std::move(segment)) {}
  [[nodiscard]] std::byte* data() const override { return segment_.data(); }
  [[nodiscard]] std::int64_t size_bytes() const override { return segment_.size_bytes(); }
  [[nodiscard]] Segment const& segment() const { return segment_; }

 private:
  Segment segment_;
};

/// Takes its entry out of the directory at its end.
class OwnBlock final : public SharedBlock {
 public:
  OwnBlock(Segment segment, Directory::Entry& entry, std::shared_ptr<void> directory)
      : segment_(std::move(segment)), entry_(entry), directory_(std::move(directory)) {}
  ~OwnBlock() override { entry_.number.store(0, std::memory_order_release); }

  [[nodiscard]] std::byte* data() const override { return segment_.data(); }
  [[nodiscard]] std::int64_t size_bytes() const override { return segment_.size_bytes(); }

 private:
  Segment segment_;
  Directory::Entry& entry_;
  std::shared_ptr<void> directory_;  ///< in which the entry lies
};

}  // namespace

struct SharedBlocks::Impl {
  explicit Impl(SegmentDirectory segments_to_use) : segments(std::move(segments_to_use)) {}

  Directory& own_directory() {
    if (!own) {
      own = Segment::make(sizeof(Directory));
      new (own.data()) Directory{};
      segments.show(own.ticket());
    }
    return *reinterpret_cast<Directory*>(own.data());
  }

  Directory* directory_of(ProcessId process, std::string& reason) {
    auto& mapped = others[process];
    if (!mapped) {
      auto const ticket = segments.find(process, reason);
      if (!ticket) return nullptr;
      mapped = Segment::map(*ticket, Segment::MapMode::read_write, reason, segments.ways);
    }
    return mapped ? reinterpret_cast<Directory*>(mapped.data()) : nullptr;
  }

  SegmentDirectory segments;
  Segment own;
  std::map<ProcessId, Segment> others;  ///< of those that were asked
};

SharedBlocks::SharedBlocks(SegmentDirectory directory)
    : impl_(std::make_shared<Impl>(std::move(directory))) {}
SharedBlocks::~SharedBlocks() = default;

std::shared_ptr<SharedBlock> SharedBlocks::make(std::uint64_t number, std::int64_t size_bytes) {
  auto* const entry = impl_->own_directory().find(0, number);
  if (entry == nullptr)
    throw TransportError(text("this process already shares ", most,
                              " arrays with the others; destroy some fenced ones"));
  auto segment = Segment::make(size_bytes);
  auto const& ticket = segment.ticket();
  entry->descriptor.store(ticket.descriptor, std::memory_order_relaxed);
  entry->size_bytes.store(ticket.size_bytes, std::memory_order_relaxed);
  entry->nonce.store(ticket.nonce, std::memory_order_relaxed);
  entry->number.store(number, std::memory_order_release);
  return std::make_shared<OwnBlock>(std::move(segment), *entry, impl_);
}

std::shared_ptr<SharedBlock> SharedBlocks::find(ProcessId process, std::uint64_t number,
                                                std::shared_ptr<SharedBlock> const& known,
                                                std::string& reason) {
  auto* const directory = impl_->directory_of(process, reason);
  if (directory == nullptr) return nullptr;
  auto const* const entry = directory->find(number, number);
  if (entry == nullptr) {
    reason = text("process ", process, " does not share array ", number);
    return nullptr;
  }
  auto const& of_directory = impl_->others.at(process).ticket();
  SegmentTicket const ticket{of_directory.pid, entry->descriptor.load(std::memory_order_relaxed),
                             entry->size_bytes.load(std::memory_order_relaxed),
                             entry->nonce.load(std::memory_order_relaxed),
                             of_directory.descriptor_server};
  auto const* const before = dynamic_cast<Block const*>(known.get());
  if (before != nullptr && before->segment().ticket().nonce == ticket.nonce) return known;
  auto segment = Segment::map(ticket, Segment::MapMode::read_write, reason, impl_->segments.ways);
  if (!segment) return nullptr;
  return std::make_shared<Block>(std::move(segment));
}

}  // namespace tessera
