#include "tessera/layout/layout.hpp"

#include <utility>

#include "tessera/base/error.hpp"
#include "tessera/base/hash.hpp"
#include "tessera/base/planted.hpp"
#include "tessera/base/text.hpp"

namespace tessera {
namespace {

thread_local std::int64_t devices_looked_at = 0;

// Moves `pieces` to the next one in row-major order; false after the last.
bool advance(Index& pieces, Index const& first, Index const& end) {
  for (std::size_t d = pieces.size(); d-- > 0;) {
    if (++pieces[d] < end[d]) return true;
    pieces[d] = first[d];
  }
  return false;
}

}  // namespace

Layout::Layout(NamedSharding sharding, Shape const& shape)
    : sharding_(std::move(sharding)), shape_(shape) {
  sharding_.check(shape);
  cells_ = cells_of(shape);
  fingerprint_ = mix(hash_text("Layout"), sharding_.fingerprint());
  for (auto const extent : shape) fingerprint_ = mix(fingerprint_, bits_of(extent));
}

Box Layout::box_of(DeviceId device) const {
  return sharding_.box_of(device, shape_);
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
    auto const met =
        sharding_.cut(d).pieces_meeting(shape_[d], sharding_.ways(d), cells.lo[d], cells.hi[d]);
    first.push_back(met.lo);
    end.push_back(met.hi);
  }
  Index pieces = first;
  do {
    CountVisits::note();
    Box const box = sharding_.piece_box(pieces, shape_);
    if (box.empty()) continue;
    auto position = sharding_.position_holding(pieces, replica);
    if (planted("partners_swapped")) position = mesh().size() - 1 - position;
    visit(mesh().device_at(position), box);
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
