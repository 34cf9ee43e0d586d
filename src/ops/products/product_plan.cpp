#include "src/ops/products/product_plan.hpp"

#include <algorithm>
#include <cstddef>
#include <iterator>
#include <limits>
#include <set>
#include <utility>
#include <vector>

#include "src/index/index.hpp"
#include "src/kernels/products/product.hpp"
#include "src/mesh/axes.hpp"

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

// Into how many parts mesh axes cut something: one for each device along them, or for each host.
class Ways {
 public:
  static Ways over_devices(Mesh const& mesh) {
    Ways ways(mesh);
    for (auto const& axis : mesh.axes()) ways.parts_.push_back(axis.size);
    return ways;
  }
  static Ways over_hosts(Mesh const& mesh, MemberHosts const& hosts) {
    Ways ways(mesh);
    for (std::size_t a = 0; a < mesh.rank(); ++a)
      ways.parts_.push_back(hosts.count() == 1 ? 1 : hosts_along(mesh, a, hosts));
    return ways;
  }

  [[nodiscard]] std::int64_t along(std::string const& axis) const {
    return parts_[mesh_.axis(axis)];
  }
  [[nodiscard]] std::int64_t along(AxisNames const& axes) const {
    std::int64_t ways = 1;
    for (auto const& name : axes) ways *= along(name);
    return ways;
  }
  // Along the axes of either list.
  [[nodiscard]] std::int64_t along_both(AxisNames const& one, AxisNames const& other) const {
    return along(one) * along(without(other, one));
  }

 private:
  explicit Ways(Mesh const& mesh) : mesh_(mesh) {}

  Mesh const& mesh_;
  std::vector<std::int64_t> parts_;  // by axis
};

double piece(std::int64_t extent, std::int64_t ways) {
  return extent == 0 ? 0 : std::max(1.0, static_cast<double>(extent) / static_cast<double>(ways));
}

// The bytes that move for one choice: those of a device, or of a host as a whole.
class Bytes {
 public:
  Bytes(ProductSizes const& sizes, ProductPlan const& plan, Ways const& ways)
      : sizes_(sizes), plan_(plan), ways_(ways) {}

  // Cells of an operand that are multiplied, and those of them that are owned by others.
  [[nodiscard]] double needed_of_a() const { return needed(&PlannedLabel::in_a); }
  [[nodiscard]] double needed_of_b() const { return needed(&PlannedLabel::in_b); }
  [[nodiscard]] double received_of_a() const {
    return received(&PlannedLabel::in_a, &PlannedLabel::axes_a, sizes_.a_on_mesh);
  }
  [[nodiscard]] double received_of_b() const {
    return received(&PlannedLabel::in_b, &PlannedLabel::axes_b, sizes_.b_on_mesh);
  }

  [[nodiscard]] double received() const {
    auto bytes = received_of_a() + received_of_b() + way_home();
    if (ways_.along(plan_.relay) > 1) bytes += sums();
    if (sizes_.adds) bytes += received(&PlannedLabel::in_target, &PlannedLabel::axes_target, true);
    return bytes;
  }

 private:
  // The axes that cut a label where the work is done.
  [[nodiscard]] AxisNames const& work_axes(std::size_t l) const {
    static AxisNames const no_axes;
    if (l < plan_.axes.size()) return plan_.axes[l];
    return is_relayed(l) ? plan_.relay : no_axes;
  }
  [[nodiscard]] bool is_relayed(std::size_t l) const { return l == plan_.axes.size(); }

  [[nodiscard]] double needed(bool PlannedLabel::*in) const {
    auto bytes = static_cast<double>(sizes_.cell_bytes);
    for (std::size_t l = 0; l < sizes_.labels.size(); ++l)
      if (sizes_.labels[l].*in) bytes *= piece(sizes_.labels[l].extent, ways_.along(work_axes(l)));
    return bytes;
  }
  [[nodiscard]] double received(bool PlannedLabel::*in, AxisNames PlannedLabel::*axes,
                                bool on_mesh) const {
    auto owned = on_mesh ? static_cast<double>(sizes_.cell_bytes) : 0.0;
    for (std::size_t l = 0; l < sizes_.labels.size(); ++l) {
      auto const& label = sizes_.labels[l];
      if (label.*in)
        owned *= static_cast<double>(label.extent) /
                 static_cast<double>(ways_.along_both(work_axes(l), label.*axes));
    }
    return std::max(0.0, needed(in) - owned);
  }

  // Sums that pass along a relay.
  [[nodiscard]] double sums() const {
    auto bytes = static_cast<double>(sizes_.cell_bytes);
    for (std::size_t l = 0; l < plan_.axes.size(); ++l)
      bytes *= piece(sizes_.labels[l].extent, ways_.along(plan_.axes[l]));
    return bytes;
  }

