#include "tessera/layout/layout.hpp"

#include <algorithm>
#include <optional>
#include <utility>

#include "tessera/base/error.hpp"
#include "tessera/detail/base/assert.hpp"

#include "src/base/detail.hpp"
#include "src/base/text.hpp"
#include "src/index/box.hpp"
#include "src/index/index.hpp"
#include "src/layout/count_visits.hpp"

namespace tessera {
namespace {

thread_local std::int64_t devices_looked_at = 0;

// Moves `at` to the next one in row-major order; false after the last.
bool advance(Index& at, Index const& first, Index const& end) {
  for (std::size_t d = at.size(); d-- > 0;) {
    if (++at[d] < end[d]) return true;
    at[d] = first[d];
  }
  return false;
}

// The ways that own some of the pieces `met`, from the first on: `beside` alone if it is one of
// them, and not -1.
Piece ways_owning(Piece const& met, std::int64_t ways, std::int64_t beside) {
  if (beside < 0) return {met.lo, met.lo + std::min(met.size(), ways)};
  auto const first = met.lo + floor_mod(beside - met.lo, ways);
  return first < met.hi ? Piece{first, first + 1} : Piece{};
}

}  // namespace

Layout::Layout(NamedSharding sharding, Shape const& shape)
    : sharding_(std::move(sharding)), shape_(shape) {
  sharding_.check(shape);
  cells_ = cells_of(shape);
  is_single_box_ = sharding_.is_single_box(shape);
  fingerprint_ = mix(hash_text("Layout"), sharding_.fingerprint());
  for (auto const extent : shape) fingerprint_ = mix(fingerprint_, bits_of(extent));
}

Box Layout::box_of(DeviceId device) const {
  return sharding_.box_of(device, shape_);
}

std::vector<Box> Layout::boxes_of(DeviceId device) const {
  return sharding_.boxes_of(device, shape_);
}

Piece Layout::pieces_intersecting(std::size_t d, Box const& cells) const {
  return sharding_.cut(d).pieces_intersecting(shape_[d], sharding_.ways(d), cells.lo[d],
                                              cells.hi[d]);
}

// A device's pieces along each dimension count in rounds: piece way + ways * round.
void Layout::visit_boxes(DeviceId device, Box const& cells,
                         std::function<void(std::size_t, Box const&)> const& visit) const {
  auto const position = mesh().position_of(device);
  if (!position || intersect(cells, whole(shape_)).empty()) return;
  auto const own = sharding_.pieces_at(*position);
  Index first;
  Index end;
  Index rounds;
  for (std::size_t d = 0; d < rank(); ++d) {
    auto const ways = sharding_.ways(d);
    auto const met = pieces_intersecting(d, cells);
    auto const all = sharding_.cut(d).piece_count(shape_[d], ways);
    first.push_back(std::max<std::int64_t>(ceil_div(met.lo - own[d], ways), 0));
    end.push_back(ceil_div(met.hi - own[d], ways));
    rounds.push_back(ceil_div(all - own[d], ways));
    if (first[d] >= end[d]) return;
  }
  Index at = first;
  do {
    Index pieces = own;
    std::int64_t number = 0;
    for (std::size_t d = 0; d < rank(); ++d) {
      pieces[d] += at[d] * sharding_.ways(d);
      number = number * rounds[d] + at[d];
    }
    Box const box = sharding_.piece_box(pieces, shape_);
    if (!box.empty()) visit(static_cast<std::size_t>(number), box);
  } while (advance(at, first, end));
}

std::size_t Layout::box_holding(DeviceId device, Index const& cell) const {
  if (is_single_box_) return 0;
  Box one{cell, cell};
  for (auto& hi : one.hi) ++hi;
  std::optional<std::size_t> found;
  visit_boxes(device, one, [&](std::size_t number, Box const&) { found = number; });
  TESSERA_ASSERT(found, "device ", device, " does not hold ", cell, " of ", *this);
  return *found;
}

std::int64_t Layout::replica_of(DeviceId device) const {
  auto const position = mesh().position_of(device);
  if (!position) throw ShardingError(text("device ", device, " is not of ", mesh()));
  return sharding_.replica_at(*position);
}

void Layout::visit_owners(Box const& cells, std::int64_t replica,
                          std::function<void(DeviceId, Box const&)> const& visit) const {
  if (intersect(cells, whole(shape_)).empty()) return;
  Index first;
  Index end;
  for (std::size_t d = 0; d < rank(); ++d) {
    auto const met = pieces_intersecting(d, cells);
    first.push_back(met.lo);
    end.push_back(met.hi);
  }
  Index pieces = first;
  do {
    CountVisits::note();
    Box const box = sharding_.piece_box(pieces, shape_);
    if (box.empty()) continue;
    visit(mesh().device_at(sharding_.position_holding(pieces, replica)), box);
  } while (advance(pieces, first, end));
}

void Layout::visit_devices(Box const& cells, std::int64_t replica, Index const& beside,
                           std::function<void(DeviceId)> const& visit) const {
  if (intersect(cells, whole(shape_)).empty()) return;
  Index first;
  Index end;
  for (std::size_t d = 0; d < rank(); ++d) {
    auto const met = ways_owning(pieces_intersecting(d, cells), sharding_.ways(d), beside[d]);
    if (met.size() == 0) return;
    first.push_back(met.lo);
    end.push_back(met.hi);
  }
  Index pieces = first;
  do {
    CountVisits::note();
    visit(mesh().device_at(sharding_.position_holding(pieces, replica)));
  } while (advance(pieces, first, end));
}

std::int64_t Layout::replica_for(DeviceId reader) const {
  auto const position = mesh().position_of(reader);
  return position ? sharding_.replica_at(*position)
                  : floor_mod(reader.value(), sharding_.replicas());
}

std::ostream& operator<<(std::ostream& out, Layout const& layout) {
  return out << "Layout(" << layout.shape_ << ", " << layout.sharding_ << ')';
}

CountVisits::CountVisits() : before_(devices_looked_at) {}

std::int64_t CountVisits::devices() const {
  return devices_looked_at - before_;
}

void CountVisits::note() {
  ++devices_looked_at;
}

}  // namespace tessera
