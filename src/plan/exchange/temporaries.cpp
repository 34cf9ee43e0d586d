#include "src/plan/exchange/temporaries.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "tessera/detail/base/assert.hpp"

#include "src/index/index.hpp"
#include "src/plan/exchange/division.hpp"
#include "src/plan/exchange/second_places.hpp"

namespace tessera {
namespace {

// Where a dimension repeats: cells [first, first + count) and their images; a count of 0 if it
// does not.
struct Period {
  std::int64_t first = 0;
  std::int64_t count = 0;
  friend bool operator==(Period const&, Period const&) = default;
};

// What reads must have in common to share a temporary.
struct Kind {
  std::size_t array = 0;
  InlineVector<Temporary::Axis, max_rank> axes;
  InlineVector<Period, max_rank> periods;
  friend bool operator==(Kind const&, Kind const&) = default;
};

// The steps and periods along one dimension that reads of an array have so far.
struct Found {
  std::size_t array = 0;
  std::size_t dimension = 0;
  std::vector<Temporary::Axis> steps;
  std::vector<Period> periods;
};

template <class T>
void add_once(std::vector<T>& list, T const& value) {
  if (std::ranges::find(list, value) == list.end()) list.push_back(value);
}

bool steps(Cells const& cells, std::size_t d) {
  return cells.axes[d].stride != 0 && cells.lattice.extent(d) > 1;
}

Temporary::Axis step_of(Cells::Axis const& axis) {
  auto const stride = std::abs(axis.stride);
  return {floor_mod(axis.frame, stride), stride};
}

bool is_on(Temporary::Axis const& axis, std::int64_t position) {
  return floor_mod(position - axis.first, axis.stride) == 0;
}

// The same cells, counted by place.
Cells by_place(Cells cells, Kind const& kind) {
  for (std::size_t d = 0; d < cells.axes.size(); ++d) {
    auto& axis = cells.axes[d];
    auto const [first, stride] = kind.axes[d];
    auto const a = axis.frame + axis.stride * cells.lattice.lo[d];
    auto const b = axis.frame + axis.stride * (cells.lattice.hi[d] - 1);
    cells.lattice.lo[d] = floor_div(std::min(a, b) - first, stride);
    cells.lattice.hi[d] = floor_div(std::max(a, b) - first, stride) + 1;
    axis = {first + axis.cell - axis.frame, stride, first};
  }
  return cells;
}

// Collects what the device reads, and sorts it by kind.
class TemporaryPlanner {
 public:
  TemporaryPlanner(std::span<OperandUse const> operands, DeviceId device)
      : operands_(operands), device_(device) {}

  Temporaries plan(std::span<WorkBox const> works) {
    for (std::size_t operand = 0; operand < operands_.size(); ++operand) {
      if (operands_[operand].in_place || operands_[operand].lands) continue;
      for (std::size_t work = 0; work < works.size(); ++work)
        add_reads(operand, work, works[work].indices);
    }
    for (std::size_t read = 0; read < result_.reads.size(); ++read) note_found(read);
    for (std::size_t read = 0; read < result_.reads.size(); ++read) add_item(read);
    // Cells that are read at a wider step, too, are copied from those of the narrower one.
    std::ranges::sort(kinds_, {}, [&](auto const& entry) {
      return std::pair(spacing_of(entry), entry.second.front().read);
    });
    for (auto& [kind, items] : kinds_) divide(items, {kind.array, {}, kind.axes, {}}, result_);
    find_second_places(result_);
    return std::move(result_);
  }

 private:
  // Periodic images are adjacent where the reader expects them: one read.
  void add_reads(std::size_t operand, std::size_t work, Box const& indices) {
    auto const first = result_.reads.size();
    visit_cells(operands_[operand].access, indices, [&](Cells const& cells, Choice const&) {
      auto read = first;
      while (read < result_.reads.size() && !is_alike(result_.reads[read].cells, cells)) ++read;
      if (read == result_.reads.size()) {
        result_.reads.push_back({operand, work, cells});
        images_.emplace_back();
      }
      auto& lattice = result_.reads[read].cells.lattice;
      lattice = hull(lattice, cells.lattice);
      images_[read].push_back(cells);
    });
  }

  static bool is_alike(Cells const& a, Cells const& b) {
    return std::ranges::equal(a.axes, b.axes, [](Cells::Axis const& x, Cells::Axis const& y) {
      return x.stride == y.stride && x.frame == y.frame;
    });
  }

  [[nodiscard]] bool wraps(std::size_t read, std::size_t d) const {
    return std::ranges::any_of(images_[read], [&](Cells const& cells) {
      return cells.axes[d].cell != cells.axes[d].frame;
    });
  }

  // True if the read finds all its cells in one box of the device.
  [[nodiscard]] bool is_direct(std::size_t read) const {
    auto const& operand = operands_[result_.reads[read].operand];
    if (operand.is_overwritten || !operand.owned->mesh().position_of(device_)) return false;
    auto const& cells = result_.reads[read].cells;
    for (std::size_t d = 0; d < cells.axes.size(); ++d)
      if (wraps(read, d)) return false;
    auto const around = cells.frame_hull();
    bool found = false;
    operand.owned->visit_boxes(device_, around, [&](std::size_t, Box const& own) {
      found = found || own.contains(around);
    });
    return found;
  }

