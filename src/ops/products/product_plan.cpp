#include "src/ops/products/product_plan.hpp"

#include <algorithm>
#include <cstddef>

#include "tessera/detail/base/hash.hpp"

#include "src/index/index.hpp"
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

RelayStop RelayStops::with(std::int64_t term) const {
  auto const block = term / block_of_terms * block_of_terms;
  auto const piece = cut_.pieces_intersecting(terms_, devices_, block, block + 1).lo;
  auto const own = cut_.piece(terms_, devices_, piece);
  auto const lo = ceil_div(own.lo, block_of_terms) * block_of_terms;
  auto const hi = own.hi == terms_ ? terms_ : own.hi / block_of_terms * block_of_terms;
  auto const device = piece % devices_;
  if (block < hi) return {device, lo, hi};
  return {device, block, std::min(block + block_of_terms, terms_)};
}

std::vector<RelayStop> RelayStops::of_device(std::int64_t device, Cut const& owned) const {
  std::vector<RelayStop> stops;
  auto const pieces = owned.piece_count(terms_, devices_);
  for (auto piece = device; piece < pieces; piece += devices_) {
    auto const own = owned.piece(terms_, devices_, piece);
    if (own.size() == 0) continue;
    auto next = with(own.lo).lo;
    if (!stops.empty()) next = std::max(next, stops.back().hi);
    // Up to the first stop that is behind the piece.
    while (next < terms_ && (stops.empty() || stops.back().lo < own.hi)) {
      stops.push_back(with(next));
      next = stops.back().hi;
    }
  }
  return stops;
}

std::int64_t RelayStops::most_of_device() const {
  // Of a piece: the block at its beginning, whole blocks, the block at its end, and the stop that
  // follows. Equal pieces of whole blocks have none at their ends.
  bool const is_regular = cut_.kind() == Cut::Kind::balanced || cut_.kind() == Cut::Kind::strict;
  bool const has_whole_blocks = is_regular && terms_ % (devices_ * block_of_terms) == 0;
  auto const pieces = ceil_div(cut_.piece_count(terms_, devices_), devices_);
  return std::min((has_whole_blocks ? 2 : 4) * pieces, most());
}

std::int64_t RelayStops::most() const {
  return ceil_div(terms_, block_of_terms);
}

std::uint64_t RelayStops::hash() const {
  auto const hash = detail::mix(cut_.fingerprint(), static_cast<std::uint64_t>(terms_));
  return detail::mix(hash, static_cast<std::uint64_t>(devices_));
}

}  // namespace tessera
