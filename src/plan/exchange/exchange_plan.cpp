#include "src/plan/exchange/exchange_plan.hpp"

#include <algorithm>
#include <iterator>
#include <utility>

#include "src/base/detail.hpp"
#include "src/base/text.hpp"
#include "src/index/affine_map.hpp"
#include "src/index/index.hpp"
#include "src/mesh/axes.hpp"
#include "src/plan/access.hpp"
#include "src/plan/exchange/delivery.hpp"
#include "src/plan/exchange/sharing.hpp"
#include "src/plan/ghost.hpp"

namespace tessera {
namespace {

// The indices of an operand's choice whose cells lie in `own`, as a box of the statement's indices.
Box indices_reading(Access const& access, Cells const& cells, Choice const& choice, Box const& own,
                    Box const& indices) {
  Box result = indices;
  Box const lattice = cells.lattice_in(own);
  if (lattice.empty()) return Box::none(indices.rank());
  for (std::size_t d = 0; d < access.rank(); ++d) {
    if (access.map.axes[d].from == AxisMap::fixed) continue;
    auto const from = static_cast<std::size_t>(access.map.axes[d].from);
    bool const is_repeated = choice[d]->step == 0;
    result.lo[from] = is_repeated ? choice[d]->lo : lattice.lo[d];
    result.hi[from] = is_repeated ? choice[d]->hi : lattice.hi[d];
  }
  return result;
}

// Work and operand on one mesh: a reader takes its cells from the copy it holds itself, so it
// agrees with `self` along every mesh axis that does not cut the operand. The pieces of the work
// that `self` owns, along the dimensions that such axes alone cut; -1 along others.
Index pieces_beside(DeviceId self, OperandUse const& operand, ComputePlacement const& place) {
  auto const& sharding = place.layout->sharding();
  auto const own = sharding.pieces_at(*sharding.mesh().position_of(self));
  Index result(sharding.rank(), -1);
  for (std::size_t t = 0; t < sharding.rank(); ++t) {
    auto const& axes = sharding.spec()[t].axes();
    bool const agrees = std::none_of(axes.begin(), axes.end(), [&](std::string const& axis) {
      return is_cut_by(operand.owned->sharding().spec(), axis);
    });
    if (!axes.empty() && agrees) result[t] = own[t];
  }
  return result;
}

// The copies of the work whose devices may read from `self`: only its own copy if every mesh axis
// along which the work is repeated also repeats the operand.
std::pair<std::int64_t, std::int64_t> copies_beside(DeviceId self, OperandUse const& operand,
                                                    ComputePlacement const& place) {
  auto const& work = place.layout->sharding();
  auto const& axes = work.mesh().axes();
  bool const repeats_alike = std::all_of(axes.begin(), axes.end(), [&](MeshAxis const& axis) {
    return is_cut_by(work.spec(), axis.name) ||
           !is_cut_by(operand.owned->sharding().spec(), axis.name);
  });
  if (!repeats_alike) return {0, work.replicas()};
  auto const own = place.layout->replica_of(self);
  return {own, own + 1};
}

// Adds the devices that may need cells of an operand that `self` owns: the map inverted on mesh
// coordinates.
void add_readers(DeviceId self, OperandUse const& operand, ComputePlacement const& place,
                 std::vector<DeviceId>& readers) {
  if (place.indices.empty() || !operand.owned->mesh().position_of(self)) return;
  bool const one_mesh = operand.owned->mesh() == place.layout->mesh();
  auto const copies = one_mesh ? copies_beside(self, operand, place)
                               : std::pair(std::int64_t{0}, place.layout->sharding().replicas());
  auto const beside =
      one_mesh ? pieces_beside(self, operand, place) : Index(place.layout->rank(), -1);
  visit_cells(operand.access, place.indices, [&](Cells const& cells, Choice const& choice) {
    operand.owned->visit_boxes(self, cells.owned_hull(), [&](std::size_t, Box const& own) {
      auto const indices = indices_reading(operand.access, cells, choice, own, place.indices);
      if (indices.empty()) return;
      for (auto copy = copies.first; copy < copies.second; ++copy)
        place.layout->visit_devices(place.map.image(indices), copy, beside, [&](DeviceId reader) {
          if (reader != self) readers.push_back(reader);
        });
    });
  });
}

// Adds the devices whose cells of an operand the reader may need.
void add_owners(Reader const& reader, OperandUse const& operand,
                std::vector<Reader::Need> const& needs, std::vector<DeviceId>& owners) {
  auto const copy = operand.owned->replica_for(reader.device());
  Index const any(operand.owned->rank(), -1);
  for (auto const& need : needs)
    operand.owned->visit_devices(need.cells.owned_hull(), copy, any,
                                 [&](DeviceId owner) { owners.push_back(owner); });
}

void append(std::vector<Transfer>& transfers, std::vector<Transfer> more) {
  std::ranges::move(more, std::back_inserter(transfers));
}

void sort_and_unite(std::vector<DeviceId>& devices) {
  std::sort(devices.begin(), devices.end());
  devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
}

std::vector<Transfer> plan_sends(DeviceId self, std::span<OperandUse const> operands,
                                 ComputePlacement const& place, Forwarding const& forwarding) {
  std::vector<DeviceId> readers;
  for (auto const& operand : operands) add_readers(self, operand, place, readers);
  sort_and_unite(readers);
  auto const& hosts = forwarding.hosts;
  std::vector<Transfer> sends;
  std::vector<HostReader> on_host;
  for (auto reader = readers.begin(); reader != readers.end();) {
    on_host.clear();
    auto const host = hosts.host_of(reader->value());
    bool const may_share = forwarding.applies() && host != hosts.host_of(self.value());
    do {
      on_host.push_back(
          {*reader, transfers_between(self, Reader(*reader, operands, place), operands, *reader)});
      ++reader;
    } while (may_share && reader != readers.end() && hosts.host_of(reader->value()) == host);
    append(sends, may_share ? sends_to_host(self, operands, forwarding, on_host)
                            : std::move(on_host.front().transfers));
  }
  return sends;
}

ExchangePlan plan_receives(DeviceId self, std::span<OperandUse const> operands,
                           ComputePlacement const& place, Forwarding const& forwarding) {
  ExchangePlan plan;
  Reader reader(self, operands, place);
  std::vector<DeviceId> owners;
  for (std::size_t number = 0; number < operands.size(); ++number)
    add_owners(reader, operands[number], reader.needs(number), owners);
  sort_and_unite(owners);
  auto const& hosts = forwarding.hosts;
  HostReceives from_hosts(reader, operands, place, forwarding);
  for (auto const owner : owners) {
    if (forwarding.applies() && hosts.host_of(owner.value()) != hosts.host_of(self.value()))
      from_hosts.add(owner, plan);
    else
      append(owner == self ? plan.copies : plan.receives,
             transfers_between(owner, reader, operands, owner));
  }
  for (auto* const forwarded : {&plan.forwarded_sends, &plan.forwarded_receives})
    std::ranges::stable_sort(*forwarded, {}, &Transfer::peer);
  plan.temporaries = reader.take_temporaries();
  return plan;
}

}  // namespace

std::ostream& operator<<(std::ostream& out, Transfer const& transfer) {
  out << "{device " << transfer.peer << ", operand " << transfer.operand << ", " << transfer.cells;
  if (transfer.into != 0) out << ", into " << transfer.into;
  if (transfer.box != 0) out << ", box " << transfer.box;
  return out << '}';
}

ExchangePlan plan_exchange(std::span<OperandUse const> operands, ComputePlacement const& place,
                           DeviceId self, Forwarding const& forwarding) {
  auto plan = plan_receives(self, operands, place, forwarding);
  plan.sends = plan_sends(self, operands, place, forwarding);
  return plan;
}

}  // namespace tessera
