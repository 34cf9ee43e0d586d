#include "src/ops/products/product_price.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <cstddef>
#include <iterator>
#include <set>

#include "src/index/index.hpp"

namespace tessera {
namespace {

// On how many hosts the devices along an axis are.
std::int64_t hosts_along(Mesh const& mesh, std::size_t axis, MemberHosts const& hosts) {
  auto const size = mesh.axes()[axis].size;
  if (size == 1) return 1;
  Index second(mesh.rank(), 0);
  second[axis] = 1;
  auto const stride = mesh.position(second);
  // The devices of longer axes are taken for consecutive.
  constexpr std::int64_t most_visited = 1 << 12;
  if (size > most_visited)
    return stride >= hosts.per_host ? size : ceil_div(size * stride, hosts.per_host);
  std::set<std::int64_t> found;
  for (std::int64_t i = 0; i < size; ++i)
    found.insert(hosts.host_of(mesh.device_at(i * stride).value()));
  return std::ssize(found);
}

}  // namespace

AxisParts AxisParts::of_devices(Mesh const& mesh) {
  AxisParts result(mesh);
  for (auto const& axis : mesh.axes()) result.parts_.push_back(axis.size);
  return result;
}

AxisParts AxisParts::of_hosts(Mesh const& mesh, MemberHosts const& hosts) {
  AxisParts result(mesh);
  for (std::size_t a = 0; a < mesh.rank(); ++a)
    result.parts_.push_back(hosts.count() == 1 ? 1 : hosts_along(mesh, a, hosts));
  return result;
}

std::int64_t AxisParts::along(AxisNames const& axes) const {
  std::int64_t parts = 1;
  for (auto const& name : axes) parts *= along(name);
  return parts;
}

std::int64_t AxisParts::along_either(AxisNames const& one, AxisNames const& other) const {
  return along(one) * along(without(other, one));
}

namespace {

// The cells of a part of an extent: an equal share, but at least one.
double piece(std::int64_t extent, std::int64_t parts) {
  return extent == 0 ? 0 : std::max(1.0, static_cast<double>(extent) / static_cast<double>(parts));
}

// The bytes that move under a plan. They are those of a device, or those of a host as a whole, by
// the parts that the mesh axes make.
class Bytes {
  struct Part;

 public:
  Bytes(ProductSizes const& sizes, ProductPlan const& plan, AxisParts const& parts)
      : sizes_(sizes), plan_(plan), parts_(parts) {}

  // The cells of an operand that are multiplied here, and those of them that others own.
  [[nodiscard]] double needed_of_a() const { return needed(&PlannedLabel::in_a); }
  [[nodiscard]] double needed_of_b() const { return needed(&PlannedLabel::in_b); }
  [[nodiscard]] double received_of_a() const { return part_of_a().lacked(); }
  [[nodiscard]] double received_of_b() const { return part_of_b().lacked(); }

  [[nodiscard]] double received() const {
    auto bytes = parts_.along(plan_.relay) > 1 ? sums() : 0;
    for (auto const& part : all_parts()) bytes += part.lacked();
    return bytes;
  }
  // The messages in which these bytes arrive, but for sums that pass along a relay: as many as
  // there are devices that own an equal share of what is lacked.
  [[nodiscard]] double messages() const {
    double messages = 0;
    auto const others = static_cast<double>(std::max<std::int64_t>(sizes_.mesh.size() - 1, 1));
    for (auto const& part : all_parts())
      if (part.lacked() > 0)
        messages += part.owned > 0 ? std::clamp(std::ceil(part.lacked() / part.owned), 1.0, others)
                                   : others;
    return messages;
  }

  // The sums of all cells that are computed here.
  [[nodiscard]] double sums() const {
    auto bytes = static_cast<double>(sizes_.cell_bytes);
    for (std::size_t l = 0; l < plan_.axes.size(); ++l)
      bytes *= piece(sizes_.labels[l].extent, parts_.along(plan_.axes[l]));
    return bytes;
  }

 private:
  // The axes that cut a label of the work.
  [[nodiscard]] AxisNames const& work_axes(std::size_t l) const {
    static AxisNames const no_axes;
    if (l < plan_.axes.size()) return plan_.axes[l];
    return is_relayed(l) ? plan_.relay : no_axes;
  }
  [[nodiscard]] bool is_relayed(std::size_t l) const { return l == plan_.axes.size(); }

