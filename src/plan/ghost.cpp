#include "src/plan/ghost.hpp"

#include <algorithm>
#include <cstdlib>
#include <numeric>
#include <utility>

#include "src/base/detail.hpp"
#include "src/index/affine_map.hpp"
#include "src/index/box.hpp"
#include "src/index/index.hpp"
#include "src/layout/border_lead.hpp"
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

// The pieces of an array that is read, beside those of the array where the work is done, along one
// dimension of each, which the same mesh axes cut. Index i reads cell a + s i, and is computed
// where cell b + t i lives.
//
// A device that owns [w, w') of the work's array computes the i with w <= b + t i < w', and owns
// [r, r') of the other one. With positive s and t, and lag = s b - t a, it reads
//
//     at most (t r - s w + lag) / t cells below r, and
//     at most (s w' - t r' - lag + t - s) / t cells above r' - 1.
//
// Only the ratio of s and t matters.
class PiecesBeside {
 public:
  PiecesBeside(Layout const& owned, std::size_t d, ComputePlacement const& place, std::size_t t)
      : ways_(owned.sharding().ways(d)),
        read_{owned.sharding().cut(d), owned.shape()[d]},
        work_{place.layout->sharding().cut(t), place.layout->shape()[t]} {}

  // Sets a, b, s and t. False if one array is read backwards, or if cells are too far away to be
  // counted.
  bool step_by(AxisMap const& read, AxisMap const& write) {
    if ((read.stride > 0) != (write.stride > 0)) return false;
    auto const divisor = std::gcd(read.stride, write.stride);
    read_.scale = std::abs(write.stride / divisor);
    work_.scale = std::abs(read.stride / divisor);
    constexpr auto most = std::int64_t{1} << 60;
    bool const is_countable =
        std::max(std::abs(read.offset), std::int64_t{1}) <= most / read_.scale &&
        std::max(std::abs(write.offset), std::int64_t{1}) <= most / work_.scale;
    if (!is_alike() && !is_countable) return false;
    lag_ = work_.scale * write.offset - read_.scale * read.offset;
    return true;
  }

  // True if each device owns just the cells of one array that it owns of the other.
  [[nodiscard]] bool is_alike() const { return read_ == work_; }

  // The reach if any border of one array could be as far from that of the other as the farthest is.
  // So arrays whose pieces do not match reach far, whichever part of them is read.
  [[nodiscard]] std::optional<Reach> farthest_reach() const {
    Piece const all{0, ways_ + 1};
    auto const read_leads = border_lead(read_, work_, ways_, all);
    auto const work_leads = border_lead(work_, read_, ways_, all);
    if (!read_leads || !work_leads) return std::nullopt;
    auto const most = std::max(*read_leads, *work_leads);
    return reach_of(most, most);
  }

  // The reach of the devices. Nothing lies past the ends of the array unless it `wraps`.
  [[nodiscard]] std::optional<Reach> reach(bool wraps) const {
    auto const ends = wraps ? 1 : 0;
    auto const read_leads = border_lead(read_, work_, ways_, {1 - ends, ways_});
    auto const work_leads = border_lead(work_, read_, ways_, {1, ways_ + ends});
    if (!read_leads || !work_leads) return std::nullopt;
    return reach_of(*read_leads, *work_leads);
  }

 private:
  [[nodiscard]] Reach reach_of(std::int64_t read_leads, std::int64_t work_leads) const {
    auto const t = read_.scale;
    return {std::max<std::int64_t>(0, floor_div(read_leads + lag_, t)),
            std::max<std::int64_t>(0, floor_div(work_leads - lag_ + t - work_.scale, t))};
  }

  std::int64_t ways_;
  ScaledCut read_;  // scaled by t
  ScaledCut work_;  // scaled by s
  std::int64_t lag_ = 0;
};

// True if some cells of the view lie among the first `stride` cells of the array, and some among
// the last.
bool spans_array(Access const& access, std::size_t d, Layout const& owned) {
  auto const& boundary = access.boundaries[d];
  auto const stride = access.map.axes[d].stride;
  return stride > 0 && boundary.first < stride &&
         boundary.first + stride * boundary.count >= owned.shape()[d];
}

// A read past an edge that repeats the last cell reaches that cell: one of the first or last
// `stride` cells of the array, which every device can reach that computes something there.
std::optional<Reach> reach_with_edges(Layout const& owned, Access const& access, std::size_t d,
                                      PiecesBeside const& pieces) {
  auto const& boundary = access.boundaries[d];
  auto const reach = pieces.reach(wraps(boundary));
  if (!reach || !reads_at_edges(boundary)) return reach;
  if (!spans_array(access, d, owned)) return std::nullopt;
  auto const stride = access.map.axes[d].stride;
  if (pieces.is_alike() && stride == 1) return reach;
  return Reach{std::max(reach->below, stride), std::max(reach->above, stride)};
}

// Reads backwards past an edge reach as far inside as the shift.
std::optional<Reach> reach_where_mirrored(Layout const& owned, Access const& access, std::size_t d,
                                          PiecesBeside const& pieces, std::int64_t distance) {
  bool const is_whole = spans_array(access, d, owned) && access.map.axes[d].stride == 1;
  auto const far = std::abs(distance);
  if (!pieces.is_alike() || !is_whole || far >= access.boundaries[d].count) return std::nullopt;
  return Reach{far, far};
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
  auto const& write = place.map.axes[*t];
  PiecesBeside pieces(owned, d, place, *t);
  if (!pieces.step_by(read, write)) return std::nullopt;
  if (is_mirrored(access.boundaries[d]))
    return reach_where_mirrored(owned, access, d, pieces, read.offset - write.offset);
  auto const farthest = pieces.farthest_reach();
  auto const most = ours.cut(d).largest(owned.shape()[d], ours.ways(d));
  if (!farthest || farthest->below > most || farthest->above > most) return std::nullopt;
  return reach_with_edges(owned, access, d, pieces);
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
