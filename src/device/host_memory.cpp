#include "src/device/host_memory.hpp"

#include <cstdlib>
#include <limits>
#include <utility>

#include <sys/mman.h>

#include "tessera/base/error.hpp"

#include "src/base/text.hpp"

namespace tessera {
namespace {

constexpr std::int64_t small_alignment = 64;
constexpr std::int64_t huge_page = std::int64_t{2} << 20;
constexpr std::int64_t least_huge = std::int64_t{4} << 20;
// Leaves room for rounding up and aligning; no machine has this much memory.
constexpr std::int64_t most = std::numeric_limits<std::int64_t>::max() - 2 * huge_page;

constexpr std::int64_t round_up(std::int64_t bytes, std::int64_t unit) {
  return (bytes + unit - 1) / unit * unit;
}

constexpr std::size_t length(std::int64_t bytes) {
  return static_cast<std::size_t>(bytes);
}

constexpr std::int64_t page = 4096;

std::byte* allocate_small(std::int64_t bytes) {
  return static_cast<std::byte*>(
      std::aligned_alloc(length(small_alignment), length(round_up(bytes, small_alignment))));
}

/// Maps one huge page more than needed and unmaps the ends, so that the rest begins on a huge page.
std::byte* allocate_huge(std::int64_t bytes) {
  auto const kept = round_up(bytes, page);
  void* mapped = ::mmap(nullptr, length(kept + huge_page), PROT_READ | PROT_WRITE,
                        MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (mapped == MAP_FAILED) return nullptr;
  auto* const start = static_cast<std::byte*>(mapped);
  auto const past = static_cast<std::int64_t>(reinterpret_cast<std::uintptr_t>(start) %
                                              static_cast<std::uintptr_t>(huge_page));
  auto const before = past == 0 ? 0 : huge_page - past;
  if (before > 0) ::munmap(start, length(before));
  if (before < huge_page) ::munmap(start + before + kept, length(huge_page - before));
  // Only advice: without huge pages the memory works all the same.
  ::madvise(start + before, length(kept), MADV_HUGEPAGE);
  return start + before;
}

std::byte* allocate(std::int64_t bytes) {
  if (bytes < 0 || bytes > most) return nullptr;
  return bytes < least_huge ? allocate_small(bytes) : allocate_huge(bytes);
}

}  // namespace

HostMemory::HostMemory(std::int64_t size_bytes) {
  if (size_bytes == 0) return;
  data_ = allocate(size_bytes);
  if (data_ == nullptr)
    throw DeviceError(text("a host device cannot have ", size_bytes, " bytes (",
                           bytes_text(size_bytes), ") of memory"));
  size_bytes_ = size_bytes;
  poison(data_, size_bytes_);
}

HostMemory HostMemory::borrowed(std::byte* data, std::int64_t size_bytes) {
  HostMemory memory;
  memory.data_ = data;
  memory.size_bytes_ = size_bytes;
  memory.is_borrowed_ = true;
  return memory;
}

HostMemory::~HostMemory() {
  release();
}

HostMemory::HostMemory(HostMemory&& other) noexcept
    : data_(std::exchange(other.data_, nullptr)),
      size_bytes_(std::exchange(other.size_bytes_, 0)),
      is_borrowed_(std::exchange(other.is_borrowed_, false)) {}

HostMemory& HostMemory::operator=(HostMemory&& other) noexcept {
  if (this == &other) return *this;
  release();
  data_ = std::exchange(other.data_, nullptr);
  size_bytes_ = std::exchange(other.size_bytes_, 0);
  is_borrowed_ = std::exchange(other.is_borrowed_, false);
  return *this;
}

void HostMemory::release() noexcept {
  if (is_borrowed_) return;
  if (size_bytes_ < least_huge)
    std::free(data_);
  else
    ::munmap(data_, length(round_up(size_bytes_, page)));
}

}  // namespace tessera
