#include "src/runtime/allocation.hpp"

#include <utility>

#include "src/plan/ghost.hpp"
#include "src/runtime/array_allocator.hpp"
#include "src/runtime/engine.hpp"

namespace tessera::detail {

std::shared_ptr<ArrayState> make_array(std::shared_ptr<Layout const> layout,
                                       std::int64_t element_bytes) {
  return engine().arrays().make_array(std::move(layout), element_bytes);
}

std::shared_ptr<ArrayState> adopt_array(std::shared_ptr<Layout const> layout,
                                        std::int64_t element_bytes,
                                        std::span<BorrowedBox const> borrowed) {
  return engine().arrays().adopt_array(std::move(layout), element_bytes, borrowed);
}

bool is_reachable(DeviceId device, std::byte const* address) {
  return engine().arrays().is_reachable(device, address);
}

std::shared_ptr<ScalarState> make_scalar() {
  return engine().arrays().make_scalar();
}

void grow_ghost_cells(ArrayState& array, GhostWidths const& widths) {
  engine().arrays().grow_ghost_cells(array, widths);
}

std::int64_t reference_count(std::shared_ptr<ArrayState> const& array) {
  return engine().arrays().reference_count(array);
}

std::int64_t reference_count(std::shared_ptr<ScalarState> const& scalar) {
  return engine().arrays().reference_count(scalar);
}

}  // namespace tessera::detail
