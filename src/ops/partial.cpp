#include "tessera/ops/partial.hpp"

#include <algorithm>
#include <memory>
#include <string>
#include <vector>

#include "tessera/base/error.hpp"
#include "tessera/detail/runtime/submit.hpp"

#include "src/base/detail.hpp"
#include "src/base/text.hpp"
#include "src/layout/placement.hpp"
#include "src/plan/recent_plans.hpp"
#include "src/runtime/submission.hpp"
#include "src/statement/copy_statement.hpp"
#include "src/statement/operations/operation.hpp"

namespace tessera::detail {
namespace {

// Each device adds up its share of the cells; then all take the others' shares.
class SharesOfSum final : public OperationSteps {
 public:
  void visit(Operation const& operation, DeviceSpan const& /*devices*/,
             Visit const& visit) const override {
    for (std::size_t number = 0; number < operation.statements.size(); ++number)
      visit({number, number, *operation.statements[number]});
  }
  [[nodiscard]] std::uint64_t hash() const override { return hash_text("shares of a sum"); }
  [[nodiscard]] std::int64_t most_steps() const override { return 2; }
  [[nodiscard]] std::string words() const override {
    return "in two rounds: shares, then copies of them";
  }
};

// A sum, where its partial results lie, and where it is to lie.
struct SumKey {
  std::shared_ptr<Layout const> terms;
  std::shared_ptr<Layout const> into;
  std::int64_t element_bytes;

  friend bool operator==(SumKey const& a, SumKey const& b) {
    return *a.terms == *b.terms && *a.into == *b.into && a.element_bytes == b.element_bytes;
  }
};

// How the shares lie; null where each device adds up all of its cells.
struct Shares {
  std::shared_ptr<Layout const> layout;
};

Shares shares_for(SumKey const& sum) {
  auto const& terms = *sum.terms;
  auto const& to = *sum.into;
  auto const& names = terms.sharding().spec()[0].axes();
  bool const may_spread =
      terms.mesh() == to.mesh() && std::none_of(names.begin(), names.end(), [&](auto const& axis) {
        return is_cut_by(to.sharding().spec(), axis);
      });
  if (!may_spread) return {nullptr};
  auto const spread = spread_out(to, terms, sum.element_bytes);
  if (spread == to.sharding()) return {nullptr};
  return {std::make_shared<Layout const>(spread, to.shape())};
}

}  // namespace

namespace {

struct PartialsKey {
  NamedSharding sharding;
  Shape shape;
  ReduceOp op;

  friend bool operator==(PartialsKey const&, PartialsKey const&) = default;
};

NamedSharding make_sharding_of_sum(PartialsKey const& key) {
  auto const& [partials, shape, op] = key;
  auto const& entries = partials.spec().entries();
  if (entries[0].axes().empty() || shape[0] != partials.ways(0) ||
      partials.shard_shape(shape)[0] != 1)
    throw ShardingError(
        text("dimension 0 of an array of shape ", shape, " on ", partials,
             " counts no partial results: it must be cut by mesh axes, with one cell for "
             "each place along them; such arrays have P(\"y\", ...) and the size of "
             "\"y\" there"));
  std::vector<SpecEntry> rest(entries.begin() + 1, entries.end());
  std::vector<Cut> cuts;
  for (std::size_t d = 1; d < entries.size(); ++d) cuts.push_back(partials.cut(d));
  return {partials.mesh(), PartitionSpec(std::move(rest)).partial(entries[0], op), cuts};
}

}  // namespace

NamedSharding sharding_of_sum(NamedSharding const& partials, Shape const& shape, ReduceOp op) {
  static RecentPlans<PartialsKey, NamedSharding> shardings;
  PartialsKey const key{partials, shape, op};
  return *shardings.plan_for(key, [&] { return make_sharding_of_sum(key); });
}

NamedSharding with_partials_first(NamedSharding const& sharding, SpecEntry const& axes) {
  if (axes.axes().empty())
    throw ShardingError(text("no mesh axis is named for partial results of an array on ", sharding,
                             "; name one that does not cut it"));
  auto dimensions = placed_dimensions(sharding);
  dimensions.insert(dimensions.begin(), {axes});
  return sharding_of(sharding.mesh(), dimensions);
}

StatePtr shares_of_sum(StatePtr const& partials, StatePtr const& into) {
  static RecentPlans<SumKey, Shares> plans;
  SumKey const key{layout_of(partials), layout_of(into), into->element_bytes()};
  auto const shares = plans.plan_for(key, [&] { return shares_for(key); });
  return shares->layout == nullptr ? nullptr : make_state(shares->layout, into->element_bytes());
}

void submit_sum(Statement const& sum, StatePtr const& shares, StatePtr const& into) {
  if (shares == nullptr) return submit(sum);
  static auto const steps = std::make_shared<SharesOfSum const>();
  CopyStatement const copy(into, shares, sum.location);
  submit(Operation{{sum.kind, sum.location, steps}, {&sum, &copy.statement()}});
}

}  // namespace tessera::detail
