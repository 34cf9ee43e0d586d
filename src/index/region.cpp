#include "src/index/region.hpp"

#include <algorithm>

#include "src/base/text.hpp"
#include "src/index/box.hpp"

namespace tessera {

void append_difference(Box const& a, Box const& b, std::vector<Box>& into) {
  if (a.empty()) return;
  Box const common = intersect(a, b);
  if (common.empty()) {
    into.push_back(a);
    return;
  }
  // Peel a slab off each side, dimension by dimension; what remains is the common part.
  Box rest = a;
  for (std::size_t d = 0; d < a.rank(); ++d) {
    if (rest.lo[d] < common.lo[d]) {
      Box slab = rest;
      slab.hi[d] = common.lo[d];
      into.push_back(slab);
      rest.lo[d] = common.lo[d];
    }
    if (common.hi[d] < rest.hi[d]) {
      Box slab = rest;
      slab.lo[d] = common.hi[d];
      into.push_back(slab);
      rest.hi[d] = common.hi[d];
    }
  }
}

std::int64_t Region::cells() const {
  std::int64_t cells = 0;
  for (auto const& box : boxes_) cells += box.cells();
  return cells;
}

bool Region::contains(Box const& box) const {
  if (box.empty()) return true;
  Region rest(box);
  for (auto const& own : boxes_) rest.subtract(own);
  return rest.empty();
}

Box Region::hull() const {
  if (boxes_.empty()) return Box::none(0);
  Box result = boxes_.front();
  for (auto const& box : boxes_) result = tessera::hull(result, box);
  return result;
}

void Region::add(Box const& box) {
  if (box.empty()) return;
  Region fresh;
  fresh.boxes_.push_back(box);
  for (auto const& own : boxes_) fresh.subtract(own);
  boxes_.insert(boxes_.end(), fresh.boxes_.begin(), fresh.boxes_.end());
}

void Region::subtract(Box const& box) {
  bool const touches = std::any_of(boxes_.begin(), boxes_.end(),
                                   [&](Box const& own) { return intersects(own, box); });
  if (!touches) return;
  std::vector<Box> rest;
  for (auto const& own : boxes_) append_difference(own, box, rest);
  boxes_ = std::move(rest);
}

void Region::cut_to(Box const& box) {
  std::vector<Box> rest;
  for (auto const& own : boxes_) {
    Box const common = intersect(own, box);
    if (!common.empty()) rest.push_back(common);
  }
  boxes_ = std::move(rest);
}

std::ostream& operator<<(std::ostream& out, Region const& region) {
  return out << join(region.boxes_, "{", "}");
}

}  // namespace tessera
