#pragma once
/// @file
/// The one Runtime that main owns, and what the job is made of.

#include <cstdint>
#include <iterator>
#include <memory>
#include <optional>
#include <ostream>
#include <vector>

#include "tessera/base/ids.hpp"
#include "tessera/device/device_kind.hpp"
#include "tessera/exchange/counters.hpp"
#include "tessera/plan/explanation.hpp"

struct ncclComm;  // NCCL's ncclComm_t is a pointer to one

namespace tessera {

/// What a program may ask of its Runtime.
struct RuntimeOptions {
  /// Devices that this process drives. Without it: TESSERA_DEVICES; else one per process under a
  /// launcher, and one per core, or per GPU, for a program started alone.
  std::optional<std::int64_t> devices = std::nullopt;
  /// What they are made of, equal on all processes. Without it: TESSERA_DEVICE ("host", "cuda" or
  /// "emulated"); else GPUs where there are some and a CUDA compiler made the program's kernels,
  /// and the host's cores otherwise.
  std::optional<DeviceKind> kind = std::nullopt;
  /// Communicators of NCCL (ncclComm_t) that the program has already: for each device of this
  /// process one, in which all devices of the job are members by their ids, each with its GPU. GPUs
  /// then send by these where they would by NCCL. They stay the program's, outlive the Runtime and
  /// have no other work meanwhile. They have been joined, and were made not to wait
  /// (ncclConfig_t::blocking = 0): calls of others may wait for a process that waits for what this
  /// one is to send. Not looked at where devices are no GPUs.
  std::vector<ncclComm*> nccl_communicators = {};
};

class MpiCommunicator;  // tessera/transport/mpi_communicator.hpp

/// Starts MPI (where a launcher started the program), Kokkos and the devices, and ends them.
///
/// Ranks:    made and destroyed by all processes of the job; one at a time per process.
/// Threads:  everything of Tessera is called from the thread that made it.
/// Lifetime: outlives every array. Its end waits for all processes; while an exception unwinds it,
///           and after PeerFailed or Mismatch, it ends the job instead.
/// Throws:   ConfigError for a setting that cannot be, alike on every process; UsageError for a
///           second Runtime at the same time, or communicators that cannot be used;
///           BackendNotBuilt for a communicator where TESSERA_WITH_MPI is off; TransportError or
///           DeviceError where the machine fails.
///
/// Example:  int main(int argc, char** argv) { tessera::Runtime runtime(argc, argv); … }
class Runtime {
 public:
  Runtime(int& argc, char**& argv, RuntimeOptions const& options = {});
  explicit Runtime(RuntimeOptions const& options = {});
  /// Of the processes of a communicator, and no others: they are the job, by their ranks there. The
  /// program has initialised MPI, at any thread level (with MPI_THREAD_SINGLE a process drives one
  /// device and no thread is started), and finalises it; Runtimes may follow one another meanwhile.
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

/// Devices with consecutive ids, computed as they are looked at: no list of them exists.
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

/// Waits until every statement so far has been carried out by this process's devices.
/// Ranks: local: no other process is waited for but those that send what is awaited.
void synchronize();

/// Running totals of this process.
[[nodiscard]] Counters counters();

/// Runs `body` and returns what each of its statements sent, and why.
///
/// Ranks:   collective; the numbers are those of this process's devices.
/// Example: std::cout << explain([&] { u(inner) = 0.5 * (u(left) + u(right)); });
template <class Body>
[[nodiscard]] Explanations explain(Body&& body);

namespace detail {
/// Collects explanations while it lives.
class ExplanationScope {
 public:
  ExplanationScope();
  ~ExplanationScope();
  ExplanationScope(ExplanationScope const&) = delete;
  ExplanationScope& operator=(ExplanationScope const&) = delete;
  Explanations result;

 private:
  Explanations* outer_;
};
}  // namespace detail

template <class Body>
Explanations explain(Body&& body) {
  detail::ExplanationScope scope;
  body();
  return scope.result;
}

}  // namespace tessera
