#include "src/runtime/allocation.hpp"

#include <utility>

#include "tessera/base/error.hpp"

#include "src/base/text.hpp"
#include "src/plan/ghost.hpp"
#include "src/plan/recent_plans.hpp"
#include "src/runtime/array_allocator.hpp"
#include "src/runtime/engine.hpp"

namespace tessera::detail {
namespace {

struct LayoutKey {
  NamedSharding sharding;
  Shape shape;

  friend bool operator==(LayoutKey const&, LayoutKey const&) = default;
};

}  // namespace

std::shared_ptr<Layout const> recent_layout(NamedSharding const& sharding, Shape const& shape) {
  static RecentPlans<LayoutKey, Layout> layouts;
  return layouts.plan_for({sharding, shape}, [&] { return Layout(sharding, shape); });
}

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

std::uint64_t newest_number() {
  return engine().arrays().newest_number();
}

void refuse_other_runtime(ArrayModel const& array) {
  (void)job();  // if there is no Runtime at all, it says so
  throw UsageError(text("an array of shape ", array.layout()->shape(),
                        " was made in a Runtime that has ended, and its cells lie on the devices "
                        "of that one; read it with to_host() before its Runtime ends, and make a "
                        "new array of the cells with from_host() in this one"));
}

void refuse_other_runtime(ScalarModel const& /*scalar*/) {
  (void)job();
  throw UsageError(
      "the value of a reduction belongs to a Runtime that has ended; call value() before that "
      "Runtime ends");
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
