#include "src/plan/block_passes.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "src/base/detail.hpp"
#include "src/index/box.hpp"
#include "src/plan/dependences.hpp"

namespace tessera {
namespace {

// Large, but small enough that no distance overflows.
constexpr std::int64_t far = std::numeric_limits<std::int64_t>::max() / 4;

// Computes the box in which each instance is early, beyond `far` where nothing bounds it. If q
// comes after p and touches the same cells, every early cell of q depends only on early cells of p.
class EarlyBoxes {
 public:
  EarlyBoxes(LoopBody const& body, BlockSchedule const& schedule, std::vector<Box> const& own)
      : outer_(own), ends_below_(body.rank(), false), ends_above_(body.rank(), false) {
    auto const wraps = body.wraps();
    for (std::size_t d = 0; d < body.rank(); ++d) {
      for (std::size_t a = 0; a < own.size(); ++a) {
        if (body.arrays[a].is_table) continue;
        bool const is_first = own[a].lo[d] == 0;
        bool const is_last = own[a].hi[d] == body.arrays[a].shape[d];
        bool const has_ends = wraps[d] && !(is_first && is_last);
        if (has_ends || !is_first) ends_below_[d] = true;
        if (has_ends || !is_last) ends_above_[d] = true;
      }
      for (std::size_t a = 0; a < own.size(); ++a) {
        if (body.arrays[a].is_table) continue;
        if (!ends_below_[d]) outer_[a].lo[d] = -far;
        if (!ends_above_[d]) outer_[a].hi[d] = far;
      }
    }
    for (auto const& instance : schedule.instances)
      add({instance, reaches_of(body, instance)}, array_of(body, instance));
  }

  [[nodiscard]] std::vector<Box> const& boxes() const { return boxes_; }
  [[nodiscard]] bool is_bounded(std::size_t d) const { return ends_below_[d] || ends_above_[d]; }

 private:
  void add(InstanceReads later, std::size_t array) {
    auto box = outer_[array];
    for (auto const& read : later.reads)
      stay_inside(box, outer_[read.buffer.array], read.lowest, read.highest);
    for (std::size_t earlier = 0; earlier < all_.size(); ++earlier)
      visit_dependences(all_[earlier], later, [&](Index const& lowest, Index const& highest) {
        stay_inside(box, boxes_[earlier], lowest, highest);
      });
    boxes_.push_back(box);
    all_.push_back(std::move(later));
  }

  // Shrinks `box` so that, for each of its cells, the cells between `lowest` and `highest` away lie
  // in `within`.
  void stay_inside(Box& box, Box const& within, Index const& lowest, Index const& highest) const {
    for (std::size_t d = 0; d < box.rank(); ++d) {
      if (ends_below_[d]) box.lo[d] = std::max(box.lo[d], within.lo[d] - lowest[d]);
      if (ends_above_[d]) box.hi[d] = std::min(box.hi[d], within.hi[d] - highest[d]);
    }
  }

  std::vector<Box> outer_;  // the device's own cells, beyond `far` where no neighbour exists
  InlineVector<bool, max_rank> ends_below_;  // per dimension: neighbours or images lie below
  InlineVector<bool, max_rank> ends_above_;
  std::vector<InstanceReads> all_;
  std::vector<Box> boxes_;
};

// `region(i)`: where instance i computes. Empty if no instance has cells there.
template <class Region>
CellsOfInstances restricted(CellsOfInstances const& cells, Region const& region) {
  CellsOfInstances result(cells.size());
  bool is_empty = true;
  for (std::size_t i = 0; i < cells.size(); ++i)
    for (auto const& [box, moved] : cells[i])
      if (auto const part = intersect(box, region(i)); !part.empty()) {
        result[i].push_back({part, moved});
        is_empty = false;
      }
  return is_empty ? CellsOfInstances{} : result;
}

}  // namespace

BlockPasses passes_of_block(LoopBody const& body, BlockSchedule const& schedule,
                            std::vector<Box> const& own) {
  auto const cells = cells_of_block(body, schedule, own);
  EarlyBoxes const early(body, schedule, own);
  auto const& inner = early.boxes();
  auto const rank = body.rank();
  // If the box of some instance is inverted, its lower late cells may read upper ones.
  bool const is_wide = std::ranges::all_of(inner, [&](Box const& box) {
    for (std::size_t d = 0; d < rank; ++d)
      if (box.lo[d] > box.hi[d]) return false;
    return true;
  });
  BlockPasses passes;
  if (is_wide) passes.early = restricted(cells, [&](std::size_t i) { return inner[i]; });
  if (passes.early.empty()) {
    passes.late.push_back(cells);
    return passes;
  }
  auto const add_late = [&](std::size_t d, bool is_below) {
    auto pass = restricted(cells, [&](std::size_t i) {
      auto region = inner[i];
      region.lo[d] = is_below ? -far : inner[i].hi[d];
      region.hi[d] = is_below ? inner[i].lo[d] : far;
      for (auto after = d + 1; after < rank; ++after) {
        region.lo[after] = -far;
        region.hi[after] = far;
      }
      return region;
    });
    if (!pass.empty()) passes.late.push_back(std::move(pass));
  };
  for (auto d = rank; d-- > 0;) {
    if (!early.is_bounded(d)) continue;
    add_late(d, true);
    add_late(d, false);
  }
  return passes;
}

}  // namespace tessera
