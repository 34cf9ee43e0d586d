#include "src/ops/products/product_plan.hpp"

#include <algorithm>
#include <cstddef>

#include "src/kernels/products/product.hpp"
#include "src/mesh/axes.hpp"

namespace tessera {
namespace {

// Multiplications that take as long as the transfer of a byte. Which plan is the cheapest hardly
// depends on it: plans differ by whole operands.
constexpr double multiplications_per_byte = 8;

// The devices along the axes of either list.
std::int64_t devices_along_both(Mesh const& mesh, AxisNames const& one, AxisNames const& other) {
  return devices_along(mesh, one) * devices_along(mesh, without(other, one));
}

double piece(std::int64_t extent, std::int64_t ways) {
  return extent == 0 ? 0 : std::max(1.0, static_cast<double>(extent) / static_cast<double>(ways));
}

// The price of one choice.
class Pricing {
 public:
  Pricing(ProductSizes const& sizes, ProductPlan const& plan) : sizes_(sizes), plan_(plan) {}

  [[nodiscard]] ProductPrice price() const {
    ProductPrice result;
    result.multiplications = 1;
    for (std::size_t l = 0; l < sizes_.labels.size(); ++l)
      result.multiplications *=
          piece(sizes_.labels[l].extent, devices_along(sizes_.mesh, work_axes(l)));
    result.received_bytes = received_of_a() + received_of_b() + target_bytes();
    result.turns = turns();
    return result;
  }

  // Cells of an operand that a device multiplies, and those of them that it does not own, in bytes.
  [[nodiscard]] double needed_of_a() const { return needed(&PlannedLabel::in_a); }
  [[nodiscard]] double needed_of_b() const { return needed(&PlannedLabel::in_b); }
  [[nodiscard]] double received_of_a() const {
    return received(&PlannedLabel::in_a, &PlannedLabel::axes_a, sizes_.a_on_mesh);
  }
  [[nodiscard]] double received_of_b() const {
    return received(&PlannedLabel::in_b, &PlannedLabel::axes_b, sizes_.b_on_mesh);
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
      if (sizes_.labels[l].*in)
        bytes *= piece(sizes_.labels[l].extent, devices_along(sizes_.mesh, work_axes(l)));
    return bytes;
  }
  [[nodiscard]] double received(bool PlannedLabel::*in, AxisNames PlannedLabel::*axes,
                                bool on_mesh) const {
    auto owned = on_mesh ? static_cast<double>(sizes_.cell_bytes) : 0.0;
    for (std::size_t l = 0; l < sizes_.labels.size(); ++l) {
      auto const& label = sizes_.labels[l];
      if (!(label.*in)) continue;
      auto const devices = devices_along_both(sizes_.mesh, work_axes(l), label.*axes);
      owned *= static_cast<double>(label.extent) / static_cast<double>(devices);
    }
    return std::max(0.0, needed(in) - owned);
  }

  // What a device receives of the target: sums that pass along, cells that are added to, and cells
  // on their way from where they are computed.
  [[nodiscard]] double target_bytes() const {
    auto cells = static_cast<double>(sizes_.cell_bytes);
    auto of_target = cells;
    for (std::size_t l = 0; l < plan_.axes.size(); ++l) {
      cells *= piece(sizes_.labels[l].extent, devices_along(sizes_.mesh, plan_.axes[l]));
      of_target *=
          piece(sizes_.labels[l].extent, devices_along(sizes_.mesh, sizes_.labels[l].axes_target));
    }
    double bytes = 0;
    if (!plan_.relay.empty()) bytes += cells + of_target;
    if (!plan_.is_in_place(sizes_)) bytes += std::min(of_target, received_of_target());
    if (sizes_.adds) bytes += received_of_target();
    return bytes;
  }

  [[nodiscard]] double received_of_target() const {
    return received(&PlannedLabel::in_target, &PlannedLabel::axes_target, true);
  }

  // Devices of a relay wait for the first chunk.
  [[nodiscard]] double turns() const {
    if (plan_.relay.empty()) return 1;
    auto const devices = devices_along(sizes_.mesh, plan_.relay);
    auto const chunked = plan_.chunked_label(sizes_);
    auto const longest = chunked ? sizes_.labels[*chunked].extent : 1;
    auto const chunks = static_cast<double>(relay_chunks(devices, longest));
    return (chunks + static_cast<double>(devices) - 1) / chunks;
  }

