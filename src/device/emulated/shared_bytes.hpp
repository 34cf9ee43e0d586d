#pragma once
/// @file
/// Memory between the processes of a host, for emulated GPUs.

#include <atomic>
#include <cstddef>
#include <cstdint>

namespace tessera::emulated {

/// Memory that other processes map. Plain bytes name it while the object lives that made it.
class SharedBytes {
 public:
  /// The name by which another process finds it.
  struct Name {
    std::int64_t process = 0;
    std::int64_t descriptor = -1;
    std::uint64_t nonce = 0;
    std::int64_t size_bytes = 0;
  };

  /// All bytes are 0. Throws: DeviceError.
  explicit SharedBytes(std::int64_t size_bytes);
  /// Opens the memory of another process. Throws: DeviceError if it cannot be reached or is not
  /// that memory.
  explicit SharedBytes(Name const& name);
  ~SharedBytes();
  SharedBytes(SharedBytes const&) = delete;
  SharedBytes& operator=(SharedBytes const&) = delete;

  /// Begins at a page.
  [[nodiscard]] std::byte* data() const { return base_ + front_bytes; }
  [[nodiscard]] std::int64_t size_bytes() const { return name_.size_bytes; }
  [[nodiscard]] Name const& name() const { return name_; }
  /// Declares that other processes must close this memory before it ends, as memory and events of
  /// GPUs require; a violation is then detected.
  void ends_behind_openers() { ends_behind_openers_ = true; }

 private:
  static constexpr std::int64_t front_bytes = 4096;

  /// What lies before the bytes.
  struct Front {
    std::uint64_t nonce = 0;
    std::atomic<std::int64_t> openers{0};  ///< other processes, once for each time
  };
  [[nodiscard]] Front& front() const { return *reinterpret_cast<Front*>(base_); }

  [[nodiscard]] std::size_t mapped_bytes() const {
    return static_cast<std::size_t>(front_bytes + name_.size_bytes);
  }
  void map(int descriptor);

  Name name_;
  int own_descriptor_ = -1;
  std::byte* base_ = nullptr;
  bool ends_behind_openers_ = false;
};

}  // namespace tessera::emulated
