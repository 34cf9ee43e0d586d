#pragma once
/// @file
/// Layouts, accesses and statements in few words, for tests of plans.

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "src/base/text.hpp"
#include "src/index/affine_map.hpp"
#include "src/plan/access.hpp"
#include "src/plan/exchange/exchange_plan.hpp"
#include "src/plan/ghost.hpp"

namespace tessera::test {

/// Thrown where a random case is not as it should be; whoever catches it says which case it was.
struct Broken {
  std::string what;
};
/// Throws: Broken, with the parts as its text.
template <class... Parts>
void demand(bool holds, Parts const&... parts) {
  if (!holds) throw Broken{text(parts...)};
}

using SharedLayout = std::shared_ptr<Layout const>;

inline SharedLayout make_layout(Mesh const& mesh, PartitionSpec const& spec, Shape const& shape,
                                Cut const& cut = Cut::balanced()) {
  return std::make_shared<Layout const>(NamedSharding(mesh, spec, cut), shape);
}

/// One dimension on a row of devices.
inline SharedLayout cells_on_devices(std::int64_t cells, std::int64_t devices,
                                     Cut const& cut = Cut::balanced()) {
  return make_layout(Mesh({{"x", devices}}), P("x"), {cells}, cut);
}

/// Every cell of an array moved by the same offsets.
inline Access shifted_by(Index const& offsets) {
  auto map = AffineMap::identity(offsets.size());
  for (std::size_t d = 0; d < offsets.size(); ++d) map.axes[d].offset = offsets[d];
  return Access::plain(map);
}

/// The same, with one boundary for all edges of the whole array.
inline Access shifted_by(Index const& offsets, Shape const& shape, BoundaryKind kind) {
  auto access = shifted_by(offsets);
  for (std::size_t d = 0; d < offsets.size(); ++d) access.boundaries[d] = {kind, kind, 0, shape[d]};
  return access;
}

/// Index i computes cell i, for the cells of `box`.
inline ComputePlacement work_on(SharedLayout const& layout, Box const& box) {
  return {layout, AffineMap::identity(layout->rank()), box};
}
inline ComputePlacement work_on(SharedLayout const& layout) {
  return work_on(layout, whole(layout->shape()));
}

inline OperandUse read_in_place(SharedLayout const& layout, Access const& access,
                                std::size_t array = 0, HaloValidity const* validity = nullptr) {
  return {layout, access, array, true, validity};
}
inline OperandUse read_from_temporary(SharedLayout const& layout, Access const& access,
                                      std::size_t array = 0) {
  return {layout, access, array, false, nullptr};
}

/// One line for a list of transfers: "1: [4:5], 2: [0:1] as [10:11]"; the leaf only where it is not
/// 0.
inline std::string list_of(std::vector<Transfer> const& transfers) {
  std::vector<std::string> words;
  for (auto const& transfer : transfers) {
    auto const operand = transfer.operand == 0 ? "" : text(" leaf ", transfer.operand);
    words.push_back(text(transfer.peer, operand, ": ", transfer.cells));
  }
  return join(words);
}

/// "sends ...; receives ...; copies ...", without the lists that are empty.
inline std::string text_of(ExchangePlan const& plan) {
  std::vector<std::string> words;
  if (!plan.sends.empty()) words.push_back("sends " + list_of(plan.sends));
  if (!plan.receives.empty()) words.push_back("receives " + list_of(plan.receives));
  if (!plan.copies.empty()) words.push_back("copies " + list_of(plan.copies));
  return words.empty() ? "nothing" : join(words, "", "", "; ");
}

/// The transfers with one peer, as both ends should list them.
inline std::vector<Transfer> with_peer(std::vector<Transfer> const& transfers, DeviceId peer) {
  std::vector<Transfer> result;
  for (auto transfer : transfers) {
    if (transfer.peer != peer) continue;
    transfer.peer = DeviceId{};
    result.push_back(transfer);
  }
  return result;
}

inline std::string plan_of(std::vector<OperandUse> const& operands, ComputePlacement const& place,
                           std::int64_t device) {
  return text_of(plan_exchange(operands, place, DeviceId{device}));
}

}  // namespace tessera::test
