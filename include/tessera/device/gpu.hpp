#pragma once
/// @file
/// The seam to GPUs: memory, copies, events and the order in which they happen. Behind it stands
/// CUDA or, to test what stands above it on any machine, an emulation on the host.

#include <array>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/device/strided.hpp"

struct ncclComm;  // NCCL's ncclComm_t is a pointer to one

namespace tessera {

/// A place in the order of a stream's work.
/// Threads: recorded by one, and by others only waited for or asked once they know of it.
class GpuEvent {
 public:
  GpuEvent() = default;
  virtual ~GpuEvent() = default;
  GpuEvent(GpuEvent const&) = delete;
  GpuEvent& operator=(GpuEvent const&) = delete;

  /// Whether all work before the place where it was last recorded is done; true if it never was.
  /// Throws: DeviceError where the GPU failed.
  [[nodiscard]] virtual bool has_passed() = 0;
};

/// Memory that is given back when this ends, by which time no work uses it any more.
class GpuRegion {
 public:
  virtual ~GpuRegion() = default;
  GpuRegion(GpuRegion const&) = delete;
  GpuRegion& operator=(GpuRegion const&) = delete;

  [[nodiscard]] std::byte* data() const { return data_; }
  [[nodiscard]] std::int64_t size_bytes() const { return size_bytes_; }

 protected:
  GpuRegion(std::byte* data, std::int64_t size_bytes) : data_(data), size_bytes_(size_bytes) {}

 private:
  std::byte* data_;
  std::int64_t size_bytes_;
};

class GpuPeers;

/// Work of a stream that was kept, to be done as often as it is told to.
/// Lifetime: of its runs; may outlive its stream.
class GpuGraph {
 public:
  GpuGraph() = default;
  virtual ~GpuGraph() = default;
  GpuGraph(GpuGraph const&) = delete;
  GpuGraph& operator=(GpuGraph const&) = delete;
};

/// Work for one GPU, done in the order in which it comes, later than the call that brings it.
///
/// Memory of a GPU is read and written only by work of streams: on the host its addresses are
/// numbers. What work of another stream wrote is seen after `wait` for an event of that stream.
///
/// Ranks:   local.
/// Threads: any; what two of them bring comes in the order of their calls.
/// Throws:  DeviceError, from any call, for the failure of earlier work too.
class GpuStream {
 public:
  GpuStream() = default;
  virtual ~GpuStream() = default;
  GpuStream(GpuStream const&) = delete;
  GpuStream& operator=(GpuStream const&) = delete;

  /// Memory of the GPU, aligned to 256 bytes, for work that follows. Taken from a pool that keeps
  /// what was released. Throws: DeviceError, naming the size.
  [[nodiscard]] virtual std::byte* allocate(std::int64_t size_bytes) = 0;
  /// Gives memory of `allocate` back once all work so far is done.
  virtual void release(std::byte* memory) noexcept = 0;

  /// True of addresses in memory of the GPU, whoever took it.
  [[nodiscard]] virtual bool owns(std::byte const* address) const = 0;

  /// Another stream of the same GPU. Throws: DeviceError.
  [[nodiscard]] virtual std::shared_ptr<GpuStream> make_sibling() = 0;

  /// Whether kernels of this stream may write into memory that another one took, and read it.
  [[nodiscard]] virtual bool stores_to(GpuStream const& other) const = 0;

  /// Memory of the host for copies from and to it that the caller does not wait for.
  /// Throws: DeviceError.
  [[nodiscard]] virtual std::unique_ptr<GpuRegion> make_pinned(std::int64_t size_bytes) = 0;

  /// Bytes from memory of a GPU or of the host to other such memory. Host memory stays as it is
  /// until the copy is done. Of host memory that is not pinned the caller may have to wait.
  virtual void copy(std::byte* to, std::byte const* from, std::int64_t size_bytes) = 0;
  /// Element by element, from memory of this GPU to memory of this GPU; as the function of the same
  /// name on the host.
  virtual void copy_block(std::byte* to_base, StridedBlock const& to, std::byte const* from_base,
                          StridedBlock const& from) = 0;
  /// Bytes [first_byte, first_byte + size_bytes) of the stream of a block, to dense memory of this
  /// GPU or of one that it stores to. The bytes begin and end between elements of the block.
  virtual void pack(std::byte const* base, StridedBlock const& block, std::int64_t first_byte,
                    std::byte* to, std::int64_t size_bytes) = 0;
  /// The reverse, from dense memory of this GPU.
  virtual void unpack(std::byte* base, StridedBlock const& block, std::int64_t first_byte,
                      std::byte const* from, std::int64_t size_bytes) = 0;
  /// Repeats 8 bytes over memory of this GPU; both lie at multiples of 8 bytes.
  virtual void fill(std::byte* to, std::uint64_t pattern, std::int64_t size_bytes) = 0;

