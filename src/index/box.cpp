#include "src/index/box.hpp"

#include <algorithm>

#include "tessera/detail/base/assert.hpp"

namespace tessera {

bool Box::empty() const {
  if (nothing) return true;
  for (std::size_t d = 0; d < rank(); ++d)
    if (lo[d] >= hi[d]) return true;
  return false;
}

Shape Box::extents() const {
  Shape shape;
  for (std::size_t d = 0; d < rank(); ++d) shape.push_back(extent(d));
  return shape;
}

std::int64_t Box::cells() const {
  std::int64_t cells = nothing ? 0 : 1;
  for (std::size_t d = 0; d < rank(); ++d) cells *= extent(d);
  return cells;
}

bool Box::contains(Index const& cell) const {
  for (std::size_t d = 0; d < rank(); ++d)
    if (cell[d] < lo[d] || cell[d] >= hi[d]) return false;
  return !nothing;
}

bool Box::contains(Box const& other) const {
  if (other.empty()) return true;
  for (std::size_t d = 0; d < rank(); ++d)
    if (other.lo[d] < lo[d] || other.hi[d] > hi[d]) return false;
  return !nothing;
}

Box Box::shifted(Index const& by) const {
  Box result = *this;
  for (std::size_t d = 0; d < rank(); ++d) {
    result.lo[d] += by[d];
    result.hi[d] += by[d];
  }
  return result;
}

bool operator==(Box const& a, Box const& b) {
  if (a.rank() != b.rank()) return false;
  if (a.empty() || b.empty()) return a.empty() && b.empty();
  return a.lo == b.lo && a.hi == b.hi;
}

std::ostream& operator<<(std::ostream& out, Box const& box) {
  if (box.nothing) return out << "[nothing]";
  out << '[';
  for (std::size_t d = 0; d < box.rank(); ++d)
    out << (d == 0 ? "" : ", ") << box.lo[d] << ':' << box.hi[d];
  return out << ']';
}

Box whole(Shape const& shape) {
  return {Index(shape.size(), 0), shape, false};
}

Box intersect(Box const& a, Box const& b) {
  TESSERA_ASSERT(a.rank() == b.rank(), a, " and ", b);
  Box result = a;
  result.nothing = a.nothing || b.nothing;
  for (std::size_t d = 0; d < a.rank(); ++d) {
    result.lo[d] = std::max(a.lo[d], b.lo[d]);
    result.hi[d] = std::min(a.hi[d], b.hi[d]);
  }
  return result;
}

bool intersects(Box const& a, Box const& b) {
  TESSERA_ASSERT(a.rank() == b.rank(), a, " and ", b);
  // Planners call this very often, so it makes no box.
  for (std::size_t d = 0; d < a.rank(); ++d)
    if (std::max(a.lo[d], b.lo[d]) >= std::min(a.hi[d], b.hi[d])) return false;
  return !a.nothing && !b.nothing;
}

Box hull(Box const& a, Box const& b) {
  if (a.empty()) return b;
  if (b.empty()) return a;
  Box result = a;
  for (std::size_t d = 0; d < a.rank(); ++d) {
    result.lo[d] = std::min(a.lo[d], b.lo[d]);
    result.hi[d] = std::max(a.hi[d], b.hi[d]);
  }
  return result;
}

Box grown(Box const& box, Index const& below, Index const& above) {
  Box result = box;
  for (std::size_t d = 0; d < box.rank(); ++d) {
    result.lo[d] -= below[d];
    result.hi[d] += above[d];
  }
  return result;
}

}  // namespace tessera
