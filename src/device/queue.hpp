#pragma once
/// @file
/// The seam between Tessera and what computes: memory, copies, kernels and events of one device,
/// and the order of its work. Behind it stand cores of the host, GPUs, or an emulation of GPUs that
/// tests what is above the seam on any machine.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string_view>

#include "src/device/strided.hpp"
#include "src/statement/statement.hpp"

namespace tessera {

class GpuPeers;
class Queue;
struct KernelLaunch;

/// What a queue can do. Callers choose by these, never by a name or by the kind of a device.
struct QueueTraits {
  std::string_view name = {};         ///< of its devices, for people: "cpu"
  bool is_eager = false;              ///< work is done when the call that adds it returns
  bool host_reaches_memory = false;   ///< the host may read and write its memory by itself
  bool needs_native_kernels = false;  ///< runs only kernels that the GPU's compiler has made
  // For people.
  std::string_view how_to_have_kernels = {};  ///< of one that needs native kernels
  std::string_view how_to_have_memory = {};   ///< that the program allocates by itself
};

/// A point in the order of a queue's work.
/// Threads: one records it; others wait for it or ask it once they know that it was recorded.
class GpuEvent {
 public:
  GpuEvent() = default;
  virtual ~GpuEvent() = default;
  GpuEvent(GpuEvent const&) = delete;
  GpuEvent& operator=(GpuEvent const&) = delete;

  /// True if all work before the point where it was last recorded is done, or if it was never
  /// recorded. Throws: DeviceError where the GPU failed.
  [[nodiscard]] virtual bool has_passed() = 0;
};

/// A block of memory that its destructor releases; by then no work uses it any more.
class DeviceBuffer {
 public:
  virtual ~DeviceBuffer() = default;
  DeviceBuffer(DeviceBuffer const&) = delete;
  DeviceBuffer& operator=(DeviceBuffer const&) = delete;

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::int64_t size_bytes() const { return size_bytes_; }

 protected:
  DeviceBuffer(std::byte* data, std::int64_t size_bytes) : data_(data), size_bytes_(size_bytes) {}

 private:
  std::byte* data_;
  std::int64_t size_bytes_;
};

/// Recorded work of a queue, which can be run any number of times.
/// Lifetime: that of its runs; it may outlive its queue.
class GpuGraph {
 public:
  GpuGraph() = default;
  virtual ~GpuGraph() = default;
  GpuGraph(GpuGraph const&) = delete;
  GpuGraph& operator=(GpuGraph const&) = delete;
};

/// Work for one device, done in the order in which it is added: at once where the queue is eager,
/// else later than the call that adds it.
///
/// Where the host does not reach the memory of a queue, only work of queues reads and writes it:
/// on the host its addresses are numbers. Work sees what another queue's work wrote after `wait`
/// for an event of that queue.
///
/// Ranks:   local.
/// Threads: any; what two of them add comes in the order of their calls.
/// Throws:  DeviceError, from any call, for the failure of earlier work too.
class Queue {
 public:
  virtual ~Queue() = default;
  Queue(Queue const&) = delete;
  Queue& operator=(Queue const&) = delete;

  /// What it can do: callers choose by this, never by the kind of the queue.
  [[nodiscard]] QueueTraits const& traits() const { return traits_; }

  /// Memory of the device, aligned to 256 bytes, for work that follows. Comes from a pool that
  /// keeps what was released. Throws: DeviceError, naming the size.
  [[nodiscard]] virtual std::byte* allocate(std::int64_t size_bytes) = 0;
  /// Releases memory of `allocate` once all work so far is done.
  virtual void release(std::byte* memory) noexcept = 0;

  /// True for addresses in memory of the device, whoever allocated it.
  [[nodiscard]] virtual bool owns(std::byte const* address) const = 0;

  /// A queue of the same device whose work may overlap this one's. An eager device, which finishes
  /// work as it is added, returns its only queue. Throws: DeviceError.
  [[nodiscard]] virtual std::shared_ptr<Queue> make_sibling() = 0;

  /// Whether kernels of this queue may read and write memory that another one allocated.
  [[nodiscard]] virtual bool stores_to(Queue const& other) const = 0;

