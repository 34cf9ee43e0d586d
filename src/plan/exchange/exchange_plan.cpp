#include "src/plan/exchange/exchange_plan.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "src/base/detail.hpp"
#include "src/base/text.hpp"
#include "src/index/affine_map.hpp"
#include "src/index/index.hpp"
#include "src/layout/count_visits.hpp"
#include "src/mesh/axes.hpp"
#include "src/plan/access.hpp"
#include "src/plan/ghost.hpp"

namespace tessera {
namespace {

bool has_gaps(Cells const& cells) {
  for (std::size_t d = 0; d < cells.axes.size(); ++d)
    if (std::abs(cells.axes[d].stride) > 1 && cells.lattice.extent(d) > 1) return true;
  return false;
}

// The lattice indices of `part` whose places are places of `others`: a box, because both step alike
// or `others` have one place; none where they step differently.
Box lattice_shared(Cells const& part, Cells const& others) {
  Box result = part.lattice;
  for (std::size_t d = 0; d < part.axes.size(); ++d) {
    auto const& axis = part.axes[d];
    auto const& other = others.axes[d];
    bool const is_one = others.lattice.extent(d) == 1;
    auto const first = other.frame + other.stride * others.lattice.lo[d] - axis.frame;
    auto const step = std::max<std::int64_t>(std::abs(axis.stride), 1);
    bool const meets = first % step == 0 && (is_one || axis.stride == other.stride);
    if (!meets || (axis.stride == 0 && first != 0)) return Box::none(part.lattice.rank());
    if (axis.stride == 0) continue;
    result.lo[d] = std::max(result.lo[d], first / axis.stride);
    result.hi[d] = std::min(result.hi[d], first / axis.stride + others.lattice.extent(d));
  }
  return result;
}

// Cells that a device reads: into one of its temporaries, or for one of its work boxes.
struct Need {
  std::size_t into;
  Cells cells;
};

// The cells that one device reads of each operand: for each of its work boxes, combinations of
// affine pieces that are cells; for those that are read through temporaries, by temporary.
class Reader {
 public:
  Reader(DeviceId device, std::span<OperandUse const> operands, ComputePlacement const& place)
      : device_(device) {
    auto const works = place.work_of(device);
    needs_.resize(operands.size());
    for (std::size_t number = 0; number < operands.size(); ++number)
      if (operands[number].lands || (operands[number].in_place && !is_repeated(operands, number)))
        add_needs(number, operands[number], works);
    temporaries_ = plan_temporaries(operands, works, device);
    for (std::size_t into = 0; into < temporaries_.list.size(); ++into)
      for (auto const& [operand, cells] : temporaries_.list[into].needs)
        needs_[operand].push_back({into, cells});
  }

  [[nodiscard]] DeviceId device() const { return device_; }
  [[nodiscard]] std::vector<Need> const& needs(std::size_t operand) const {
    return needs_[operand];
  }
  [[nodiscard]] Temporaries take_temporaries() { return std::move(temporaries_); }

 private:
  void add_needs(std::size_t number, OperandUse const& operand, std::span<WorkBox const> works) {
    for (std::size_t work = 0; work < works.size(); ++work)
      visit_cells(operand.access, works[work].indices, [&](Cells const& cells, Choice const&) {
        needs_[number].push_back({work, cells});
      });
  }

  // True if an earlier operand reads the same cells in the same ghost cells.
  static bool is_repeated(std::span<OperandUse const> operands, std::size_t number) {
    auto const& operand = operands[number];
    auto const earlier = operands.first(number);
    return std::any_of(earlier.begin(), earlier.end(), [&](OperandUse const& other) {
      return other.in_place && other.array == operand.array && other.access == operand.access;
    });
  }

  DeviceId device_;
  std::vector<std::vector<Need>> needs_;  // per operand
  Temporaries temporaries_;
};

// The cells that one device must get from one owner, which may be itself: all of the owner's cells
// that it reads, except those in its own shard and those for which its ghost cells are valid.
//
// Both ends make this list from the same numbers and from no other data, so they make it in the
// same order, and the work of a device does not depend on the number of devices.
class Delivery {
 public:
  Delivery(DeviceId owner, Reader const& reader, std::span<OperandUse const> operands)
      : owner_(owner), reader_(reader), operands_(operands) {
    CountVisits::note();
  }

  void append_to(std::vector<Transfer>& transfers, DeviceId peer) {
    for (std::size_t number = 0; number < operands_.size(); ++number)
      if (!reader_.needs(number).empty()) append_operand(number, transfers, peer);
  }

