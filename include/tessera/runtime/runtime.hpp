#pragma once
/// @file
/// The one Runtime that main owns, and the devices and processes of the job.

#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <vector>

#include "tessera/base/ids.hpp"
#include "tessera/detail/runtime/submit.hpp"
#include "tessera/device/device_kind.hpp"
#include "tessera/plan/explanation.hpp"
#include "tessera/runtime/budget.hpp"

struct ncclComm;  // NCCL's ncclComm_t is a pointer to one

namespace tessera {

/// The options of a program's Runtime.
struct RuntimeOptions {
  /// The number of devices that this process drives. Default: TESSERA_DEVICES; else one per process
  /// under a launcher, and one per core, or per GPU, for a program started alone.
  std::optional<std::int64_t> devices = std::nullopt;
  /// The kind of the devices, equal on all processes. Default: TESSERA_DEVICE ("host", "cuda" or
  /// "emulated"); else GPUs if there are any and a CUDA compiler made the program's kernels, and
  /// otherwise the host's cores.
  std::optional<DeviceKind> kind = std::nullopt;
  /// NCCL communicators (ncclComm_t) of the program: one for each device of this process. All
  /// devices of the job are members, ranked by their ids, each with its GPU. GPUs use these
  /// wherever they would use NCCL. The program continues to own them; they must outlive the Runtime
  /// and have no other work meanwhile. They must have been joined, and made nonblocking
  /// (ncclConfig_t::blocking = 0): calls of a blocking communicator may wait for a process that
  /// waits for data of this one. Ignored if the devices are no GPUs.
  std::vector<ncclComm*> nccl_communicators = {};
};

class MpiCommunicator;  // tessera/job/mpi_communicator.hpp

/// Starts MPI (if a launcher started the program), Kokkos and the devices, and ends them.
///
/// Ranks:    made and destroyed by all processes of the job; one at a time per process.
/// Threads:  everything of Tessera is called from the thread that made it.
/// Lifetime: outlives every use of an array or a reduction's value that was made in it; another
///           Runtime refuses them by UsageError. Its destructor waits for all processes; while an
///           exception unwinds it, and after PeerFailed or Mismatch, it ends the job instead.
/// Throws:   ConfigError for an impossible setting, alike on every process; UsageError for a second
///           Runtime at the same time, or communicators that cannot be used; BackendNotBuilt for a
///           communicator where TESSERA_WITH_MPI is off; TransportError or DeviceError where the
///           machine fails.
///
/// Example:  int main(int argc, char** argv) { tessera::Runtime runtime(argc, argv); … }
class Runtime {
 public:
  Runtime(int& argc, char**& argv, RuntimeOptions const& options = {});
  explicit Runtime(RuntimeOptions const& options = {});
  /// Makes a job of exactly the processes of a communicator, with their ranks there. The program
  /// has initialised MPI, at any thread level (with MPI_THREAD_SINGLE a process drives one device
  /// and no thread is started), and finalises it; Runtimes may follow one another meanwhile.
  explicit Runtime(MpiCommunicator const& communicator, RuntimeOptions const& options = {});
  ~Runtime();
  Runtime(Runtime const&) = delete;
  Runtime& operator=(Runtime const&) = delete;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// A device of the job.
struct Device {
  DeviceId id;
  DeviceKind kind = DeviceKind::cpu;
  ProcessId process;         ///< that drives it
  bool addressable = false;  ///< this process does

  friend bool operator==(Device const&, Device const&) = default;
  /// "cpu 3 of process 1"
  friend std::ostream& operator<<(std::ostream& out, Device const& device);
};

/// Devices with consecutive ids, computed on access: no list of them exists.
class DeviceRange {
 public:
  /// Goes through the devices in the order of their ids.
  class Iterator {
   public:
    using value_type = Device;
    using difference_type = std::int64_t;
    using iterator_category = std::input_iterator_tag;

    Iterator() = default;
    explicit Iterator(std::int64_t id) : id_(id) {}
    Device operator*() const;
    Iterator& operator++() {
      ++id_;
      return *this;
    }
    Iterator operator++(int) { return Iterator(id_++); }
    friend bool operator==(Iterator, Iterator) = default;

   private:
    std::int64_t id_ = 0;
  };

  DeviceRange(std::int64_t first, std::int64_t count) : first_(first), count_(count) {}
  [[nodiscard]] Iterator begin() const { return Iterator(first_); }
  [[nodiscard]] Iterator end() const { return Iterator(first_ + count_); }
  [[nodiscard]] std::int64_t size() const { return count_; }
  /// Throws: IndexError if there is no such device.
  [[nodiscard]] Device operator[](std::int64_t i) const;

 private:
  std::int64_t first_;
  std::int64_t count_;
};

/// All devices of the job. Throws: UsageError without a Runtime, as everything below.
[[nodiscard]] DeviceRange devices();
/// The devices that this process drives.
[[nodiscard]] DeviceRange addressable_devices();
/// How many devices the job has.
[[nodiscard]] std::int64_t device_count();

/// This process, from 0, and how many there are.
[[nodiscard]] ProcessId process();
/// How many processes the job has.
[[nodiscard]] std::int64_t process_count();

/// Waits until this process's devices have executed every statement so far.
/// Ranks: local: waits only for processes that send awaited messages.
void synchronize();

/// Running totals of this process.
[[nodiscard]] Counters counters();

/// Runs `body` and returns what each of its statements sent, and why.
///
/// Ranks:   collective; the numbers are those of this process's devices.
/// Example: std::cout << explain([&] { u(inner) = 0.5 * (u(left) + u(right)); });
template <class Body>
[[nodiscard]] Explanations explain(Body&& body) {
  detail::ExplanationScope scope;
  body();
  return scope.result();
}

}  // namespace tessera
