#include "src/runtime/array_allocator.hpp"

#include <exception>
#include <utility>

#include "tessera/base/error.hpp"

#include "src/base/text.hpp"
#include "src/device/device_limit.hpp"
#include "src/plan/ghost.hpp"

namespace tessera {

void ArrayAllocator::check_devices(Layout const& layout) const {
  auto const last = layout.mesh().last_device().value();
  if (last < job_.device_count()) return;
  throw ShardingError(text(
      "the mesh names device ", last, " but the job has ", counted(job_.device_count(), "device"),
      ", 0 to ", job_.device_count() - 1, "; ask device_count() or start more processes"));
}

std::shared_ptr<ArrayState> ArrayAllocator::make_array(std::shared_ptr<Layout const> layout,
                                                       std::int64_t element_bytes) {
  check_devices(*layout);
  // A shard beyond any address space is the caller's mistake: every process detects it alike.
  auto const largest = whole(layout->sharding().shard_shape(layout->shape()));
  (void)PaddedShardLayout::around(largest, GhostWidths::none(largest.rank()), element_bytes);
  auto const number = ++count_;
  if (auto again = arrays_.take(*layout, element_bytes, number)) return again;
  try {
    auto const bytes = bytes_on_host(*layout, element_bytes, devices_.devices());
    if (bytes > 0 && lacking_host_memory(bytes)) {
      devices_.synchronize();  // statements that have not run yet keep arrays that they free then
      arrays_.release_idle();
      check_host_memory(bytes);
    }
    auto made =
        std::make_shared<ArrayState>(std::move(layout), element_bytes, number, devices_.devices());
    made->set_runtime(runtime_);
    arrays_.add(made);
    return made;
  } catch (DeviceError const&) {
    failures_.give_up_in_job(std::current_exception());  // memory that only this process lacks
    throw;
  }
}

std::shared_ptr<ArrayState> ArrayAllocator::adopt_array(std::shared_ptr<Layout const> layout,
                                                        std::int64_t element_bytes,
                                                        std::span<BorrowedBox const> borrowed) {
  check_devices(*layout);
  auto made = std::make_shared<ArrayState>(std::move(layout), element_bytes, ++count_,
                                           devices_.devices(), borrowed);
  made->set_runtime(runtime_);
  return made;
}

bool ArrayAllocator::is_reachable(DeviceId device, std::byte const* address) const {
  return devices_.context(device).queue()->owns(address);
}

std::shared_ptr<ScalarState> ArrayAllocator::make_scalar() {
  auto made = scalars_.make(++count_);
  made->set_runtime(runtime_);
  return made;
}

void ArrayAllocator::grow_ghost_cells(ArrayState& array, GhostWidths const& widths) {
  if (array.widths().covers(widths)) return;
  failures_.guarded([&] {
    devices_.synchronize();
    array.grow(widths);
  });
}

std::int64_t ArrayAllocator::reference_count(std::shared_ptr<ArrayState> const& array) {
  failures_.guarded([&] { devices_.synchronize(); });
  return array.use_count() - (arrays_.holds(array) ? 1 : 0);
}

std::int64_t ArrayAllocator::reference_count(std::shared_ptr<ScalarState> const& scalar) {
  failures_.guarded([&] { devices_.synchronize(); });
  return scalar.use_count() - (scalars_.holds(scalar) ? 1 : 0);
}

}  // namespace tessera