 private:
  // The ghost cells of one array that hold the owner's cells, or that are valid.
  struct Ghosts {
    std::size_t array = 0;
    Region cells;
    std::vector<Cells> with_gaps;  // that no region could hold
  };

  void append_operand(std::size_t number, std::vector<Transfer>& transfers, DeviceId peer) {
    auto const& operand = operands_[number];
    if (!operand.owned->mesh().position_of(owner_)) return;
    if (operand.owned->replica_of(owner_) != operand.owned->replica_for(reader_.device())) return;
    for (auto const& need : reader_.needs(number))
      operand.owned->visit_boxes(
          owner_, need.cells.owned_hull(), [&](std::size_t box, Box const& theirs) {
            auto const part = need.cells.with_lattice(need.cells.lattice_in(theirs));
            if (part.lattice.empty()) return;
            auto const given = lacking(operand, part);
            for (auto const& cells : given.boxes())
              transfers.push_back({peer, number, part.with_lattice(cells), need.into, box});
          });
  }

  // The lattice indices of `part` that the reader lacks. From now on they count as delivered.
  Region lacking(OperandUse const& operand, Cells const& part) {
    Region rest(part.lattice);
    if (!operand.in_place) return rest;
    if (!part.wraps())
      operand.owned->visit_boxes(
          reader_.device(), part.owned_hull(),
          [&](std::size_t, Box const& own) { rest.subtract(part.lattice_in(own)); });
    if (rest.empty()) return rest;
    auto& ghosts = ghosts_of(operand);
    for (auto const& box : ghosts.cells.boxes()) rest.subtract(part.lattice_at(box));
    for (auto const& given : ghosts.with_gaps) rest.subtract(lattice_shared(part, given));
    for (auto const& box : rest.boxes()) {
      auto const given = part.with_lattice(box);
      if (has_gaps(given))
        ghosts.with_gaps.push_back(given);
      else
        ghosts.cells.add(given.frame_hull());
    }
    return rest;
  }

  Ghosts& ghosts_of(OperandUse const& operand) {
    for (auto& ghosts : ghosts_)
      if (ghosts.array == operand.array) return ghosts;
    auto& ghosts = ghosts_.emplace_back();
    ghosts.array = operand.array;
    if (operand.validity != nullptr)
      ghosts.cells = operand.validity->valid_on(reader_.device(), *operand.owned);
    return ghosts;
  }

  DeviceId owner_;
  Reader const& reader_;
  std::span<OperandUse const> operands_;
  std::vector<Ghosts> ghosts_;
};

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
void add_owners(Reader const& reader, OperandUse const& operand, std::vector<Need> const& needs,
                std::vector<DeviceId>& owners) {
  auto const copy = operand.owned->replica_for(reader.device());
  Index const any(operand.owned->rank(), -1);
  for (auto const& need : needs)
    operand.owned->visit_devices(need.cells.owned_hull(), copy, any,
                                 [&](DeviceId owner) { owners.push_back(owner); });
}

void sort_and_unite(std::vector<DeviceId>& devices) {
  std::sort(devices.begin(), devices.end());
  devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
}

void plan_sends(DeviceId self, std::span<OperandUse const> operands, ComputePlacement const& place,
                std::vector<Transfer>& sends) {
  std::vector<DeviceId> readers;
  for (auto const& operand : operands) add_readers(self, operand, place, readers);
  sort_and_unite(readers);
  for (auto const reader : readers)
    Delivery(self, Reader(reader, operands, place), operands).append_to(sends, reader);
}

void plan_receives(DeviceId self, std::span<OperandUse const> operands,
                   ComputePlacement const& place, ExchangePlan& plan) {
  Reader reader(self, operands, place);
  std::vector<DeviceId> owners;
  for (std::size_t number = 0; number < operands.size(); ++number)
    add_owners(reader, operands[number], reader.needs(number), owners);
  sort_and_unite(owners);
  for (auto const owner : owners)
    Delivery(owner, reader, operands).append_to(owner == self ? plan.copies : plan.receives, owner);
  plan.temporaries = reader.take_temporaries();
}

}  // namespace

std::ostream& operator<<(std::ostream& out, Transfer const& transfer) {
  out << "{device " << transfer.peer << ", operand " << transfer.operand << ", " << transfer.cells;
  if (transfer.into != 0) out << ", into " << transfer.into;
  if (transfer.box != 0) out << ", box " << transfer.box;
  return out << '}';
}

ExchangePlan plan_exchange(std::span<OperandUse const> operands, ComputePlacement const& place,
                           DeviceId self) {
  ExchangePlan plan;
  plan_sends(self, operands, place, plan.sends);
  plan_receives(self, operands, place, plan);
  return plan;
}

}  // namespace tessera
