#include "src/ops/products/product_steps.hpp"

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "src/ops/products/product_statement.hpp"
#include "src/statement/array_model.hpp"
#include "src/statement/operations/lower_operation.hpp"

#include "support/layouts.hpp"
#include "support/seeds.hpp"

using namespace tessera;

/// The steps of products on devices that need not be there.
TEST_SUITE_BEGIN("ops/product_steps");

namespace {

using detail::labels_of;
using detail::StatePtr;

StatePtr matrix(NamedSharding const& sharding, Shape const& shape, std::uint64_t number) {
  return std::make_shared<ArrayModel>(std::make_shared<Layout const>(sharding, shape), 8, number);
}

ProductView view_of(StatePtr const& array, char const* labels) {
  ProductView view{array, {}, array->layout()->shape(), labels_of(labels)};
  for (std::size_t d = 0; d < view.extents.size(); ++d)
    view.axes.push_back({static_cast<int>(d), 0, 1});
  return view;
}

struct RelaySizes {
  Mesh mesh;
  AxisNames axes = {"x"};  ///< that cut the terms
  std::int64_t terms = 256;
  Cut cut_of_a = Cut::balanced();
  Cut cut_of_b = Cut::balanced();
  std::int64_t rows = 8;
  std::int64_t columns = 3;
  std::int64_t chunks = 4;  ///< of the rows
  bool adds = false;
};

// (rows, terms) times (terms, columns), the terms cut over devices, into a target cut by rows.
class RelayCase {
 public:
  explicit RelayCase(RelaySizes const& sizes)
      : devices_(devices_along(sizes.mesh, sizes.axes)),
        a_(view_of(
            matrix({sizes.mesh, P(none, SpecEntry(sizes.axes)), {Cut::balanced(), sizes.cut_of_a}},
                   {sizes.rows, sizes.terms}, 1),
            "ik")),
        b_(view_of(
            matrix({sizes.mesh, P(SpecEntry(sizes.axes), none), {sizes.cut_of_b, Cut::balanced()}},
                   {sizes.terms, sizes.columns}, 2),
            "kj")),
        target_(view_of(matrix({sizes.mesh, P("x", none)}, {sizes.rows, sizes.columns}, 3), "ij")),
        sums_(matrix({sizes.mesh, P(SpecEntry(sizes.axes), none, none)},
                     {devices_, sizes.rows, sizes.columns}, 4)),
        stops_(sizes.cut_of_a, sizes.terms, devices_),
        into_(layer_of(sums_, stops_.first().device, target_.extents, target_.labels)),
        first_terms_({a_, b_, "matmul", {}}, into_, sizes.adds ? &target_ : nullptr,
                     ProductType::float64),
        more_terms_({a_, b_, "matmul", {}}, into_, &into_, ProductType::float64),
        copy_(layer_of(sums_, stops_.last().device, target_.extents, target_.labels), target_, {}) {
    operation_.kind = "matmul";
    operation_.steps =
        std::make_shared<ProductRelay const>(ProductRelay::Sizes{.mesh = sizes.mesh,
                                                                 .axes = sizes.axes,
                                                                 .stops = stops_,
                                                                 .cut_of_b = sizes.cut_of_b,
                                                                 .starts_with_target = sizes.adds,
                                                                 .chunked = 0,
                                                                 .chunked_extent = sizes.rows,
                                                                 .chunks = sizes.chunks,
                                                                 .terms = 2});
    for (auto const* statement :
         {&first_terms_.statement(), &more_terms_.statement(), &copy_.statement()})
      operation_.statements.push_back(statement);
  }

  [[nodiscard]] LoweredOperation on(std::int64_t device) const {
    return lower_operation(operation_, {DeviceId{device}, 1});
  }
  [[nodiscard]] LoweredOperation on_all(std::int64_t devices) const {
    return lower_operation(operation_, {DeviceId{0}, devices});
  }
  [[nodiscard]] Operation const& operation() const { return operation_; }
  [[nodiscard]] OperationSteps const& steps() const { return *operation_.steps; }

 private:
  std::int64_t devices_;  // of the relay
  ProductView a_;
  ProductView b_;
  ProductView target_;
  StatePtr sums_;
  RelayStops stops_;
  ProductView into_;
  ProductStatement first_terms_;
  ProductStatement more_terms_;
  CopyOfView copy_;
  Operation operation_;
};

// The bytes of the messages from one device to another, in order.
using Traffic = std::map<std::pair<std::int64_t, std::int64_t>, std::vector<std::int64_t>>;

struct AllTraffic {
  Traffic sent;
  Traffic received;
};

void add_traffic(AllTraffic& traffic, LoweredOperation const& lowered) {
  for (auto const& step : lowered.steps)
    for (auto const& device : step.plan.devices) {
      auto const self = device.device.value();
      for (auto const& message : device.sends)
        traffic.sent[{self, message.peer.value()}].push_back(message.bytes);
      for (auto const& message : device.receives)
        traffic.received[{message.peer.value(), self}].push_back(message.bytes);
    }
}

}  // namespace