  ProductSizes const& sizes_;
  ProductPlan const& plan_;
};

// Tries every role for each axis, one axis after the other.
class Search {
 public:
  explicit Search(ProductSizes const& sizes) : sizes_(sizes) {
    for (auto const& label : sizes.labels) {
      if (!label.in_target) break;
      plan_.axes.emplace_back();
      best_.axes.push_back(label.axes_target);
    }
    best_.price = Pricing(sizes_, best_).price();
    // Terms of several labels are not cut, since blocks count across them.
    auto const terms = sizes.labels.size() - plan_.axes.size();
    may_relay_ = sizes.may_cut_terms && terms == 1 && sizes.labels.back().extent > block_of_terms;
  }

  [[nodiscard]] ProductPlan run() {
    // The choices are as many as roles to the power of axes.
    constexpr std::ptrdiff_t most_axes = 4;
    auto const& axes = sizes_.mesh.axes();
    auto const wide =
        std::count_if(axes.begin(), axes.end(), [](MeshAxis const& axis) { return axis.size > 1; });
    if (wide <= most_axes) choose(0);
    return best_;
  }

 private:
  void choose(std::size_t axis) {
    if (axis == sizes_.mesh.axes().size()) return offer();
    auto const& name = sizes_.mesh.axes()[axis].name;
    choose(axis + 1);  // copies
    if (sizes_.mesh.axes()[axis].size == 1) return;
    for (std::size_t d = 0; d < plan_.axes.size(); ++d) {
      if (sizes_.labels[d].extent < 2) continue;
      plan_.axes[d].push_back(name);
      choose(axis + 1);
      plan_.axes[d].pop_back();
    }
    if (!may_relay_ || !cuts_terms(name)) return;
    plan_.relay.push_back(name);
    choose(axis + 1);
    plan_.relay.pop_back();
  }

  [[nodiscard]] bool cuts_terms(std::string const& name) const {
    auto const& terms = sizes_.labels.back();
    return contains(terms.axes_a, name) && contains(terms.axes_b, name);
  }

  void offer() {
    auto plan = plan_;
    // Several axes of one dimension in the order that an array already has.
    for (std::size_t d = 0; d < plan.axes.size(); ++d)
      for (auto const* const known :
           {&sizes_.labels[d].axes_target, &sizes_.labels[d].axes_a, &sizes_.labels[d].axes_b})
        if (std::is_permutation(plan.axes[d].begin(), plan.axes[d].end(), known->begin(),
                                known->end())) {
          plan.axes[d] = *known;
          break;
        }
    if (!plan.relay.empty() && plan.relay != sizes_.labels.back().axes_a) return;
    plan.price = Pricing(sizes_, plan).price();
    // Not for a little: where the target lies is what the program has chosen.
    if (plan.price.total() < 0.95 * best_.price.total()) best_ = plan;
  }

  ProductSizes const& sizes_;
  bool may_relay_ = false;
  ProductPlan plan_;  // as far as it is chosen
  ProductPlan best_;
};

}  // namespace

double ProductPrice::total() const {
  return (multiplications + received_bytes * multiplications_per_byte) * turns;
}

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
  return !sizes.a_on_mesh || Pricing(sizes, *this).received_of_a() > 0;
}
bool ProductPlan::gathers_b(ProductSizes const& sizes) const {
  return !sizes.b_on_mesh || Pricing(sizes, *this).received_of_b() > 0;
}
std::int64_t ProductPlan::gathered_bytes(ProductSizes const& sizes) const {
  Pricing const pricing(sizes, *this);
  return static_cast<std::int64_t>((gathers_a(sizes) ? pricing.needed_of_a() : 0) +
                                   (gathers_b(sizes) ? pricing.needed_of_b() : 0));
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

std::vector<RelayTerms> relay_terms(Cut const& cut, std::int64_t terms, std::int64_t devices) {
  std::vector<RelayTerms> result;
  auto const add = [&](std::int64_t device, std::int64_t lo, std::int64_t hi, bool is_own) {
    if (lo >= hi) return;
    bool const follows = is_own && !result.empty() && result.back().device == device &&
                         result.back().hi - result.back().lo > block_of_terms;
    if (follows)
      result.back().hi = hi;
    else
      result.push_back({device, lo, hi});
  };
  std::int64_t next = 0;  // the first term that is not dealt out yet
  for (std::int64_t p = 0; p < cut.piece_count(terms, devices); ++p) {
    auto const own = cut.piece(terms, devices, p);
    if (own.hi <= next) continue;
    auto const device = p % devices;
    auto const whole = own.hi == terms ? terms : own.hi / block_of_terms * block_of_terms;
    add(device, next, whole, true);
    next = std::max(next, whole);
    if (next == own.hi) continue;
    auto const end = std::min(terms, next + block_of_terms);
    add(device, next, end, false);
    next = end;
  }
  return result;
}

}  // namespace tessera
