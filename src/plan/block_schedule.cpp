#include "src/plan/block_schedule.hpp"

#include <algorithm>
#include <array>
#include <utility>

#include "src/base/detail.hpp"
#include "src/index/box.hpp"
#include "src/index/index.hpp"
#include "src/index/region.hpp"
#include "src/plan/dependences.hpp"
#include "src/plan/ghost.hpp"

namespace tessera {
namespace {

std::int64_t rounded_up(std::int64_t value, std::int64_t unit) {
  return ceil_div(value, unit) * unit;
}

// A property of some arrays, spread to all that they turn into.
void spread(std::vector<bool>& marks, std::vector<std::size_t> const& next) {
  for (std::size_t round = 0; round < next.size(); ++round)
    for (std::size_t a = 0; a < next.size(); ++a)
      if (marks[a]) marks[next[a]] = true;
}

// The cells that each statement must carry over, and where buffers differ at the start of a step.
struct Carries {
  std::vector<std::vector<Box>> of_statement;
  std::vector<Box> differing;
};

// Processes one step: computes the cells that statements carry over, and updates `differing` from
// the start of this step to the start of the next.
void pass(LoopBody const& body, Carries& carries) {
  auto differing = carries.differing;
  carries.of_statement.assign(body.statements.size(), {});
  for (std::size_t s = 0; s < body.statements.size(); ++s) {
    auto const& statement = body.statements[s];
    if (statement.reduces) continue;
    auto& box = differing[statement.array];
    if (!statement.swaps) {
      box = hull(box, statement.written);
      continue;
    }
    auto& carried = carries.of_statement[s];
    if (statement.has_holes)
      carried.push_back(box);
    else
      append_difference(box, statement.written, carried);
    std::erase_if(carried, [](Box const& cells) { return cells.empty(); });
    box = statement.written;
  }
  for (std::size_t a = 0; a < body.arrays.size(); ++a)
    carries.differing[a] = hull(carries.differing[a], differing[body.next[a]]);
}

// Boxes only grow from pass to pass, at most to the hull of all written cells. Carrying a cell in
// which buffers do not differ is harmless.
Carries carries_of(LoopBody const& body) {
  Carries carries{{}, std::vector<Box>(body.arrays.size(), Box::none(body.rank()))};
  for (;;) {
    auto const before = carries.differing;
    pass(body, carries);
    if (carries.differing == before) return carries;
  }
}

// Unrolls the statements step by step, each with its current buffers.
class Unroller {
 public:
  explicit Unroller(LoopBody const& body)
      : body_(body),
        carries_(carries_of(body)),
        names_(body.arrays.size()),
        current_(body.arrays.size(), 0) {
    for (std::size_t a = 0; a < names_.size(); ++a) names_[a] = a;
  }

  BlockSchedule unroll(std::int64_t steps) {
    schedule_.steps = steps;
    for (std::int64_t step = 0; step < steps; ++step) {
      for (std::size_t s = 0; s < body_.statements.size(); ++s) add(s, step);
      auto const before = names_;
      for (std::size_t a = 0; a < names_.size(); ++a) names_[a] = before[body_.next[a]];
    }
    for (std::size_t a = 0; a < names_.size(); ++a) schedule_.after.push_back(buffer_of(a));
    return std::move(schedule_);
  }

 private:
  BlockBuffer buffer_of(std::size_t name) const { return {names_[name], current_[names_[name]]}; }

  void add(std::size_t s, std::int64_t step) {
    auto const& statement = body_.statements[s];
    if (statement.reduces && step < schedule_.steps - body_.kept_totals) return;
    BlockInstance instance{s, step, false, {statement.written}, std::nullopt, {}, {}};
    for (auto const& read : statement.reads) instance.reads.push_back(buffer_of(read.array));
    if (statement.swaps) {
      auto const from = buffer_of(statement.array);
      current_[from.array] = 1 - from.which;
      if (auto const& boxes = carries_.of_statement[s]; !boxes.empty())
        schedule_.instances.push_back(
            {s, step, true, boxes, BlockBuffer{from.array, 1 - from.which}, {from}, {}});
    }
    if (!statement.reduces) instance.target = buffer_of(statement.array);
    schedule_.instances.push_back(std::move(instance));
  }