TEST_CASE("each device passes each chunk on once, and the last one sends the sums home") {
  RelayCase const relay({.mesh = Mesh({{"x", 4}}), .terms = 1024});
  AllTraffic traffic;
  for (std::int64_t d = 0; d < 4; ++d) add_traffic(traffic, relay.on(d));

  std::vector<std::int64_t> const chunks(4, 2 * 3 * 8);
  CHECK(traffic.sent[{0, 1}] == chunks);
  CHECK(traffic.sent[{1, 2}] == chunks);
  CHECK(traffic.sent[{2, 3}] == chunks);
  CHECK(traffic.sent[{3, 0}] == std::vector<std::int64_t>{2 * 3 * 8});
  CHECK(traffic.sent.size() == 6);
}

TEST_CASE("a device has steps of its own only, however many devices there are") {
  auto const steps_of_middle = [](std::int64_t devices) {
    RelayCase const relay({.mesh = Mesh({{"x", devices}}), .terms = 256 * devices});
    auto const lowered = relay.on(devices / 2);
    CHECK(std::ssize(lowered.steps) <= relay.steps().most_steps());
    return lowered.steps.size();
  };
  // Of each chunk one step in which it adds terms and one in which it passes the sums on.
  CHECK(steps_of_middle(8) == 9);
  CHECK(steps_of_middle(64) == 8);  // no row of the target is its own
  CHECK(steps_of_middle(4096) == 8);
}

// Two axes along which the sums may pass, in either order, and one whose devices hold copies.
RelaySizes random_relay(test::Random& random) {
  RelaySizes sizes{
      .mesh = Mesh(
          {{"x", random.between(1, 3)}, {"y", random.between(1, 3)}, {"z", random.between(1, 2)}}),
      .terms = random.between(1, 2600)};
  std::vector<AxisNames> const choices{{"x"}, {"x", "y"}, {"y", "x"}, {"z", "x"}};
  sizes.axes = choices[static_cast<std::size_t>(random.between(0, 3))];
  auto const devices = devices_along(sizes.mesh, sizes.axes);
  sizes.cut_of_a = test::random_cut(random, sizes.terms, devices);
  sizes.cut_of_b =
      random.between(0, 2) == 0 ? test::random_cut(random, sizes.terms, devices) : sizes.cut_of_a;
  sizes.rows = random.between(1, 20);
  sizes.chunks = random.between(1, sizes.rows);
  sizes.adds = random.between(0, 1) == 0;
  return sizes;
}

TEST_CASE("random relays: what each device plans for itself is what all plan together") {
  test::Random random(test::seed_of_all(41));
  for (int i = 0; i < 80; ++i) {
    auto const sizes = random_relay(random);
    RelayCase const relay(sizes);

    AllTraffic alone, together;
    add_traffic(together, relay.on_all(sizes.mesh.size()));
    for (std::int64_t d = 0; d < sizes.mesh.size(); ++d) {
      auto const lowered = relay.on(d);
      INFO("case ", i, ", device ", d);
      CHECK(std::ssize(lowered.steps) <= relay.steps().most_steps());
      add_traffic(alone, lowered);
    }
    INFO("case ", i);
    CHECK(alone.sent == alone.received);
    CHECK(alone.sent == together.sent);
  }
}

TEST_CASE("the plan of a relay over 16 devices leaves room for others") {
  RelayCase const relay({.mesh = Mesh({{"x", 16}}), .terms = 1 << 16, .rows = 8192, .chunks = 128});
  CHECK(relay.steps().most_steps() == 257);
  RelayCase const dealt({.mesh = Mesh({{"x", 16}}),
                         .terms = 1 << 16,
                         .cut_of_a = Cut::cyclic(1),
                         .cut_of_b = Cut::cyclic(1)});
  CHECK(dealt.steps().most_steps() == 4 * 256 + 1);
}

//  slices of 4:  [0, 4)  [4, 8)  [8, 10)
TEST_CASE("slices of terms go on with the sums, those of cells start anew") {
  RelayCase const relay({.mesh = Mesh({{"x", 2}}), .terms = 10, .rows = 10});
  auto const steps_of = [&](ProductSlices::Sizes const& sizes) {
    std::vector<std::vector<std::int64_t>> list;
    ProductSlices(sizes).visit(relay.operation(), {}, [&](OperationSteps::Step const& step) {
      auto const& indices = step.part.work.indices;
      list.push_back({static_cast<std::int64_t>(step.statement), indices.lo[sizes.dimension],
                      indices.hi[sizes.dimension]});
    });
    return list;
  };
  using Steps = std::vector<std::vector<std::int64_t>>;
  ProductSlices::Sizes sizes{.dimension = 2, .extent = 10, .width = 4, .are_terms = true};
  CHECK(steps_of(sizes) == Steps{{0, 0, 4}, {1, 4, 8}, {1, 8, 10}});
  CHECK(ProductSlices(sizes).words() == "in 3 slices of terms");
  CHECK(ProductSlices(sizes).most_steps() == 3);

  auto other = sizes;
  other.dimension = 0;
  other.are_terms = false;
  CHECK(steps_of(other) == Steps{{0, 0, 4}, {0, 4, 8}, {0, 8, 10}});
  CHECK(ProductSlices(other).hash() != ProductSlices(sizes).hash());

  other.width = 10;
  other.is_copied = true;
  CHECK(steps_of(other).size() == 2);
  CHECK(steps_of(other).back().front() == 2);
  CHECK(ProductSlices(other).words() == "to a new array first");
}

TEST_SUITE_END();
