#include "src/ops/products/relay_stops.hpp"

#include <algorithm>

#include "tessera/detail/base/hash.hpp"

#include "src/index/index.hpp"
#include "src/kernels/products/product.hpp"

namespace tessera {

RelayStop RelayStops::stop_of(std::int64_t term) const {
  auto const block = term / block_of_terms * block_of_terms;
  auto const piece = cut_.pieces_intersecting(terms_, devices_, block, block + 1).lo;
  auto const own = cut_.piece(terms_, devices_, piece);
  auto const lo = ceil_div(own.lo, block_of_terms) * block_of_terms;
  auto const hi = own.hi == terms_ ? terms_ : own.hi / block_of_terms * block_of_terms;
  auto const device = piece % devices_;
  if (block < hi) return {device, lo, hi};
  return {device, block, std::min(block + block_of_terms, terms_)};
}

std::vector<RelayStop> RelayStops::of_device(std::int64_t device, Cut const& owned) const {
  std::vector<RelayStop> stops;
  auto const pieces = owned.piece_count(terms_, devices_);
  for (auto piece = device; piece < pieces; piece += devices_) {
    auto const own = owned.piece(terms_, devices_, piece);
    if (own.size() == 0) continue;
    auto next = stop_of(own.lo).lo;
    if (!stops.empty()) next = std::max(next, stops.back().hi);
    // Up to the first stop after the piece, to which the device passes sums.
    while (next < terms_ && (stops.empty() || stops.back().lo < own.hi)) {
      stops.push_back(stop_of(next));
      next = stops.back().hi;
    }
  }
  return stops;
}

std::int64_t RelayStops::most_of_device() const {
  // A piece has at most four stops: the block at its beginning, its whole blocks, the block at its
  // end, and the stop that follows. Equal pieces of whole blocks have no stops for their ends.
  bool const is_regular = cut_.kind() == Cut::Kind::balanced || cut_.kind() == Cut::Kind::strict;
  bool const has_whole_blocks = is_regular && terms_ % (devices_ * block_of_terms) == 0;
  auto const pieces = ceil_div(cut_.piece_count(terms_, devices_), devices_);
  return std::min((has_whole_blocks ? 2 : 4) * pieces, most());
}

std::int64_t RelayStops::most() const {
  return ceil_div(terms_, block_of_terms);
}

std::uint64_t RelayStops::hash() const {
  auto const hash = detail::mix(cut_.fingerprint(), static_cast<std::uint64_t>(terms_));
  return detail::mix(hash, static_cast<std::uint64_t>(devices_));
}

}  // namespace tessera
