#include "src/device/emulated/memory.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include <sys/mman.h>

#include "tessera/base/error.hpp"
#include "tessera/detail/base/assert.hpp"

namespace tessera::emulated {
namespace {

constexpr std::int64_t alignment = 256;
constexpr std::int64_t page = 4096;
constexpr std::int64_t arena_bytes = std::int64_t{32} << 30;

// Reserves addresses that cannot be read.
std::byte* reserve(std::int64_t size_bytes) {
  void* const range = ::mmap(nullptr, static_cast<std::size_t>(size_bytes), PROT_NONE,
                             MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (range == MAP_FAILED) throw DeviceError("no addresses for the memory of an emulated GPU");
  return static_cast<std::byte*>(range);
}

}  // namespace

Arena::Arena() : told_(reserve(arena_bytes)), reached_(reserve(arena_bytes)) {}

Arena::~Arena() {
  ::munmap(told_, static_cast<std::size_t>(arena_bytes));
  ::munmap(reached_, static_cast<std::size_t>(arena_bytes));
}

std::byte* Arena::allocate(std::int64_t bytes) {
  if (bytes < 0 || bytes > arena_bytes) return nullptr;
  // A gap between blocks, so that accesses past a block's end also fail.
  auto const length = (bytes + alignment - 1) / alignment * alignment + alignment;
  std::lock_guard const guard(mutex_);
  auto free = std::find_if(free_.begin(), free_.end(),
                           [&](auto const& block) { return block.second >= length; });
  if (free == free_.end() && arena_bytes - used_ < length) return nullptr;
  std::int64_t at = used_;
  if (free == free_.end()) {
    used_ += length;
    make_reachable(used_);
  } else {
    at = free->first;
    if (free->second > length) free_[at + length] = free->second - length;
    free_.erase(at);
  }
  lengths_[at] = length;
  return told_ + at;
}

void Arena::release(std::byte const* memory) {
  std::lock_guard const guard(mutex_);
  auto const block = lengths_.extract(memory - told_);
  TESSERA_ASSERT(!block.empty(), "memory that the GPU did not give");
  auto [at, length] = std::pair(block.key(), block.mapped());
  auto const next = free_.lower_bound(at);
  if (next != free_.end() && next->first == at + length) {
    length += next->second;
    free_.erase(next);
  }
  auto const before = free_.lower_bound(at);
  if (before != free_.begin() && std::prev(before)->first + std::prev(before)->second == at)
    std::prev(before)->second += length;
  else
    free_[at] = length;
}

bool Arena::holds(std::byte const* address) const {
  return address >= told_ && address < told_ + arena_bytes;
}

std::byte* Arena::reach(std::byte const* address) const {
  TESSERA_ASSERT(holds(address), "an address that is none of the GPU");
  return reached_ + (address - told_);
}

void Arena::make_reachable(std::int64_t bytes) {
  constexpr std::int64_t step = 1024 * page;
  auto const wanted = (bytes + step - 1) / step * step;
  if (wanted <= reachable_) return;
  if (::mprotect(reached_ + reachable_, static_cast<std::size_t>(wanted - reachable_),
                 PROT_READ | PROT_WRITE) != 0)
    throw DeviceError("no memory for an emulated GPU");
  reachable_ = wanted;
}

std::byte* Memory::tell(Range const& range) {
  auto* const told = reserve(range.size_bytes);
  std::lock_guard const guard(mutex_);
  ranges_[told] = range;
  return told;
}

void Memory::forget(std::byte const* told) {
  std::lock_guard const guard(mutex_);
  auto const found = ranges_.find(told);
  ::munmap(const_cast<std::byte*>(told), static_cast<std::size_t>(found->second.size_bytes));
  ranges_.erase(found);
}

std::optional<std::size_t> Memory::gpu_of(std::byte const* address) const {
  for (std::size_t gpu = 0; gpu < gpu_count; ++gpu)
    if (arenas_[gpu].holds(address)) return gpu;
  if (auto const range = range_at(address)) return range->gpu;
  return std::nullopt;
}

std::byte* Memory::reach(std::byte const* address) const {
  for (auto const& arena : arenas_)
    if (arena.holds(address)) return arena.reach(address);
  if (auto const range = range_at(address)) return range->reached;
  return const_cast<std::byte*>(address);
}

// The part of a range that begins at an address.
std::optional<Range> Memory::range_at(std::byte const* address) const {
  std::lock_guard const guard(mutex_);
  auto const next = ranges_.upper_bound(address);
  if (next == ranges_.begin()) return std::nullopt;
  auto const& [told, range] = *std::prev(next);
  auto const at = address - told;
  if (at >= range.size_bytes) return std::nullopt;
  return Range{range.gpu, range.reached + at, range.size_bytes - at};
}

}  // namespace tessera::emulated