  // Cells of the target that are computed elsewhere: of a relay all, on all devices but the last.
  [[nodiscard]] double way_home() const {
    if (plan_.is_in_place(sizes_)) return 0;
    auto target = static_cast<double>(sizes_.cell_bytes);
    auto computed = ways_.along(plan_.relay) > 1 ? 0.0 : target;
    for (std::size_t l = 0; l < plan_.axes.size(); ++l) {
      auto const& label = sizes_.labels[l];
      target *= piece(label.extent, ways_.along(label.axes_target));
      computed *= static_cast<double>(label.extent) /
                  static_cast<double>(ways_.along_both(label.axes_target, plan_.axes[l]));
    }
    return std::max(0.0, target - computed);
  }

  ProductSizes const& sizes_;
  ProductPlan const& plan_;
  Ways const& ways_;
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

// Devices of a relay wait for the first chunk.
double turns_of(ProductSizes const& sizes, ProductPlan const& plan) {
  if (plan.relay.empty()) return 1;
  auto const devices = devices_along(sizes.mesh, plan.relay);
  auto const chunked = plan.chunked_label(sizes);
  auto const longest = chunked ? sizes.labels[*chunked].extent : 1;
  auto const chunks = static_cast<double>(relay_chunks(devices, longest));
  return (chunks + static_cast<double>(devices) - 1) / chunks;
}

// Tries roles for the axes of the mesh.
class Search {
 public:
  explicit Search(ProductSizes const& sizes) : sizes_(sizes) {
    for (auto const& label : sizes.labels) {
      if (!label.in_target) break;
      own_place_.axes.push_back(label.axes_target);
    }
    own_place_.price = price_of(own_place_);
    best_ = own_place_;
    auto const& axes = sizes.mesh.axes();
    for (std::size_t a = 0; a < axes.size(); ++a)
      if (axes[a].size > 1) wide_.push_back(a);
    for (auto const& name : sizes.labels.back().axes_a)
      if (devices_.along(name) > 1) wide_terms_.push_back(name);
    roles_.assign(wide_.size(), copies);
  }

  [[nodiscard]] ProductPlan run() {
    // The combinations are as many as roles to the power of axes.
    constexpr std::size_t most_axes = 4;
    if (wide_.size() <= most_axes)
      try_all(0);
    else
      descend_from_starts();
    return best_;
  }

 private:
  // A role is the number of the dimension that the axis cuts, or one of these.
  static constexpr int copies = -1;
  static constexpr int relayed = -2;

  [[nodiscard]] std::string const& name(std::size_t wide) const {
    return sizes_.mesh.axes()[wide_[wide]].name;
  }

  template <class Visit>
  void visit_roles(std::size_t wide, Visit const& visit) const {
    visit(copies);
    for (std::size_t d = 0; d < own_place_.axes.size(); ++d)
      if (sizes_.labels[d].extent > 1) visit(static_cast<int>(d));
    if (may_relay(wide)) visit(relayed);
  }

  // Terms of several labels are not cut, since blocks count across them.
  [[nodiscard]] bool may_relay(std::size_t wide) const {
    auto const& terms = sizes_.labels.back();
    bool const is_one = sizes_.labels.size() - own_place_.axes.size() == 1;
    return sizes_.may_cut_terms && is_one && terms.extent > block_of_terms &&
           contains(terms.axes_a, name(wide)) && contains(terms.axes_b, name(wide));
  }

  void try_all(std::size_t wide) {
    if (wide == wide_.size()) return offer();
    visit_roles(wide, [&](int role) {
      roles_[wide] = role;
      try_all(wide + 1);
    });
  }