  void note_found(std::size_t read) {
    auto const operand = result_.reads[read].operand;
    auto const& cells = result_.reads[read].cells;
    for (std::size_t d = 0; d < cells.axes.size(); ++d) {
      auto& found = found_along(operands_[operand].array, d);
      if (steps(cells, d)) add_once(found.steps, step_of(cells.axes[d]));
      if (wraps(read, d)) add_once(found.periods, period_of(operands_[operand].access, d));
    }
  }

  Found& found_along(std::size_t array, std::size_t d) {
    for (auto& found : found_)
      if (found.array == array && found.dimension == d) return found;
    found_.push_back({array, d, {}, {}});
    return found_.back();
  }

  static Period period_of(Access const& access, std::size_t d) {
    auto const& [below, above, first, count, dimension] = access.boundaries[d];
    auto const stride = access.map.axes[d].stride;
    return {std::min(first, first + stride * (count - 1)), count * std::abs(stride)};
  }

  void add_item(std::size_t read) {
    if (is_direct(read)) return;
    auto const kind = kind_of(read);
    Item item{read, {}, {}};
    for (auto const& cells : images_[read]) {
      item.cells.push_back(by_place(cells, kind));
      auto const& places = item.cells.back().lattice;
      item.places = item.cells.size() == 1 ? places : hull(item.places, places);
    }
    auto const at = std::ranges::find(kinds_, kind, [](auto const& entry) { return entry.first; });
    if (at != kinds_.end())
      at->second.push_back(std::move(item));
    else
      kinds_.push_back({kind, {std::move(item)}});
  }

  [[nodiscard]] Kind kind_of(std::size_t read) {
    auto const operand = result_.reads[read].operand;
    auto const& cells = result_.reads[read].cells;
    Kind kind{operands_[operand].array, {}, {}};
    auto const around = cells.frame_hull();
    for (std::size_t d = 0; d < cells.axes.size(); ++d) {
      auto const& found = found_along(kind.array, d);
      kind.axes.push_back(steps(cells, d) ? step_of(cells.axes[d])
                                          : step_with(found, around.lo[d]));
      kind.periods.push_back(wraps(read, d) ? period_of(operands_[operand].access, d)
                                            : period_around(found, around.lo[d], around.hi[d]));
    }
    return kind;
  }

  // How far apart the cells of a kind are: a kind of one position along a dimension can take it
  // from cells at any step, and gives it to none.
  [[nodiscard]] std::int64_t spacing_of(std::pair<Kind, std::vector<Item>> const& entry) {
    auto const& [kind, items] = entry;
    std::int64_t spacing = 1;
    for (std::size_t d = 0; d < kind.axes.size(); ++d) {
      bool const is_one =
          std::ranges::all_of(items, [d](Item const& item) { return item.places.extent(d) == 1; });
      auto widest = kind.axes[d].stride;
      for (auto const& axis : found_along(kind.array, d).steps)
        if (is_one) widest = std::max(widest, axis.stride);
      spacing *= widest;
    }
    return spacing;
  }

  // One position may lie among those of others, best of the narrowest step.
  static Temporary::Axis step_with(Found const& found, std::int64_t position) {
    Temporary::Axis const* narrowest = nullptr;
    for (auto const& axis : found.steps)
      if (is_on(axis, position) && (narrowest == nullptr || axis.stride < narrowest->stride))
        narrowest = &axis;
    return narrowest == nullptr ? Temporary::Axis{} : *narrowest;
  }

  // Cells that others repeat may lie among theirs.
  static Period period_around(Found const& found, std::int64_t lo, std::int64_t hi) {
    for (auto const& period : found.periods)
      if (lo >= period.first && hi <= period.first + period.count) return period;
    return {};
  }

  std::span<OperandUse const> operands_;
  DeviceId device_;
  Temporaries result_;
  std::vector<std::vector<Cells>> images_;  // per read
  std::vector<Found> found_;
  std::vector<std::pair<Kind, std::vector<Item>>> kinds_;
};

}  // namespace

AffineMap Temporary::places_of(AffineMap cells, Index const& first) const {
  for (std::size_t d = 0; d < cells.rank(); ++d) {
    auto& axis = cells.axes[d];
    auto const stride = axes[d].stride;
    auto const origin = axis.offset - axes[d].first;
    bool const moves = axis.from != AxisMap::fixed;
    auto const index = moves ? first[static_cast<std::size_t>(axis.from)] : 0;
    if (moves && std::abs(axis.stride) == stride)
      axis = {axis.from, origin / stride, axis.stride / stride};
    else
      axis = {AxisMap::fixed, (origin + axis.stride * index) / stride, 1};
  }
  return cells;
}

TemporaryRead const& Temporaries::read_of(std::size_t operand, std::size_t work,
                                          OperandFormula const& formula) const {
  auto const at = std::ranges::lower_bound(
      reads, std::pair(operand, work), {},
      [](TemporaryRead const& read) { return std::pair(read.operand, read.work); });
  auto const read = std::find_if(at, reads.end(), [&](TemporaryRead const& other) {
    return std::ranges::equal(other.cells.axes, formula.affine_pieces,
                              [](Cells::Axis const& axis, AffinePiece const& piece) {
                                return axis.stride == piece.step && axis.frame == piece.frame();
                              });
  });
  TESSERA_ASSERT(read != reads.end() && read->operand == operand && read->work == work, "operand ",
                 operand, " of work ", work, " has no such formula");
  return *read;
}

Temporaries plan_temporaries(std::span<OperandUse const> operands, std::span<WorkBox const> works,
                             DeviceId device) {
  return TemporaryPlanner(operands, device).plan(works);
}

}  // namespace tessera