  [[nodiscard]] double needed(bool PlannedLabel::*in) const {
    auto bytes = static_cast<double>(sizes_.cell_bytes);
    for (std::size_t l = 0; l < sizes_.labels.size(); ++l)
      if (sizes_.labels[l].*in) bytes *= piece(sizes_.labels[l].extent, parts_.along(work_axes(l)));
    return bytes;
  }
  // What a label says of one array.
  struct Array {
    bool PlannedLabel::*has_label;
    AxisNames PlannedLabel::*axes;
    bool PlannedLabel::*is_scattered;
  };
  static constexpr Array target{&PlannedLabel::in_target, &PlannedLabel::axes_target,
                                &PlannedLabel::scattered_target};

  // The bytes that the work needs of an array, and those of them that a device owns.
  struct Part {
    double needed = 0;
    double owned = 0;
    [[nodiscard]] double lacked() const { return std::max(0.0, needed - owned); }
  };
  [[nodiscard]] Part part_of(Array const& array, bool on_mesh) const {
    auto owned = on_mesh ? static_cast<double>(sizes_.cell_bytes) : 0.0;
    for (std::size_t l = 0; l < sizes_.labels.size(); ++l)
      if (sizes_.labels[l].*array.has_label) owned *= owned_along(l, array);
    return {needed(array.has_label), owned};
  }
  [[nodiscard]] Part part_of_a() const {
    return part_of({&PlannedLabel::in_a, &PlannedLabel::axes_a, &PlannedLabel::scattered_a},
                   sizes_.a_on_mesh);
  }
  [[nodiscard]] Part part_of_b() const {
    return part_of({&PlannedLabel::in_b, &PlannedLabel::axes_b, &PlannedLabel::scattered_b},
                   sizes_.b_on_mesh);
  }
  [[nodiscard]] std::array<Part, 4> all_parts() const {
    return {part_of_a(), part_of_b(), way_home(), sizes_.adds ? part_of(target, true) : Part()};
  }
  // How many indices of a label both the work and the array have on a device.
  [[nodiscard]] double owned_along(std::size_t l, Array const& array) const {
    auto const& label = sizes_.labels[l];
    bool const is_scattered_work = is_in_place_ && label.scattered_target;
    bool const is_alike = is_relayed(l) || label.*array.is_scattered == is_scattered_work;
    auto const& axes = label.*array.axes;
    auto const parts = is_alike ? parts_.along_either(work_axes(l), axes)
                                : parts_.along(work_axes(l)) * parts_.along(axes);
    return static_cast<double>(label.extent) / static_cast<double>(parts);
  }

  // The cells of the target that are computed elsewhere. The last device of a relay has all sums,
  // so that every other one receives all its cells.
  [[nodiscard]] Part way_home() const {
    if (is_in_place_) return {};
    auto all = static_cast<double>(sizes_.cell_bytes);
    auto computed = parts_.along(plan_.relay) > 1 ? 0.0 : all;
    for (std::size_t l = 0; l < plan_.axes.size(); ++l) {
      auto const& label = sizes_.labels[l];
      all *= piece(label.extent, parts_.along(label.axes_target));
      computed *= owned_along(l, target);
    }
    return {all, computed};
  }