  LoopBody const& body_;
  Carries carries_;
  std::vector<std::size_t> names_;  // which array, as the block's start calls it, a name stands for
  std::vector<std::size_t> current_;  // of those arrays
  BlockSchedule schedule_;
};

// The skews: each the longest path to its instance over pairs that touch the same buffer.
class Skewer {
 public:
  Skewer(LoopBody const& body, std::vector<BlockInstance>& instances, std::int64_t alignment)
      : body_(body), instances_(instances), alignment_(alignment), rank_(body.rank()) {
    for (auto& instance : instances) {
      instance.skew = Index(rank_, 0);
      all_.push_back({instance, reaches_of(body, instance)});
    }
  }

  void skew() {
    for (std::size_t later = 0; later < all_.size(); ++later)
      for (std::size_t earlier = 0; earlier < later; ++earlier)
        if (part_of(earlier) == part_of(later))
          visit_dependences(all_[earlier], all_[later], [&](Index const&, Index const& highest) {
            demand(instances_[earlier].skew, instances_[later].skew, highest);
          });
  }

 private:
  [[nodiscard]] std::size_t part_of(std::size_t instance) const {
    return body_.statements[instances_[instance].statement].part;
  }

  // Requires the skew of the later instance to exceed that of the earlier one by at least `by`.
  void demand(Index const& earlier, Index& later, Index by) const {
    for (std::size_t d = 0; d < rank_; ++d) {
      if (d + 1 == rank_) by[d] = rounded_up(by[d], alignment_);
      later[d] = std::max(later[d], earlier[d] + by[d]);
    }
  }

  LoopBody const& body_;
  std::vector<BlockInstance>& instances_;
  std::int64_t alignment_;
  std::size_t rank_;
  std::vector<InstanceReads> all_;
};

// Goes backwards from the cells that must be correct at the end, in both buffers of every array,
// and collects the cells that each instance needs, counted from a device's box of the reference.
std::vector<GhostWidths> ghost_widths_of_block(LoopBody const& body,
                                               std::vector<BlockInstance> const& instances) {
  auto const rank = body.rank();
  std::vector<std::array<GhostWidths, 2>> needs;
  for (auto const& array : body.arrays) needs.push_back({array.beyond, array.beyond});
  for (auto i = instances.size(); i-- > 0;) {
    auto const& target = instances[i].target;
    auto const around = target ? needs[target->array][target->which]
                               : body.arrays[array_of(body, instances[i])].beyond;
    for (auto const& read : reaches_of(body, instances[i])) {
      auto& need = needs[read.buffer.array][read.buffer.which];
      for (std::size_t d = 0; d < rank; ++d) {
        need.below[d] = std::max(need.below[d], around.below[d] - read.lowest[d]);
        need.above[d] = std::max(need.above[d], around.above[d] + read.highest[d]);
      }
    }
  }
  std::vector<GhostWidths> widths;
  for (std::size_t a = 0; a < needs.size(); ++a) {
    auto width = needs[a][0].merged(needs[a][1]);
    if (body.arrays[a].is_table) {
      widths.push_back(width);
      continue;
    }
    auto const& short_of = body.arrays[a].short_of;
    for (std::size_t d = 0; d < rank; ++d) {
      width.below[d] = std::max<std::int64_t>(width.below[d] + short_of.below[d], 0);
      width.above[d] = std::max<std::int64_t>(width.above[d] + short_of.above[d], 0);
    }
    widths.push_back(width);
  }
  return widths;
}

// The images of a box of an array that meet unwrapped cells.
class Images {
 public:
  Images(Shape const& shape, InlineVector<bool, max_rank> const& wraps, Box const& around)
      : shape_(shape), lo_(shape.size(), 0), hi_(shape.size(), 0) {
    for (std::size_t d = 0; d < shape.size(); ++d) {
      if (!wraps[d] || shape[d] == 0) continue;
      lo_[d] = floor_div(around.lo[d], shape[d]);
      hi_[d] = floor_div(around.hi[d] - 1, shape[d]);
    }
  }

  // Calls visit(moved): how far the image lies from the array, whole periods.
  template <class Visit>
  void visit(Visit const& visit) const {
    auto at = lo_;
    for (;;) {
      Index moved;
      for (std::size_t d = 0; d < shape_.size(); ++d) moved.push_back(at[d] * shape_[d]);
      visit(moved);
      std::size_t d = shape_.size();
      while (d-- > 0) {
        if (++at[d] <= hi_[d]) break;
        at[d] = lo_[d];
      }
      if (d == static_cast<std::size_t>(-1)) return;
    }
  }

