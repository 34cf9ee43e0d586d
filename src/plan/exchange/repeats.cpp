#include "src/plan/exchange/repeats.hpp"

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "src/index/index.hpp"
#include "src/index/region.hpp"

namespace tessera {
namespace {

// Places of a need whose cells another need has as well.
struct Shared {
  Box places;
  AffineMap others;  // the other's place of each
};

// The range of places along one dimension, and the other's places; nothing if they are no range.
struct SharedRange {
  std::int64_t lo;
  std::int64_t hi;
  std::int64_t offset;  // the other's place of p is offset + stride · p
  std::int64_t stride;
};

std::optional<SharedRange> shared_along(Cells const& need, Cells const& other, std::size_t d) {
  auto const lo = need.lattice.lo[d], hi = need.lattice.hi[d];
  auto const other_lo = other.lattice.lo[d], other_hi = other.lattice.hi[d];
  auto const& [cell, stride, frame] = need.axes[d];
  auto const& [other_cell, other_stride, other_frame] = other.axes[d];
  if (stride % other_stride == 0) {
    auto const step = stride / other_stride;
    auto const offset = floor_div(cell - other_cell, other_stride);
    if (offset * other_stride != cell - other_cell) return std::nullopt;
    SharedRange const range{std::max(lo, ceil_div(other_lo - offset, step)),
                            std::min(hi, floor_div(other_hi - 1 - offset, step) + 1), offset, step};
    if (range.lo >= range.hi) return std::nullopt;
    return range;
  }
  // One cell of either is a range of places, whatever the steps.
  auto const of_one = [&](std::int64_t place, std::int64_t others) -> std::optional<SharedRange> {
    bool const is_there = place >= lo && place < hi && others >= other_lo && others < other_hi &&
                          cell + stride * place == other_cell + other_stride * others;
    if (!is_there) return std::nullopt;
    return SharedRange{place, place + 1, others - place, 1};
  };
  if (hi - lo == 1) return of_one(lo, floor_div(cell + stride * lo - other_cell, other_stride));
  if (other_hi - other_lo == 1)
    return of_one(floor_div(other_cell + other_stride * other_lo - cell, stride), other_lo);
  return std::nullopt;
}

std::optional<Shared> shared(Cells const& need, Cells const& other) {
  auto const rank = need.lattice.rank();
  Shared result{need.lattice, AffineMap::identity(rank)};
  for (std::size_t d = 0; d < rank; ++d) {
    auto const range = shared_along(need, other, d);
    if (!range) return std::nullopt;
    result.places.lo[d] = range->lo;
    result.places.hi[d] = range->hi;
    result.others.axes[d] = {static_cast<int>(d), range->offset, range->stride};
  }
  return result;
}

class RepeatFinder {
 public:
  explicit RepeatFinder(Temporaries& temporaries) : temporaries_(temporaries) {}

  void find() {
    for (std::size_t number = 0; number < temporaries_.list.size(); ++number) {
      auto needs = std::move(temporaries_.list[number].needs);
      temporaries_.list[number].needs.clear();
      hulls_.push_back(Box::none(temporaries_.list[number].places.rank()));
      // Cells come to where they are cells, and are copied to their images.
      std::ranges::stable_partition(needs, [](Cells const& need) { return !need.wraps(); });
      for (auto const& need : needs) take_out_of(number, need);
    }
  }

 private:
  void take_out_of(std::size_t number, Cells const& need) {
    Region rest(need.lattice);
    auto const around = need.owned_hull();
    for (std::size_t other = 0; other <= number && !rest.empty(); ++other) {
      if (temporaries_.list[other].operand != temporaries_.list[number].operand) continue;
      // Without images, the needs of one temporary have no cell in common.
      if (other == number && !need.wraps()) continue;
      if (intersects(hulls_[other], around)) take_out(number, need, other, rest);
    }
    for (auto const& box : rest.boxes()) {
      auto const kept = need.with_lattice(box);
      hulls_[number] = hull(hulls_[number], kept.owned_hull());
      temporaries_.list[number].needs.push_back(kept);
    }
  }

  void take_out(std::size_t number, Cells const& need, std::size_t from, Region& rest) {
    for (auto const& other : temporaries_.list[from].needs) {
      auto const found = shared(need, other);
      if (!found) continue;
      Region repeated = rest;
      repeated.cut_to(found->places);
      for (auto const& box : repeated.boxes())
        temporaries_.repeats.push_back({from, number, box, found->others});
      rest.subtract(found->places);
    }
  }

  Temporaries& temporaries_;
  std::vector<Box> hulls_;  // per temporary: around the cells that come to it
};

}  // namespace

void find_repeats(Temporaries& temporaries) {
  RepeatFinder(temporaries).find();
}

}  // namespace tessera
