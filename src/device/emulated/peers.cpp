#include "src/device/emulated/peers.hpp"

#include <new>
#include <string_view>
#include <utility>
#include <vector>

#include "tessera/base/error.hpp"

#include "src/base/environment.hpp"
#include "src/base/text.hpp"
#include "src/device/emulated/communicator.hpp"
#include "src/device/emulated/event.hpp"
#include "src/device/handle_bytes.hpp"

namespace tessera::emulated {
namespace {

struct MemoryHandle {
  SharedBytes::Name name;
  std::size_t gpu = 0;
};
// Memory that two processes can access.
class SharedBuffer : public DeviceBuffer {
 public:
  SharedBuffer(std::shared_ptr<Memory> memory, std::size_t gpu, std::unique_ptr<SharedBytes> bytes)
      : DeviceBuffer(memory->tell({gpu, bytes->data(), bytes->size_bytes()}), bytes->size_bytes()),
        memory_(std::move(memory)),
        bytes_(std::move(bytes)) {}
  ~SharedBuffer() override { memory_->forget(data()); }

 private:
  std::shared_ptr<Memory> memory_;
  std::unique_ptr<SharedBytes> bytes_;
};

class PlainBuffer : public DeviceBuffer {
 public:
  PlainBuffer(Arena& arena, std::int64_t size_bytes)
      : DeviceBuffer(arena.allocate(size_bytes), size_bytes), arena_(arena) {
    if (data() == nullptr) throw DeviceError(text("no ", size_bytes, " bytes for an emulated GPU"));
  }
  ~PlainBuffer() override { arena_.release(data()); }

 private:
  Arena& arena_;
};

bool are(std::string_view what) {
  return limit_of_peers() == what;
}

class Peers : public GpuPeers {
 public:
  explicit Peers(StreamParts parts) : parts_(std::move(parts)) {}

  std::uint64_t gpu_identity() const override { return parts_.gpu; }

  std::unique_ptr<DeviceBuffer> share_memory(std::int64_t size_bytes, GpuHandle& handle) override {
    if (are("short_of_memory") && size_bytes > std::int64_t{2} << 20)
      throw DeviceError(
          "TESSERA_EMULATED_PEERS=short_of_memory leaves no more than 2 MiB to share at once");
    auto bytes = std::make_unique<SharedBytes>(size_bytes);
    bytes->ends_behind_openers();
    handle = handle_of(MemoryHandle{bytes->name(), parts_.gpu});
    return std::make_unique<SharedBuffer>(parts_.memory, parts_.gpu, std::move(bytes));
  }
  std::unique_ptr<DeviceBuffer> open_memory(GpuHandle const& handle, std::int64_t) override {
    if (are("apart"))
      throw DeviceError("TESSERA_EMULATED_PEERS=apart keeps the memory of processes apart");
    auto const content = content_of<MemoryHandle>(handle);
    return std::make_unique<SharedBuffer>(parts_.memory, content.gpu,
                                          std::make_unique<SharedBytes>(content.name));
  }
  bool stores_to(DeviceBuffer const& opened) const override {
    return parts_.memory->gpu_of(opened.data()) == parts_.gpu;
  }

  std::unique_ptr<GpuEvent> share_event(GpuHandle& handle) override {
    std::shared_ptr<SharedMark> const shared(new SharedMark{SharedBytes(sizeof(Mark))});
    shared->bytes.ends_behind_openers();
    ::new (shared->bytes.data()) Mark;
    handle = handle_of(shared->bytes.name());
    return std::make_unique<Event>(shared, false);
  }
  std::unique_ptr<GpuEvent> open_event(GpuHandle const& handle) override {
    // The receiver opens the sender's events last, after everything else.
    if (are("short_of_events") && ++opened_events_ > 2)
      throw DeviceError("TESSERA_EMULATED_PEERS=short_of_events lets no third event be opened");
    std::shared_ptr<SharedMark> const shared(
        new SharedMark{SharedBytes(content_of<SharedBytes::Name>(handle))});
    return std::make_unique<Event>(shared, true);
  }

  std::unique_ptr<DeviceBuffer> make_plain_memory(std::int64_t size_bytes) override {
    return std::make_unique<PlainBuffer>(parts_.memory->arena(parts_.gpu), size_bytes);
  }
  MemoryKind library_memory() const override { return MemoryKind::host; }
  void make_current() override {}
  std::byte* address_for_others(std::byte const* address) const override {
    return parts_.memory->reach(address);
  }

  GpuCommunicatorTraits communicator_traits() const override { return {true, true, false}; }
  GpuCommunicatorId make_group_id(std::int64_t members) override {
    return emulated::make_group_id(members, boards_.emplace_back());
  }
  std::vector<std::unique_ptr<GpuCommunicator>> join_communicator(
      GpuCommunicatorId const& id, std::int64_t first_rank, std::int64_t members,
      std::span<tessera::Queue* const> streams) override {
    std::vector<std::unique_ptr<GpuCommunicator>> groups;
    for (auto* const stream : streams) {
      auto const& parts = static_cast<Peers&>(stream->peers()).parts_;
      groups.push_back(
          emulated::join_communicator(parts, id, first_rank + std::ssize(groups), members));
    }
    return groups;
  }
  std::vector<std::unique_ptr<GpuCommunicator>> adopt_communicator(
      std::span<void* const>, std::int64_t, std::int64_t,
      std::span<tessera::Queue* const>) override {
    throw DeviceError("emulated GPUs have no NCCL");
  }

 private:
  StreamParts parts_;
  int opened_events_ = 0;
  std::vector<std::unique_ptr<SharedBytes>> boards_;
};

}  // namespace

std::optional<std::string> limit_of_peers() {
  return environment_choice("TESSERA_EMULATED_PEERS",
                            {"apart", "short_of_memory", "short_of_events"});
}

std::unique_ptr<GpuPeers> make_peers(StreamParts parts) {
  return std::make_unique<Peers>(std::move(parts));
}

}  // namespace tessera::emulated
