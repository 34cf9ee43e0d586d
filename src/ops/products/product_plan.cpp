#include "src/ops/products/product_plan.hpp"

#include <algorithm>
#include <cstddef>
#include <limits>
#include <optional>
#include <utility>
#include <vector>

#include "tessera/base/error.hpp"

#include "src/base/text.hpp"
#include "src/kernels/products/product.hpp"
#include "src/ops/products/product_price.hpp"

namespace tessera {
namespace {

// Tries roles for the axes of the mesh.
class Search {
 public:
  explicit Search(ProductSizes const& sizes) : sizes_(sizes) {
    for (auto const& label : sizes.labels) {
      if (!label.in_target) break;
      own_place_.axes.push_back(label.axes_target);
    }
    auto const& axes = sizes.mesh.axes();
    for (std::size_t a = 0; a < axes.size(); ++a)
      if (axes[a].size > 1) wide_.push_back(a);
    for (auto const& name : sizes.labels.back().axes_a)
      if (prices_.devices().along(name) > 1) wide_terms_.push_back(name);
    roles_.assign(wide_.size(), computes_copies);
  }

  [[nodiscard]] ChosenPlan run() {
    check_roles();
    if (is_own_place_asked_for()) offer(own_place_);
    if (sizes_.may_leave_target) try_other_places();
    if (!best_) refuse_roles();
    return {*best_, runner_up_};
  }

 private:
  [[nodiscard]] std::string const& name(std::size_t wide) const {
    return sizes_.mesh.axes()[wide_[wide]].name;
  }

  template <class Visit>
  void visit_roles(std::size_t wide, Visit const& visit) const {
    auto const asked_for = sizes_.machine.roles.of(name(wide));
    auto const visit_if = [&](AxisRole role) {
      if (asked_for.value_or(role) == role && can_have(wide, role)) visit(role);
    };
    visit_if(computes_copies);
    for (std::size_t d = 0; d < own_place_.axes.size(); ++d) visit_if(static_cast<AxisRole>(d));
    visit_if(cuts_terms);
  }
  [[nodiscard]] bool can_have(std::size_t wide, AxisRole role) const {
    if (role == cuts_terms) return may_relay(wide);
    if (role == computes_copies) return true;
    if (role == role_in_own_place(wide)) return true;
    auto const dimension = static_cast<std::size_t>(role);
    return dimension < own_place_.axes.size() && sizes_.labels[dimension].extent > 1;
  }

  // Throws if an axis cannot have the role that TESSERA_ROLES gives it.
  void check_roles() const {
    for (std::size_t w = 0; w < wide_.size(); ++w)
      if (auto const role = sizes_.machine.roles.of(name(w)); role && !can_have(w, *role))
        refuse_roles();
  }
  [[noreturn]] void refuse_roles() const {
    throw UsageError(text("TESSERA_ROLES=", sizes_.machine.roles.text(), ": a product on ",
                          sizes_.mesh,
                          " cannot be computed so; give the axes other roles, or unset it"));
  }
  [[nodiscard]] bool is_own_place_asked_for() const {
    for (std::size_t w = 0; w < wide_.size(); ++w) {
      auto const own = role_in_own_place(w);
      if (sizes_.machine.roles.of(name(w)).value_or(own) != own) return false;
    }
    return true;
  }

  // Terms of several labels are not cut, since blocks count across them.
  [[nodiscard]] bool may_relay(std::size_t wide) const {
    auto const& terms = sizes_.labels.back();
    bool const is_one = sizes_.labels.size() - own_place_.axes.size() == 1;
    return sizes_.may_cut_terms && is_one && terms.extent > block_of_terms &&
           contains(terms.axes_a, name(wide)) && contains(terms.axes_b, name(wide));
  }

  void try_other_places() {
    // The combinations are as many as roles to the power of axes.
    constexpr std::size_t most_axes = 4;
    if (wide_.size() <= most_axes)
      try_all(0);
    else
      descend_from_starts();
  }

  void try_all(std::size_t wide) {
    if (wide == wide_.size()) return offer(chosen());
    visit_roles(wide, [&](AxisRole role) {
      roles_[wide] = role;
      try_all(wide + 1);
    });
  }

  // From the target's own place, and from there with all axes relayed that cut the terms.
  void descend_from_starts() {
    for (bool const is_relayed : {false, true}) {
      for (std::size_t w = 0; w < wide_.size(); ++w)
        roles_[w] = sizes_.machine.roles.of(name(w)).value_or(
            is_relayed && may_relay(w) ? cuts_terms : role_in_own_place(w));
      descend();
      offer(chosen());
    }
  }
  [[nodiscard]] AxisRole role_in_own_place(std::size_t wide) const {
    for (std::size_t d = 0; d < own_place_.axes.size(); ++d)
      if (contains(own_place_.axes[d], name(wide))) return static_cast<AxisRole>(d);
    return computes_copies;
  }
  // Each round takes axes · roles prices, and the price falls from round to round.
  void descend() {
    constexpr int most_rounds = 8;
    auto least = seconds();
    for (int round = 0; round < most_rounds; ++round) {
      auto const before = roles_;
      for (std::size_t w = 0; w < wide_.size(); ++w) {
        auto best = roles_[w];
        visit_roles(w, [&](AxisRole role) {
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
    return is_possible(plan) ? prices_.of(plan).seconds : std::numeric_limits<double>::infinity();
  }
  // A relay follows the cut of the terms: all its axes, or none. Axes between hosts come first, so
  // that sums pass all devices of a host before they go to another one.
  [[nodiscard]] bool is_possible(ProductPlan const& plan) const {
    if (plan.relay.empty()) return true;
    bool const is_by_host =
        std::is_sorted(plan.relay.begin(), plan.relay.end(),
                       [&](std::string const& one, std::string const& other) {
                         return prices_.hosts().along(one) > 1 && prices_.hosts().along(other) == 1;
                       });
    return plan.relay == sizes_.labels.back().axes_a && is_by_host;
  }
  [[nodiscard]] ProductPlan chosen() const {
    ProductPlan plan;
    plan.axes.resize(own_place_.axes.size());
    for (std::size_t w = 0; w < wide_.size(); ++w) {
      if (roles_[w] == cuts_terms) plan.relay.push_back(name(w));
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

  // Takes a plan if it is cheaper than the best one so far, and notes the best of the others.
  void offer(ProductPlan plan) {
    if (!is_possible(plan)) return;
    plan.price = prices_.of(plan);
    if (!best_) {
      best_ = std::move(plan);
      return;
    }
    // Not for a little: where the target lies is what the program has chosen.
    if (plan.price.seconds < 0.95 * best_->price.seconds) std::swap(plan, *best_);
    bool const is_better = !runner_up_ || plan.price.seconds < runner_up_->price.seconds;
    if (is_better && plan.roles(sizes_.mesh) != best_->roles(sizes_.mesh))
      runner_up_ = std::move(plan);
  }

  ProductSizes const& sizes_;
  ProductPrices prices_{sizes_};
  ProductPlan own_place_;
  std::optional<ProductPlan> best_;
  std::optional<ProductPlan> runner_up_;
  AxisNames wide_terms_;           // that cut the terms, without those of one device
  std::vector<std::size_t> wide_;  // axes with several devices
  std::vector<AxisRole> roles_;    // of these axes
};

}  // namespace

ChosenPlan plan_product(ProductSizes const& sizes) {
  return Search(sizes).run();
}

}  // namespace tessera
