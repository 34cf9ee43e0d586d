#include "src/plan/exchange/second_places.hpp"

#include <algorithm>
#include <array>
#include <bit>
#include <cstdint>
#include <optional>
#include <set>
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

// A need of an array, in the order in which cells are given away: what an earlier one has, a later
// one takes from there.
struct Entry {
  std::size_t temporary = 0;
  Temporary::Need need;
  Box hull;                 // of its cells
  std::vector<Cells> kept;  // what comes to it
};

// Finds entries by where their cells lie along one dimension, those of a size together.
class EntryIndex {
 public:
  explicit EntryIndex(std::vector<Entry> const& entries) : d_(dimension_for(entries)) {
    for (std::size_t e = 0; e < entries.size(); ++e) {
      auto const size = std::bit_width(static_cast<std::uint64_t>(extent(entries[e].hull)));
      sizes_[static_cast<std::size_t>(size)].push_back({lo(entries[e].hull), e});
    }
    for (auto& list : sizes_) std::ranges::sort(list);
  }

  // Calls visit(entry) for each entry before number `end` that may meet the box.
  template <class Visit>
  void visit_before(std::size_t end, Box const& box, Visit const& visit) const {
    for (std::size_t size = 0; size < sizes_.size(); ++size) {
      auto const& list = sizes_[size];
      if (list.empty()) continue;
      auto const longest = std::int64_t{1} << size;
      auto at = std::ranges::upper_bound(list, lo(box) - longest, {}, &Place::lo);
      for (; at != list.end() && at->lo < lo(box) + extent(box); ++at)
        if (at->entry < end) visit(at->entry);
    }
  }

 private:
  struct Place {
    std::int64_t lo;
    std::size_t entry;
    friend auto operator<=>(Place const&, Place const&) = default;
  };

  // The one in which the entries are small beside what all of them span.
  static std::size_t dimension_for(std::vector<Entry> const& entries) {
    auto around = entries.front().hull;
    for (auto const& entry : entries) around = hull(around, entry.hull);
    std::size_t best = 0;
    double most = 0;
    for (std::size_t d = 0; d < around.rank(); ++d) {
      double sum = 0;
      for (auto const& entry : entries) sum += static_cast<double>(entry.hull.extent(d));
      auto const ratio = static_cast<double>(around.extent(d)) / sum;
      if (ratio > most) best = d;
      most = std::max(most, ratio);
    }
    return best;
  }

  [[nodiscard]] std::int64_t lo(Box const& box) const { return box.rank() == 0 ? 0 : box.lo[d_]; }
  [[nodiscard]] std::int64_t extent(Box const& box) const {
    return box.rank() == 0 ? 1 : box.extent(d_);
  }

  std::size_t d_;
  std::array<std::vector<Place>, 64> sizes_;
};

class SecondPlaceFinder {
 public:
  explicit SecondPlaceFinder(Temporaries& temporaries) : temporaries_(temporaries) {}

  void find_in(std::size_t array) {
    collect(array);
    bool const is_alone = std::ranges::all_of(entries_, [&](Entry const& entry) {
      return entry.temporary == entries_.front().temporary && !entry.need.cells.wraps();
    });
    if (is_alone) return;  // the needs of one temporary have no place in common
    EntryIndex const index(entries_);
    for (std::size_t e = 0; e < entries_.size(); ++e) take_out_of(e, index);
    for (auto const& entry : entries_) temporaries_.list[entry.temporary].needs.clear();
    for (auto const& [temporary, need, hull, kept] : entries_)
      for (auto const& cells : kept)
        temporaries_.list[temporary].needs.push_back({need.operand, cells});
  }

 private:
  // Those of narrow steps first, as the temporaries are, since wider ones can be copied from them;
  // in each temporary the cells themselves before their images.
  void collect(std::size_t array) {
    entries_.clear();
    for (std::size_t number = 0; number < temporaries_.list.size(); ++number)
      for (bool const wraps : {false, true})
        if (temporaries_.list[number].array == array)
          for (auto const& need : temporaries_.list[number].needs)
            if (need.cells.wraps() == wraps)
              entries_.push_back({number, need, need.cells.owned_hull(), {}});
  }

  void take_out_of(std::size_t number, EntryIndex const& index) {
    auto& entry = entries_[number];
    auto const& cells = entry.need.cells;
    Region rest(cells.lattice);
    index.visit_before(number, entry.hull, [&](std::size_t other) {
      if (!rest.empty() && intersects(entries_[other].hull, entry.hull))
        take_out(entry, entries_[other], rest);
    });
    for (auto const& box : rest.boxes()) entry.kept.push_back(cells.with_lattice(box));
  }

  void take_out(Entry const& entry, Entry const& from, Region& rest) {
    for (auto const& other : from.kept) {
      auto const found = shared(entry.need.cells, other);
      if (!found) continue;
      auto taken = rest;
      taken.cut_to(found->places);
      for (auto const& box : taken.boxes())
        temporaries_.second_places.push_back({from.temporary, entry.temporary, box, found->others});
      rest.subtract(found->places);
    }
  }

  Temporaries& temporaries_;
  std::vector<Entry> entries_;  // of one array
};

}  // namespace

void find_second_places(Temporaries& temporaries) {
  std::set<std::size_t> arrays;
  for (auto const& temporary : temporaries.list) arrays.insert(temporary.array);
  SecondPlaceFinder finder(temporaries);
  for (auto const array : arrays) finder.find_in(array);
}

}  // namespace tessera
