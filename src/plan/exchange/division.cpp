#include "src/plan/exchange/division.hpp"

#include <algorithm>
#include <functional>
#include <numeric>
#include <tuple>
#include <utility>

#include "src/index/box.hpp"
#include "src/index/index.hpp"
#include "src/index/region.hpp"

namespace tessera {
namespace {

// Needs that meet share a temporary of at most so many times their cells, or so many cells.
constexpr std::int64_t most_hull = 2;
constexpr std::int64_t small_hull = 512;
// Each temporary begins at a line of 64 bytes: so many places, of 8 bytes each, count as a whole.
constexpr std::int64_t places_of_a_line = 8;

using Items = std::span<Item>;

Box hull_of(Items items) {
  auto result = items.front().places;
  for (auto const& item : items) result = hull(result, item.places);
  return result;
}

std::int64_t count_of(std::vector<Temporary::Need> const& needs) {
  return std::transform_reduce(needs.begin(), needs.end(), std::int64_t{0}, std::plus{},
                               [](auto const& need) { return need.cells.count(); });
}

class Division {
 public:
  Division(Temporary const& empty, Temporaries& temporaries)
      : empty_(empty), temporaries_(temporaries) {}

  // Returns the cells that are needed, each place once.
  std::vector<Temporary::Need> divide(Items items) {
    auto const first = temporaries_.list.size();
    auto const parts = separate(items);
    if (parts.size() == 1) return place_together(items);
    std::vector<Temporary::Need> needs;
    for (auto const& part : parts)
      for (auto& need : divide(part)) needs.push_back(std::move(need));
    auto const hull = hull_of(items);
    auto const count = count_of(needs);
    if (hull.cells() <= std::max(count + count / 4, places_since(first))) {
      temporaries_.list.resize(first);
      append(items, hull, needs);
    }
    return needs;
  }

 private:
  // What the temporaries from number `first` on hold, each with whole lines.
  [[nodiscard]] std::int64_t places_since(std::size_t first) const {
    std::int64_t places = 0;
    for (auto t = first; t < temporaries_.list.size(); ++t)
      places += ceil_div(temporaries_.list[t].places.cells(), places_of_a_line) * places_of_a_line;
    return places;
  }

  // Cuts the items where a plane divides them; one part if none does.
  static std::vector<Items> separate(Items items) {
    std::vector<Items> parts;
    for (std::size_t d = 0; d < items.front().places.rank(); ++d) {
      sort_along(items, d);
      std::size_t begin = 0;
      auto end = items.front().places.hi[d];
      for (std::size_t i = 1; i < items.size(); ++i) {
        if (items[i].places.lo[d] >= end) {
          parts.push_back(items.subspan(begin, i - begin));
          begin = i;
        }
        end = std::max(end, items[i].places.hi[d]);
      }
      if (begin > 0) {
        parts.push_back(items.subspan(begin));
        return parts;
      }
    }
    return {items};
  }

  static void sort_along(Items items, std::size_t d) {
    std::ranges::sort(items, [d](Item const& a, Item const& b) {
      return std::tuple(a.places.lo[d], a.places.hi[d], a.read) <
             std::tuple(b.places.lo[d], b.places.hi[d], b.read);
    });
  }

  // Of items that no plane divides.
  std::vector<Temporary::Need> place_together(Items items) {
    auto const hull = hull_of(items);
    auto needs = united(items, longest(hull, items));
    if (hull.cells() <= most_hull * count_of(needs) || hull.cells() <= small_hull)
      append(items, hull, needs);
    else
      place_apart(items);
    return needs;
  }

  // Items of the same places share one; others that meet have cells in several.
  void place_apart(Items items) {
    std::ranges::sort(items, [](Item const& a, Item const& b) {
      return std::tie(a.places.lo, a.places.hi, a.read) <
             std::tie(b.places.lo, b.places.hi, b.read);
    });
    for (std::size_t begin = 0, end = 0; begin < items.size(); begin = end) {
      while (end < items.size() && items[end].places == items[begin].places) ++end;
      auto const alike = items.subspan(begin, end - begin);
      append(alike, alike.front().places, united(alike, 0));
    }
  }

  // The dimension along which the hull is longest, in items.
  static std::size_t longest(Box const& hull, Items items) {
    std::size_t result = 0;
    double most = 0;
    for (std::size_t d = 0; d < hull.rank(); ++d) {
      auto const ratio =
          static_cast<double>(hull.extent(d)) / static_cast<double>(items.front().places.extent(d));
      if (ratio > most) result = d;
      most = std::max(most, ratio);
    }
    return result;
  }

  // The cells of all items, each place once. `d`: the dimension along which most lie apart.
  [[nodiscard]] std::vector<Temporary::Need> united(Items items, std::size_t d) const {
    std::vector<Temporary::Need> needs;
    std::vector<Box> near;  // what later items can still meet
    if (items.front().places.rank() > 0) sort_along(items, d);
    for (auto const& item : items) {
      auto const operand = temporaries_.reads[item.read].operand;
      if (item.places.rank() > 0)
        std::erase_if(near, [&](Box const& box) { return box.hi[d] <= item.places.lo[d]; });
      for (auto const& cells : item.cells) {
        Region rest(cells.lattice);
        for (auto const& box : near) rest.subtract(box);
        for (auto const& box : rest.boxes()) {
          near.push_back(box);
          needs.push_back({operand, cells.with_lattice(box)});
        }
      }
    }
    return needs;
  }

  void append(Items items, Box const& places, std::vector<Temporary::Need> needs) {
    for (auto const& item : items)
      temporaries_.reads[item.read].temporary = temporaries_.list.size();
    auto& temporary = temporaries_.list.emplace_back(empty_);
    temporary.places = places;
    temporary.needs = std::move(needs);
  }

  Temporary const& empty_;
  Temporaries& temporaries_;
};

}  // namespace

void divide(std::span<Item> items, Temporary const& empty, Temporaries& temporaries) {
  Division(empty, temporaries).divide(items);
}

}  // namespace tessera