  /// Memory of the host that copies can use without making the caller wait.
  /// Throws: DeviceError.
  [[nodiscard]] virtual std::unique_ptr<DeviceBuffer> make_pinned(std::int64_t size_bytes) = 0;

  /// Copies bytes between memory of devices, memory of the host, or both. Host memory must stay
  /// unchanged until the copy is done. The caller may have to wait where it is not pinned.
  virtual void copy(std::byte* to, std::byte const* from, std::int64_t size_bytes) = 0;
  /// Copies element by element within memory of this device, as the function of the same name in
  /// strided.hpp.
  virtual void copy_block(std::byte* to_base, StridedBlock const& to, std::byte const* from_base,
                          StridedBlock const& from) = 0;
  /// The same for blocks far larger than the caches; `to` is not read soon.
  virtual void copy_block_non_temporal(std::byte* to_base, StridedBlock const& to,
                                       std::byte const* from_base, StridedBlock const& from) {
    copy_block(to_base, to, from_base, from);
  }
  /// Copies bytes [first_byte, first_byte + size_bytes) of the stream of a block to dense memory of
  /// this device, or of one that it stores to. They begin and end between elements of the block.
  virtual void pack(std::byte const* base, StridedBlock const& block, std::int64_t first_byte,
                    std::byte* to, std::int64_t size_bytes) = 0;
  /// The reverse, from dense memory of this device.
  virtual void unpack(std::byte* base, StridedBlock const& block, std::int64_t first_byte,
                      std::byte const* from, std::int64_t size_bytes) = 0;
  /// Repeats 8 bytes over memory of this device; address and size are multiples of 8 bytes.
  virtual void fill(std::byte* to, std::uint64_t pattern, std::int64_t size_bytes) = 0;

  /// Computes a box by a kernel. All that `launch` names on the host may change as soon as the call
  /// returns. Throws: DeviceError, with the place of the statement.
  virtual void launch(KernelLaunch const& launch) = 0;

  [[nodiscard]] virtual std::unique_ptr<GpuEvent> make_event() = 0;
  /// From now on the event is behind all work so far.
  virtual void record(GpuEvent& event) = 0;
  /// Work that follows begins after the event, which may be another queue's.
  virtual void wait(GpuEvent const& event) = 0;
  /// Whether all work is done.
  [[nodiscard]] virtual bool is_idle() = 0;

  /// Records what `bring` adds to this queue instead of doing it: kernels, fills, and copies within
  /// memory of devices, with the addresses and numbers of now. Refuses everything else meanwhile,
  /// another graph too.
  /// Threads: no other one uses the queue meanwhile.
  /// Throws: what `bring` throws; DeviceError where no graph can be made. Nothing is recorded then,
  ///         and the queue goes on as before.
  [[nodiscard]] virtual std::unique_ptr<GpuGraph> make_graph(
      std::function<void()> const& bring) = 0;
  /// Adds the work of a graph that this queue has made, once more, in one go.
  virtual void run(GpuGraph const& graph) = 0;

  /// How many multiprocessors the device has.
  [[nodiscard]] virtual int multiprocessors() const = 0;

  /// What the device shares with those of other processes. Lifetime: the queue's.
  [[nodiscard]] virtual GpuPeers& peers() = 0;

 protected:
  explicit Queue(QueueTraits const& traits) : traits_(traits) {}

 private:
  QueueTraits traits_;
};

/// The queue of devices that are cores of the host. It keeps no state.
/// Lifetime: the program's. Threads: any number at once.
[[nodiscard]] Queue& host_queue();
/// The same for holders of any device's queue. Copies of the pointer count nothing.
[[nodiscard]] std::shared_ptr<Queue> shared_host_queue();

/// True if a statement of these forms can be computed by a queue: by a kernel that the GPU's
/// compiler has made where the queue needs one, or as a copy. `copied_bytes`: as of KernelLaunch.
[[nodiscard]] bool can_launch(Queue const& queue, KernelForms const& forms,
                              std::int64_t copied_bytes);

/// For queues, while they make a graph. Throws: DeviceError, always, naming `what`.
[[noreturn]] void refuse_in_graph(std::string_view what);

}  // namespace tessera
