#include "src/plan/ghost.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include "src/base/hash.hpp"
#include "src/index/affine_map.hpp"
#include "src/index/box.hpp"
#include "src/plan/access.hpp"

namespace tessera {
namespace {

// The dimension of the work's array that the same index moves; nothing if none does.
std::optional<std::size_t> partner_of(AffineMap const& map, int from) {
  for (std::size_t t = 0; t < map.rank(); ++t)
    if (map.axes[t].from == from) return t;
  return std::nullopt;
}

bool wraps(AxisBoundary const& boundary) {
  return boundary.below == BoundaryKind::periodic;
}

// True if reads past an edge return cells of the domain at another distance than the shift.
bool reads_at_edges(AxisBoundary const& boundary) {
  auto const does = [](BoundaryKind kind) { return kind == BoundaryKind::edge || is_mirror(kind); };
  return does(boundary.below) || does(boundary.above);
}

bool is_mirrored(AxisBoundary const& boundary) {
  return is_mirror(boundary.below) || is_mirror(boundary.above);
}

bool is_whole(Access const& access, std::size_t d, Layout const& owned) {
  auto const& boundary = access.boundaries[d];
  return boundary.first == 0 && access.map.axes[d].stride == 1 &&
         boundary.count == owned.shape()[d];
}

// The distances that a device reads past its own cells along one dimension.
struct Reach {
  std::int64_t below = 0;
  std::int64_t above = 0;
};

// Returns the reach where every device owns the whole extent: only periodic images lie outside.
std::optional<Reach> reach_where_whole(Layout const& owned, Access const& access, std::size_t d,
                                       Box const& indices) {
  if (!wraps(access.boundaries[d])) return Reach{};
  auto const image = access.map.image(indices);
  return Reach{std::max<std::int64_t>(0, -image.lo[d]),
               std::max<std::int64_t>(0, image.hi[d] - owned.shape()[d])};
}

std::optional<Reach> reach_where_cut(Layout const& owned, Access const& access, std::size_t d,
                                     ComputePlacement const& place) {
  auto const& read = access.map.axes[d];
  if (read.from == AxisMap::fixed) return std::nullopt;
  auto const t = partner_of(place.map, read.from);
  if (!t) return std::nullopt;
  auto const& ours = owned.sharding();
  auto const& theirs = place.layout->sharding();
  if (!(ours.spec()[d] == theirs.spec()[*t])) return std::nullopt;
  if (!(ours.cut(d) == theirs.cut(*t))) return std::nullopt;
  auto const& write = place.map.axes[*t];
  if (read.stride != write.stride) return std::nullopt;
  auto const drift =
      ours.cut(d).border_drift(owned.shape()[d], place.layout->shape()[*t], ours.ways(d));
  if (drift < 0) return std::nullopt;
  // An edge cell is within reach only if both arrays are cut alike and the view is the whole array.
  auto const& boundary = access.boundaries[d];
  if (reads_at_edges(boundary) && (drift != 0 || !is_whole(access, d, owned))) return std::nullopt;
  auto const distance = read.offset - write.offset;
  if (is_mirrored(boundary)) {
    // A read past one edge reaches the same distance back inside.
    auto const far = std::abs(distance);
    if (far >= boundary.count) return std::nullopt;
    return Reach{far, far};
  }
  return Reach{std::max<std::int64_t>(0, drift - distance),
               std::max<std::int64_t>(0, drift + distance)};
}

// Ghost cells past the domain hold periodic images of the whole dimension and nothing else.
bool images_fit(Layout const& owned, Access const& access, std::size_t d) {
  if (!wraps(access.boundaries[d])) return true;
  return access.boundaries[d].count * access.map.axes[d].stride == owned.shape()[d];
}

// True if every index moves by one cell: then the filled cells form a box without holes.
bool fills_boxes(Access const& access) {
  return std::all_of(access.map.axes.begin(), access.map.axes.end(), [](AxisMap const& axis) {
    return axis.from == AxisMap::fixed || axis.stride == 1;
  });
}

// Removes `written` and its images one period away along every combination of dimensions.
void subtract_images(Box const& written, Shape const& shape, Region& valid) {
  auto const around = valid.hull();
  if (valid.empty()) return;
  Index image(shape.size(), -1);
  for (;;) {
    Index by(shape.size(), 0);
    for (std::size_t d = 0; d < shape.size(); ++d) by[d] = image[d] * shape[d];
    auto const moved = written.shifted(by);
    if (intersects(moved, around)) valid.subtract(moved);
    std::size_t d = 0;
    for (; d < shape.size() && ++image[d] > 1; ++d) image[d] = -1;
    if (d == shape.size()) return;
  }
}

// Adds the unwrapped cells that `access` reads past the `own` cells of a device whose work is
// `work`; nothing where they are no box without holes.
void add_ghosts_read(Access const& access, Box const& work, Box const& own, Region& into) {
  if (!fills_boxes(access)) return;
  std::vector<std::vector<AffinePiece>> affine_pieces;
  for (std::size_t d = 0; d < access.rank(); ++d)
    affine_pieces.push_back(affine_pieces_of(access, d, work));
  visit_combinations(affine_pieces, [&](auto const& choice) {
    Box cells{Index(access.rank(), 0), Index(access.rank(), 0)};
    for (std::size_t d = 0; d < access.rank(); ++d) {
      auto const& affine_piece = *choice[d];
      if (affine_piece.constant()) return;
      auto const first = affine_piece.frame() + affine_piece.step * affine_piece.lo;
      auto const last = affine_piece.step == 0
                            ? first
                            : affine_piece.frame() + affine_piece.step * (affine_piece.hi - 1);
      cells.lo[d] = std::min(first, last);
      cells.hi[d] = std::max(first, last) + 1;
    }
    // Own cells are not needed here, and without them there are fewer boxes.
    Region ghosts(cells);
    ghosts.subtract(own);
    for (auto const& box : ghosts.boxes()) into.add(box);
  });
}

}  // namespace

bool GhostWidths::covers(GhostWidths const& other) const {
  for (std::size_t d = 0; d < below.size(); ++d)
    if (below[d] < other.below[d] || above[d] < other.above[d]) return false;
  return true;
}

GhostWidths GhostWidths::merged(GhostWidths const& other) const {
  GhostWidths result = *this;
  for (std::size_t d = 0; d < below.size(); ++d) {
    result.below[d] = std::max(below[d], other.below[d]);
    result.above[d] = std::max(above[d], other.above[d]);
  }
  return result;
}

std::ostream& operator<<(std::ostream& out, GhostWidths const& widths) {
  return out << widths.below << " below, " << widths.above << " above";
}

namespace detail {

std::ostream& operator<<(std::ostream& out, WorkBox const& work) {
  return out << "box " << work.box << ": " << work.indices;
}

std::vector<WorkBox> ComputePlacement::work_of(DeviceId device) const {
  std::vector<WorkBox> result;
  layout->visit_boxes(device, map.image(indices), [&](std::size_t number, Box const& box) {
    auto const work = map.preimage(box, indices);
    if (!work.empty()) result.push_back({number, work});
  });
  return result;
}

std::uint64_t ComputePlacement::fingerprint() const {
  auto hash = mix(layout->fingerprint(), Access::plain(map).fingerprint());
  for (auto const lo : indices.lo) hash = mix(hash, static_cast<std::uint64_t>(lo));
  for (auto const hi : indices.hi) hash = mix(hash, static_cast<std::uint64_t>(hi));
  return hash;
}

}  // namespace detail

std::optional<GhostWidths> ghost_widths_for(Layout const& owned, Access const& access,
                                            ComputePlacement const& place) {
  if (!(owned.mesh() == place.layout->mesh())) return std::nullopt;
  auto widths = GhostWidths::none(owned.rank());
  for (std::size_t d = 0; d < owned.rank(); ++d) {
    if (!images_fit(owned, access, d)) return std::nullopt;
    auto const reach = owned.sharding().ways(d) == 1
                           ? reach_where_whole(owned, access, d, place.indices)
                           : reach_where_cut(owned, access, d, place);
    if (!reach) return std::nullopt;
    auto const most = owned.sharding().cut(d).largest(owned.shape()[d], owned.sharding().ways(d));
    if (reach->below > most || reach->above > most) return std::nullopt;
    widths.below[d] = reach->below;
    widths.above[d] = reach->above;
  }
  bool const has_none = widths == GhostWidths::none(owned.rank());
  if (!has_none && !owned.is_single_box()) return std::nullopt;
  return widths;
}

std::shared_ptr<Fill const> Fill::make(std::vector<Access> accesses,
                                       ComputePlacement const& place) {
  std::erase_if(accesses, [](Access const& access) { return !fills_boxes(access); });
  if (accesses.empty()) return nullptr;
  auto hash = place.fingerprint();
  for (auto const& access : accesses) hash = mix(hash, access.fingerprint());
  return std::make_shared<Fill const>(Fill{std::move(accesses), place, hash});
}

void HaloValidity::note_fill(std::shared_ptr<Fill const> fill) {
  if (fill == nullptr) return;
  auto const hash = fill->fingerprint;
  add({std::move(fill), {}, hash});
}

void HaloValidity::note_write(Box const& written) {
  if (written.empty() || events_.empty()) return;
  std::uint64_t hash = 1;
  for (auto const lo : written.lo) hash = fold(hash, static_cast<std::uint64_t>(lo));
  for (auto const hi : written.hi) hash = fold(hash, static_cast<std::uint64_t>(hi));
  add({nullptr, written, scramble(hash)});
}

void HaloValidity::clear() {
  events_.clear();
  fingerprint_ = 0;
}

void HaloValidity::add(Event event) {
  // A repeated event is kept only once, at its latest position; writes before any fill are
  // irrelevant. So a loop returns to the same list, and its plans to the same entries of the cache.
  std::erase_if(events_, [&](Event const& e) { return e.fingerprint == event.fingerprint; });
  auto const first_fill = std::find_if(events_.begin(), events_.end(),
                                       [](Event const& e) { return e.fill != nullptr; });
  events_.erase(events_.begin(), first_fill);
  if (events_.empty() && event.fill == nullptr) return clear();
  events_.push_back(std::move(event));
  if (events_.size() > most_events) return clear();
  fingerprint_ = events_.size();
  for (auto const& e : events_) fingerprint_ = fold(fingerprint_, e.fingerprint);
}

Region HaloValidity::valid_on(DeviceId device, Layout const& owned) const {
  Region valid;
  if (events_.empty()) return valid;
  auto const own = owned.box_of(device);
  for (auto const& event : events_) {
    if (event.fill == nullptr) {
      subtract_images(event.written, owned.shape(), valid);
      continue;
    }
    auto const works = event.fill->place.work_of(device);
    for (auto const& access : event.fill->accesses)
      for (auto const& work : works) add_ghosts_read(access, work.indices, own, valid);
  }
  return valid;
}

}  // namespace tessera
