#include "src/device/emulated/shared_bytes.hpp"

#include <cerrno>
#include <cstring>
#include <new>
#include <random>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tessera/base/error.hpp"
#include "tessera/detail/base/assert.hpp"

#include "src/base/text.hpp"

namespace tessera::emulated {

SharedBytes::SharedBytes(std::int64_t size_bytes) {
  std::random_device random;
  name_ = {::getpid(), -1, std::uint64_t{random()} << 32U | random(), size_bytes};
  own_descriptor_ = ::memfd_create("tessera-gpu", MFD_CLOEXEC);
  if (own_descriptor_ < 0 ||
      ::ftruncate(own_descriptor_, static_cast<off_t>(mapped_bytes())) != 0) {
    if (own_descriptor_ >= 0) ::close(own_descriptor_);
    throw DeviceError(text("no memory for emulated GPUs to share: ", std::strerror(errno)));
  }
  name_.descriptor = own_descriptor_;
  map(own_descriptor_);
  ::new (base_) Front{name_.nonce};
}

SharedBytes::SharedBytes(Name const& name) : name_(name) {
  auto const path = text("/proc/", name.process, "/fd/", name.descriptor);
  int const descriptor = ::open(path.c_str(), O_RDWR | O_CLOEXEC);
  if (descriptor < 0)
    throw DeviceError(
        text("memory of another process cannot be opened: ", path, ": ", std::strerror(errno)));
  struct stat status {};
  bool const is_it = ::fstat(descriptor, &status) == 0 && S_ISREG(status.st_mode) &&
                     status.st_size == static_cast<off_t>(mapped_bytes());
  if (is_it) map(descriptor);
  ::close(descriptor);
  if (is_it && front().nonce == name.nonce) {
    ++front().openers;
    return;
  }
  if (base_ != nullptr) ::munmap(base_, mapped_bytes());
  throw DeviceError(text(path, " is not the memory that was offered"));
}

SharedBytes::~SharedBytes() {
  bool const is_own = own_descriptor_ >= 0;
  TESSERA_ASSERT(!is_own || !ends_behind_openers_ || front().openers == 0,
                 "memory or an event of a GPU ends, which another process has open");
  if (!is_own) --front().openers;
  ::munmap(base_, mapped_bytes());
  if (own_descriptor_ >= 0) ::close(own_descriptor_);
}

void SharedBytes::map(int descriptor) {
  void* const base =
      ::mmap(nullptr, mapped_bytes(), PROT_READ | PROT_WRITE, MAP_SHARED, descriptor, 0);
  if (base != MAP_FAILED) {
    base_ = static_cast<std::byte*>(base);
    return;
  }
  int const error = errno;
  ::close(descriptor);
  throw DeviceError(text("memory of emulated GPUs cannot be mapped: ", std::strerror(error)));
}

}  // namespace tessera::emulated