  ProductSizes const& sizes_;
  ProductPlan const& plan_;
  AxisParts const& parts_;
  bool is_in_place_ = plan_.is_in_place(sizes_);
};

double multiplications_of(ProductSizes const& sizes, ProductPlan const& plan) {
  double count = 1;
  for (std::size_t l = 0; l < sizes.labels.size(); ++l) {
    bool const is_whole = l > plan.axes.size();
    auto const& axes = l < plan.axes.size() ? plan.axes[l] : plan.relay;
    count *= piece(sizes.labels[l].extent, is_whole ? 1 : devices_along(sizes.mesh, axes));
  }
  return count;
}

// The chunks of a relay; else 1.
double chunks_of(ProductSizes const& sizes, ProductPlan const& plan) {
  if (plan.relay.empty() || sizes.adds_parts) return 1;
  auto const chunked = plan.chunked_label(sizes);
  auto const longest = chunked ? sizes.labels[*chunked].extent : 1;
  return static_cast<double>(relay_chunks(devices_along(sizes.mesh, plan.relay), longest));
}

// How much longer the devices of a relay take because they wait for the first chunk.
double turns_of(ProductSizes const& sizes, ProductPlan const& plan) {
  if (sizes.adds_parts) return 1;
  auto const chunks = chunks_of(sizes, plan);
  return (chunks + static_cast<double>(devices_along(sizes.mesh, plan.relay)) - 1) / chunks;
}

// Each chunk of a relay reads its own part of operands with the chunked label, and all of others.
double read_cells_of(ProductSizes const& sizes, ProductPlan const& plan, Bytes const& bytes) {
  auto const chunked = plan.chunked_label(sizes);
  auto const chunks = chunks_of(sizes, plan);
  auto const times = [&](bool PlannedLabel::*in) {
    return chunked && sizes.labels[*chunked].*in ? 1.0 : chunks;
  };
  return (times(&PlannedLabel::in_a) * bytes.needed_of_a() +
          times(&PlannedLabel::in_b) * bytes.needed_of_b()) /
         static_cast<double>(sizes.cell_bytes);
}

}  // namespace

ProductPrice ProductPrices::of(ProductPlan const& plan) const {
  auto const& costs = sizes_.machine.costs;
  ProductPrice price;
  price.multiplications = multiplications_of(sizes_, plan);
  Bytes const bytes(sizes_, plan, devices_);
  price.read_cells = read_cells_of(sizes_, plan, bytes);
  price.received_bytes = bytes.received();
  price.messages = bytes.messages() + (plan.relay.empty() ? 0 : chunks_of(sizes_, plan));
  if (sizes_.machine.hosts.count() > 1)
    price.network_bytes = Bytes(sizes_, plan, hosts_).received();
  price.turns = turns_of(sizes_, plan);
  price.seconds =
      price.turns *
      (price.multiplications / costs.multiplications + price.read_cells / costs.read_cells +
       price.received_bytes / costs.received_bytes + price.messages / costs.messages +
       price.network_bytes / costs.network_bytes);
  return price;
}

AxisRoles ProductPlan::roles(Mesh const& mesh) const {
  AxisRoles roles;
  for (auto const& axis : mesh.axes()) {
    if (axis.size == 1) continue;
    auto role = contains(relay, axis.name) ? cuts_terms : computes_copies;
    for (std::size_t d = 0; d < axes.size(); ++d)
      if (contains(axes[d], axis.name)) role = static_cast<AxisRole>(d);
    roles.add(axis.name, role);
  }
  return roles;
}

bool ProductPlan::is_in_place(ProductSizes const& sizes) const {
  if (!relay.empty() || !sizes.may_stay_in_target) return false;
  for (std::size_t d = 0; d < axes.size(); ++d)
    if (axes[d] != sizes.labels[d].axes_target) return false;
  return true;
}

std::optional<std::size_t> ProductPlan::chunked_label(ProductSizes const& sizes) const {
  std::optional<std::size_t> longest;
  for (std::size_t d = 0; d < axes.size(); ++d)
    if (axes[d].empty() && (!longest || sizes.labels[d].extent > sizes.labels[*longest].extent))
      longest = d;
  return longest;
}

bool ProductPlan::gathers_a(ProductSizes const& sizes) const {
  return !sizes.a_on_mesh ||
         Bytes(sizes, *this, AxisParts::of_devices(sizes.mesh)).received_of_a() > 0;
}
bool ProductPlan::gathers_b(ProductSizes const& sizes) const {
  return !sizes.b_on_mesh ||
         Bytes(sizes, *this, AxisParts::of_devices(sizes.mesh)).received_of_b() > 0;
}
std::int64_t ProductPlan::gathered_bytes(ProductSizes const& sizes) const {
  auto const devices = AxisParts::of_devices(sizes.mesh);
  Bytes const bytes(sizes, *this, devices);
  return static_cast<std::int64_t>((gathers_a(sizes) ? bytes.needed_of_a() : 0) +
                                   (gathers_b(sizes) ? bytes.needed_of_b() : 0));
}

std::int64_t ProductPlan::sum_bytes(ProductSizes const& sizes) const {
  auto const devices = AxisParts::of_devices(sizes.mesh);
  return static_cast<std::int64_t>(Bytes(sizes, *this, devices).sums());
}

std::int64_t relay_chunks(std::int64_t devices, std::int64_t extent) {
  // A device waits for devices - 1 chunks of up to eight times as many. But each chunk reads all of
  // the other operand once more, so it should not be thin.
  constexpr std::int64_t fewest_cells = 64;
  return std::clamp<std::int64_t>(extent / fewest_cells, 1, 8 * devices);
}

}  // namespace tessera
