#include "src/plan/exchange/delivery.hpp"

#include <algorithm>
#include <cstdint>
#include <cstdlib>

#include "src/index/box.hpp"
#include "src/layout/count_visits.hpp"
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

// True if an earlier operand reads the same cells in the same ghost cells.
bool is_repeated(std::span<OperandUse const> operands, std::size_t number) {
  auto const& operand = operands[number];
  auto const earlier = operands.first(number);
  return std::any_of(earlier.begin(), earlier.end(), [&](OperandUse const& other) {
    return other.in_place && other.array == operand.array && other.access == operand.access;
  });
}

class Delivery {
 public:
  Delivery(DeviceId owner, Reader const& reader, std::span<OperandUse const> operands)
      : owner_(owner), reader_(reader), operands_(operands) {
    CountVisits::note();
  }

  [[nodiscard]] std::vector<Transfer> transfers(DeviceId peer) {
    std::vector<Transfer> transfers;
    for (std::size_t number = 0; number < operands_.size(); ++number)
      if (!reader_.needs(number).empty()) append_operand(number, transfers, peer);
    return transfers;
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

}  // namespace

Reader::Reader(DeviceId device, std::span<OperandUse const> operands, ComputePlacement const& place)
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

void Reader::add_needs(std::size_t number, OperandUse const& operand,
                       std::span<WorkBox const> works) {
  for (std::size_t work = 0; work < works.size(); ++work)
    visit_cells(operand.access, works[work].indices, [&](Cells const& cells, Choice const&) {
      needs_[number].push_back({work, cells});
    });
}

std::vector<Transfer> transfers_between(DeviceId owner, Reader const& reader,
                                        std::span<OperandUse const> operands, DeviceId peer) {
  return Delivery(owner, reader, operands).transfers(peer);
}

}  // namespace tessera