  // From the target's own place, and from there with all axes relayed that cut the terms.
  void descend_from_starts() {
    for (bool const is_relayed : {false, true}) {
      for (std::size_t w = 0; w < wide_.size(); ++w)
        roles_[w] = is_relayed && may_relay(w) ? relayed : role_in_own_place(w);
      descend();
      offer();
    }
  }
  [[nodiscard]] int role_in_own_place(std::size_t wide) const {
    for (std::size_t d = 0; d < own_place_.axes.size(); ++d)
      if (contains(own_place_.axes[d], name(wide))) return static_cast<int>(d);
    return copies;
  }
  // Each round takes axes · roles prices, and the price falls from round to round.
  void descend() {
    constexpr int most_rounds = 8;
    auto least = seconds();
    for (int round = 0; round < most_rounds; ++round) {
      auto const before = roles_;
      for (std::size_t w = 0; w < wide_.size(); ++w) {
        auto best = roles_[w];
        visit_roles(w, [&](int role) {
          roles_[w] = role;
          if (auto const now = seconds(); now < least) {
            least = now;
            best = role;
          }
        });
        roles_[w] = best;
      }
      if (roles_ == before) return;
    }
  }
  [[nodiscard]] double seconds() const {
    auto const plan = chosen();
    return is_possible(plan) ? price_of(plan).seconds : std::numeric_limits<double>::infinity();
  }
  // A relay follows the cut of the terms: all its axes, or none. Axes between hosts come first, so
  // that sums pass all devices of a host before they go to another one.
  [[nodiscard]] bool is_possible(ProductPlan const& plan) const {
    if (plan.relay.empty()) return true;
    bool const is_by_host =
        std::is_sorted(plan.relay.begin(), plan.relay.end(),
                       [&](std::string const& one, std::string const& other) {
                         return hosts_.along(one) > 1 && hosts_.along(other) == 1;
                       });
    return plan.relay == sizes_.labels.back().axes_a && is_by_host;
  }
  [[nodiscard]] ProductPrice price_of(ProductPlan const& plan) const {
    auto const& costs = sizes_.machine.costs;
    ProductPrice price;
    price.multiplications = multiplications_of(sizes_, plan);
    price.received_bytes = Bytes(sizes_, plan, devices_).received();
    if (sizes_.machine.hosts.count() > 1)
      price.network_bytes = Bytes(sizes_, plan, hosts_).received();
    price.turns = turns_of(sizes_, plan);
    price.seconds = price.turns * (price.multiplications / costs.multiplications +
                                   price.received_bytes / costs.received_bytes +
                                   price.network_bytes / costs.network_bytes);
    return price;
  }

  [[nodiscard]] ProductPlan chosen() const {
    ProductPlan plan;
    plan.axes.resize(own_place_.axes.size());
    for (std::size_t w = 0; w < wide_.size(); ++w) {
      if (roles_[w] == relayed) plan.relay.push_back(name(w));
      if (roles_[w] >= 0) plan.axes[static_cast<std::size_t>(roles_[w])].push_back(name(w));
    }
    // Several axes of one dimension in the order that an array already has.
    auto const take_order = [](AxisNames& axes, AxisNames const& known) {
      bool const is_other_order =
          std::is_permutation(axes.begin(), axes.end(), known.begin(), known.end());
      if (is_other_order) axes = known;
      return is_other_order;
    };
    for (std::size_t d = 0; d < plan.axes.size(); ++d)
      for (auto const* const known :
           {&sizes_.labels[d].axes_target, &sizes_.labels[d].axes_a, &sizes_.labels[d].axes_b})
        if (take_order(plan.axes[d], *known)) break;
    if (!plan.relay.empty() && take_order(plan.relay, wide_terms_))
      plan.relay = sizes_.labels.back().axes_a;
    return plan;
  }

  // Takes the chosen roles if they are cheaper.
  void offer() {
    auto plan = chosen();
    if (!is_possible(plan)) return;
    plan.price = price_of(plan);
    // Not for a little: where the target lies is what the program has chosen.
    if (plan.price.seconds < 0.95 * best_.price.seconds) best_ = std::move(plan);
  }

  ProductSizes const& sizes_;
  Ways devices_ = Ways::over_devices(sizes_.mesh);
  Ways hosts_ = Ways::over_hosts(sizes_.mesh, sizes_.machine.hosts);
  ProductPlan own_place_;
  ProductPlan best_;
  AxisNames wide_terms_;           // that cut the terms, without those of one device
  std::vector<std::size_t> wide_;  // axes with several devices
  std::vector<int> roles_;         // of these axes
};

}  // namespace

bool ProductPlan::is_in_place(ProductSizes const& sizes) const {
  if (!relay.empty()) return false;
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
         Bytes(sizes, *this, Ways::over_devices(sizes.mesh)).received_of_a() > 0;
}
bool ProductPlan::gathers_b(ProductSizes const& sizes) const {
  return !sizes.b_on_mesh ||
         Bytes(sizes, *this, Ways::over_devices(sizes.mesh)).received_of_b() > 0;
}
std::int64_t ProductPlan::gathered_bytes(ProductSizes const& sizes) const {
  auto const devices = Ways::over_devices(sizes.mesh);
  Bytes const bytes(sizes, *this, devices);
  return static_cast<std::int64_t>((gathers_a(sizes) ? bytes.needed_of_a() : 0) +
                                   (gathers_b(sizes) ? bytes.needed_of_b() : 0));
}

std::int64_t relay_chunks(std::int64_t devices, std::int64_t extent) {
  // A device waits for devices - 1 chunks of up to eight times as many. But each chunk reads all of
  // the other operand once more, so it should not be thin.
  constexpr std::int64_t fewest_cells = 64;
  return std::clamp<std::int64_t>(extent / fewest_cells, 1, 8 * devices);
}

ProductPlan plan_product(ProductSizes const& sizes) {
  return Search(sizes).run();
}

}  // namespace tessera