  [[nodiscard]] virtual std::unique_ptr<GpuEvent> make_event() = 0;
  /// The event is from now on after all work so far.
  virtual void record(GpuEvent& event) = 0;
  /// Work that follows begins after the event, which may be another stream's.
  virtual void wait(GpuEvent const& event) = 0;
  /// Whether all work is done.
  [[nodiscard]] virtual bool is_idle() = 0;

  /// Keeps what `bring` brings to this stream, in place of doing it: kernels, fills, and copies
  /// within memory of GPUs, with the addresses and numbers that they are told now. All else is
  /// refused meanwhile, and a graph inside another one too.
  /// Threads: no other one uses the stream meanwhile.
  /// Throws: what `bring` throws; DeviceError where no graph can be made. Nothing is kept then, and
  ///         the stream goes on as before.
  [[nodiscard]] virtual std::unique_ptr<GpuGraph> make_graph(
      std::function<void()> const& bring) = 0;
  /// Brings the work of a graph that this stream has made, once more, in one go.
  virtual void run(GpuGraph const& graph) = 0;

  /// The cudaStream_t on which kernels are launched; null in the emulation, which is given their
  /// work by `defer`.
  [[nodiscard]] virtual void* native() const = 0;
  /// Says what a launch on `native` returned (a cudaError_t) where that is a failure.
  /// Throws: DeviceError, naming `what`.
  virtual void check_launch(int error, std::string_view what) const = 0;
  /// How many multiprocessors the GPU has.
  [[nodiscard]] virtual int multiprocessors() const = 0;

  /// What the GPU shares with those of other processes. Lifetime: the stream's.
  [[nodiscard]] virtual GpuPeers& peers() = 0;

  /// Only of the emulation: calls `work` after all work so far.
  virtual void defer(std::function<void()> work) = 0;
  /// Only of the emulation, inside deferred work: where the host reaches an address of a GPU.
  [[nodiscard]] virtual std::byte* reach(std::byte const* address) const = 0;
};

/// By what another process of this host opens memory or an event of a GPU: plain bytes.
struct GpuHandle {
  std::array<std::byte, 64> bytes{};
};

/// By what devices of several processes find together: plain bytes.
struct GpuGroupId {
  std::array<std::byte, 128> bytes{};
};

/// Devices that send to each other by a library of the GPUs' own, on one host or several. Each has
/// a number, its rank, and is a member through one stream.
///
/// What a member brings between `begin` and `end` happens at once, in the order of its stream. It
/// ends when the members at the other ends have brought the counterparts: between two members
/// messages have no names, so both bring them in one order, of equal lengths.
///
/// Threads: one at a time.
/// Throws:  DeviceError, from any call.
class GpuGroup {
 public:
  GpuGroup() = default;
  /// Ends what the member has under way, done or not; the others may wait for it in vain.
  virtual ~GpuGroup() = default;
  GpuGroup(GpuGroup const&) = delete;
  GpuGroup& operator=(GpuGroup const&) = delete;

  /// Whether the member has joined, and what it ended last lies in its stream. Until then nothing
  /// else is called, and the stream is given no work.
  [[nodiscard]] virtual bool is_ready() = 0;
  virtual void begin() = 0;
  /// Bytes in memory of the GPU to the member `rank`.
  virtual void send(std::int64_t rank, std::byte const* from, std::int64_t size_bytes) = 0;
  /// Bytes of the member `rank` to memory of the GPU.
  virtual void receive(std::int64_t rank, std::byte* to, std::int64_t size_bytes) = 0;
  virtual void end() = 0;
  /// As the end of the object, before it: no call waits for other members from now on.
  virtual void abandon() noexcept = 0;
};

/// What there is of groups.
struct GpuGroupTraits {
  bool exists = false;
  bool shares_gpus = false;  ///< two members may be on one GPU
  bool spans_hosts = false;
  std::string why_not = {};  ///< where they do not exist: "libnccl.so.2 is not found"
};

/// What the GPU of a stream shares with those of other processes. Opened memory and events end
/// before those that they were opened from, which the other process sees to.
///
/// Throws: DeviceError, where the other process or its GPU cannot be reached too.
class GpuPeers {
 public:
  GpuPeers() = default;
  virtual ~GpuPeers() = default;
  GpuPeers(GpuPeers const&) = delete;
  GpuPeers& operator=(GpuPeers const&) = delete;

  /// By which processes of a host know their GPUs apart.
  [[nodiscard]] virtual std::uint64_t gpu_identity() const = 0;