 private:
  Shape const& shape_;
  Index lo_;
  Index hi_;
};

// Returns the cells of a buffer that these cells read; only images lie past the ends of the domain.
Box need_of(BlockCells const& cells, BlockReach const& read, Shape const& shape) {
  auto box = cells.cells;
  for (std::size_t d = 0; d < box.rank(); ++d) {
    box.lo[d] += read.lowest[d];
    box.hi[d] += read.highest[d];
    if (read.wraps[d]) continue;
    box.lo[d] = std::max(box.lo[d], cells.moved[d]);
    box.hi[d] = std::min(box.hi[d], cells.moved[d] + shape[d]);
  }
  return box;
}

}  // namespace

std::size_t LoopBody::rank() const {
  auto const found =
      std::ranges::find_if(arrays, [](LoopArray const& array) { return !array.is_table; });
  return found == arrays.end() ? 0 : found->shape.size();
}

InlineVector<bool, max_rank> LoopBody::wraps() const {
  InlineVector<bool, max_rank> result(rank(), false);
  for (auto const& statement : statements)
    for (auto const& read : statement.reads)
      for (std::size_t d = 0; d < rank() && !read.is_table; ++d)
        result[d] = result[d] || read.wraps[d];
  return result;
}

std::vector<bool> LoopBody::written() const {
  std::vector<bool> marks(arrays.size(), false);
  for (auto const& statement : statements)
    if (!statement.reduces) marks[statement.array] = true;
  spread(marks, next);
  return marks;
}

std::vector<bool> LoopBody::swapped() const {
  std::vector<bool> marks(arrays.size(), false);
  for (auto const& statement : statements)
    if (statement.swaps) marks[statement.array] = true;
  spread(marks, next);
  return marks;
}

std::vector<Box> LoopBody::differing() const {
  return carries_of(*this).differing;
}

std::size_t array_of(LoopBody const& body, BlockInstance const& instance) {
  return instance.target ? instance.target->array : body.statements[instance.statement].array;
}

std::vector<BlockReach> reaches_of(LoopBody const& body, BlockInstance const& instance) {
  auto const rank = body.rank();
  if (instance.carries)
    return {{instance.reads[0], Index(rank, 0), Index(rank, 0),
             InlineVector<bool, max_rank>(rank, false)}};
  std::vector<BlockReach> reaches;
  auto const& reads = body.statements[instance.statement].reads;
  for (std::size_t r = 0; r < reads.size(); ++r)
    if (!reads[r].is_table)
      reaches.push_back({instance.reads[r], reads[r].lowest, reads[r].highest, reads[r].wraps});
  return reaches;
}

BlockSchedule schedule_block(LoopBody const& body, std::int64_t steps, std::int64_t alignment) {
  auto schedule = Unroller(body).unroll(steps);
  Skewer(body, schedule.instances, alignment).skew();
  schedule.widths = ghost_widths_of_block(body, schedule.instances);
  return schedule;
}

std::vector<std::vector<BlockCells>> cells_of_block(LoopBody const& body,
                                                    BlockSchedule const& schedule,
                                                    std::vector<Box> const& own) {
  std::vector<std::vector<BlockCells>> result(schedule.instances.size());
  auto const wraps = body.wraps();
  std::vector<std::array<Box, 2>> needs;
  for (auto const& box : own) needs.push_back({box, box});
  for (auto i = schedule.instances.size(); i-- > 0;) {
    auto const& instance = schedule.instances[i];
    auto const array = array_of(body, instance);
    auto const wanted = instance.target ? needs[array][instance.target->which] : own[array];
    if (wanted.empty()) continue;
    Images(body.arrays[array].shape, wraps, wanted).visit([&](Index const& moved) {
      for (auto const& box : instance.boxes)
        if (auto const cells = intersect(box.shifted(moved), wanted); !cells.empty())
          result[i].push_back({cells, moved});
    });
    auto const reads = reaches_of(body, instance);
    for (auto const& cells : result[i])
      for (auto const& read : reads) {
        auto& need = needs[read.buffer.array][read.buffer.which];
        need = hull(need, need_of(cells, read, body.arrays[read.buffer.array].shape));
      }
  }
  return result;
}

}  // namespace tessera
