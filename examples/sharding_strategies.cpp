/// Who owns what of the weights of a decoder's layer, on 4 devices and on 8. A strategy is a value
/// and a mesh consists of numbers, so this asks no device and makes no array.
#include <cstddef>
#include <cstdint>
#include <iomanip>
#include <iostream>
#include <map>
#include <string>

#include <tessera/strategies.hpp>

namespace ts = tessera;

namespace {

constexpr std::int64_t width = 96;
constexpr ts::strategy::Heads heads{.heads = 12, .kv_heads = 4, .head_dim = 8};

// Weights are stored as [out, in].
std::map<std::string, ts::Shape> const shapes{
    {"norm", {width}},      {"q", {12 * 8, width}},  {"k", {4 * 8, width}},
    {"v", {4 * 8, width}},  {"o", {width, 12 * 8}},  {"gate_up", {2 * 128, width}},
    {"down", {width, 128}}, {"router", {10, width}}, {"experts", {10, 64, width}}};

ts::Strategy dense_layer() {
  namespace strategy = ts::strategy;
  return strategy::tensor_parallel({{"norm", strategy::replicate()},
                                    {"q", strategy::heads(heads)},
                                    {"k", strategy::kv_heads(heads)},
                                    {"v", strategy::kv_heads(heads)},
                                    {"o", strategy::head_aware_columnwise(heads)},
                                    {"gate_up", strategy::gate_up()},
                                    {"down", strategy::columnwise()}});
}

// The rows, or the columns, of a weight that devices 0, 1, … have.
void print_pieces(ts::NamedSharding const& sharding, ts::Shape const& shape, std::size_t d) {
  std::cout << " dim " << d << ':';
  for (std::int64_t p = 0; p < sharding.mesh().size(); ++p) {
    auto between = p == 0 ? " " : " | ";
    for (auto const& box : sharding.boxes_of(sharding.mesh().device_at(p), shape)) {
      std::cout << between << box.lo[d] << '-' << box.hi[d];
      between = ", ";
    }
  }
}

void print_owners(ts::Strategy const& module, ts::Mesh const& mesh, ts::SpecEntry const& axes) {
  for (auto const& [name, strategy] : module.weights()) {
    std::cout << std::setw(8) << name;
    if (auto const axis = strategy.axis()) {
      auto const& shape = shapes.at(name);
      print_pieces(strategy.on(mesh, axes, shape), shape, static_cast<std::size_t>(*axis));
    } else {
      std::cout << " on every device";
    }
    std::cout << '\n';
  }
}

}  // namespace

int main() {
  auto const dense = dense_layer();
  auto const sparse = ts::strategy::expert_parallel({.experts = {"experts"}, .copied = {"router"}});

  ts::Mesh const four({{"model", 4}});
  std::cout << four << '\n';
  print_owners(dense, four, "model");
  print_owners(sparse, four, "model");

  // More devices than key/value heads: two of them hold copies of each and share its queries.
  auto const eight = ts::Mesh({{"model", 8}}).split("model", {{"kv", 4}, {"rep", 2}});
  std::cout << eight << '\n';
  print_owners(dense, eight, {"kv", "rep"});
  print_owners(sparse, eight, {"kv", "rep"});

  auto const qkv = ts::strategy::stacked_qkv(heads);
  ts::Shape const rows{(12 + 2 * 4) * 8};
  std::cout << qkv << '\n' << ts::visualize(ts::Layout(qkv.on(four, "model", rows), rows));
}