  /// Memory of the GPU that other processes of this host may open.
  [[nodiscard]] virtual std::unique_ptr<GpuRegion> share_memory(std::int64_t size_bytes,
                                                                GpuHandle& handle) = 0;
  /// Such memory of another process, of the length that it has.
  [[nodiscard]] virtual std::unique_ptr<GpuRegion> open_memory(GpuHandle const& handle,
                                                               std::int64_t size_bytes) = 0;
  /// Whether kernels of the stream may write into memory that it opened; else copies do.
  [[nodiscard]] virtual bool stores_to(GpuRegion const& opened) const = 0;

  /// An event to be recorded by this process and waited for by another one, which has to know that
  /// it was recorded: its waits are for the last recording at the time of their call.
  [[nodiscard]] virtual std::unique_ptr<GpuEvent> share_event(GpuHandle& handle) = 0;
  /// Such an event of another process, for waits.
  [[nodiscard]] virtual std::unique_ptr<GpuEvent> open_event(GpuHandle const& handle) = 0;

  /// Memory of the GPU that libraries of the host reach, too, as those that send between hosts;
  /// memory of a pool may be hidden from them.
  [[nodiscard]] virtual std::unique_ptr<GpuRegion> make_plain_memory(std::int64_t size_bytes) = 0;
  /// What such libraries are told of it: memory of CUDA, else of the host.
  [[nodiscard]] virtual bool is_cuda() const = 0;
  /// Makes the GPU the calling thread's current one, as they ask.
  virtual void make_current() = 0;
  /// What they are told for an address in memory of the GPU.
  [[nodiscard]] virtual std::byte* address_for_others(std::byte const* address) const = 0;

  [[nodiscard]] virtual GpuGroupTraits group_traits() const = 0;
  /// By what `members` devices find together. Only where groups exist. Lifetime: what it stands for
  /// ends with the process that made it, or later.
  [[nodiscard]] virtual GpuGroupId make_group_id(std::int64_t members) = 0;
  /// Begins to join `members` in all with these streams of this process, whose ranks begin at
  /// `first_rank`; all members have to. Only where groups exist.
  [[nodiscard]] virtual std::vector<std::unique_ptr<GpuGroup>> join_group(
      GpuGroupId const& id, std::int64_t first_rank, std::int64_t members,
      std::span<GpuStream* const> streams) = 0;
  /// The same by communicators of NCCL that the program has joined, and that stay its own. Throws
  /// if their members have other ranks, or other GPUs than these streams.
  [[nodiscard]] virtual std::vector<std::unique_ptr<GpuGroup>> adopt_group(
      std::span<ncclComm* const> communicators, std::int64_t first_rank, std::int64_t members,
      std::span<GpuStream* const> streams) = 0;
};
/// For streams, while they make a graph. Throws: DeviceError, always, naming `what`.
[[noreturn]] void refuse_in_graph(std::string_view what);

/// What is known of a GPU, for people.
struct GpuFacts {
  std::string name;               ///< "NVIDIA H200"
  std::string bus;                ///< its place on the bus, as "0000:1b:00.0"
  std::int64_t memory_bytes = 0;  ///< in all
  int multiprocessors = 0;
};

/// The GPUs of this machine that the process may use, counted from 0.
class GpuDriver {
 public:
  GpuDriver() = default;
  virtual ~GpuDriver() = default;
  GpuDriver(GpuDriver const&) = delete;
  GpuDriver& operator=(GpuDriver const&) = delete;

  /// "cuda" or "emulated".
  [[nodiscard]] virtual std::string_view name() const = 0;
  [[nodiscard]] virtual int count() const = 0;
  /// Throws: DeviceError.
  [[nodiscard]] virtual GpuFacts facts(int gpu) const = 0;
  /// A stream of its own for a device; several devices may share a GPU.
  /// Throws: DeviceError.
  [[nodiscard]] virtual std::shared_ptr<GpuStream> make_stream(int gpu) = 0;
};

/// The GPUs that the CUDA driver shows: `count()` is 0 where there is no driver or no GPU.
/// Throws: BackendNotBuilt where TESSERA_WITH_CUDA is off.
[[nodiscard]] std::unique_ptr<GpuDriver> make_cuda_driver();
/// True in builds with TESSERA_WITH_CUDA.
[[nodiscard]] bool has_cuda_driver();

/// Two GPUs, of which neither stores into the other's memory, with a thread on the host for each
/// stream. Their memory cannot be touched by the rest of the program: who tries dies by SIGSEGV.
[[nodiscard]] std::unique_ptr<GpuDriver> make_emulated_driver();

}  // namespace tessera
