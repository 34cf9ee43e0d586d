#include "src/plan/exchange/halo_plan.hpp"

#include <algorithm>
#include <vector>

#include "src/base/detail.hpp"
#include "src/index/box.hpp"
#include "src/index/index.hpp"

namespace tessera {
namespace {

// An image of the domain along one dimension: unwrapped cells [lo, hi) are cells moved by `moved`.
struct Image {
  std::int64_t lo;
  std::int64_t hi;
  std::int64_t moved;
};

std::vector<Image> images_along(Box const& unwrapped, Shape const& shape, std::size_t d,
                                bool wraps) {
  auto const extent = shape[d];
  if (extent == 0) return {};
  if (!wraps)
    return {{std::max(unwrapped.lo[d], std::int64_t{0}), std::min(unwrapped.hi[d], extent), 0}};
  std::vector<Image> images;
  for (auto m = floor_div(unwrapped.lo[d], extent); m * extent < unwrapped.hi[d]; ++m)
    images.push_back({std::max(unwrapped.lo[d], m * extent),
                      std::min(unwrapped.hi[d], (m + 1) * extent), m * extent});
  return images;
}

// Calls visit(cells) for each image of the domain that an unwrapped box meets: the lattice of the
// cells is the part of the box that lies in the image.
template <class Visit>
void visit_images(HaloNeed const& need, Box const& unwrapped, Visit const& visit) {
  auto const rank = unwrapped.rank();
  std::vector<std::vector<Image>> images;
  for (std::size_t d = 0; d < rank; ++d) {
    images.push_back(images_along(unwrapped, need.owned->shape(), d, need.wraps[d]));
    if (images.back().empty()) return;
  }
  InlineVector<std::size_t, max_rank> at(rank, 0);
  for (;;) {
    Cells cells{Box{Index(rank, 0), Index(rank, 0)}, {}};
    for (std::size_t d = 0; d < rank; ++d) {
      auto const& image = images[d][at[d]];
      cells.lattice.lo[d] = image.lo;
      cells.lattice.hi[d] = image.hi;
      cells.axes.push_back({-image.moved, 1, 0});
    }
    if (!cells.lattice.empty()) visit(cells);
    std::size_t d = rank;
    while (d-- > 0) {
      if (++at[d] < images[d].size()) break;
      at[d] = 0;
    }
    if (d == static_cast<std::size_t>(-1)) return;
  }
}

template <class Visit>
void visit_cells_around(HaloNeed const& need, DeviceId device, Visit const& visit) {
  auto const own = need.owned->box_of(device);
  if (!own.empty()) visit_images(need, grown(own, need.widths.below, need.widths.above), visit);
}

// The cells that `owner` sends to `reader`. Both ends make this list from the same numbers.
void append_given(std::span<HaloNeed const> needs, DeviceId owner, DeviceId reader,
                  std::vector<Transfer>& transfers, DeviceId peer) {
  for (std::size_t number = 0; number < needs.size(); ++number) {
    auto const& need = needs[number];
    auto const given = need.owned->box_of(owner);
    if (given.empty() || need.owned->replica_of(owner) != need.owned->replica_for(reader)) continue;
    visit_cells_around(need, reader, [&](Cells const& cells) {
      auto const part = cells.with_lattice(cells.lattice_in(given));
      bool const is_own = owner == reader && !part.wraps();
      if (!part.lattice.empty() && !is_own) transfers.push_back({peer, number, part});
    });
  }
}

std::vector<DeviceId> sorted(std::vector<DeviceId> devices) {
  std::sort(devices.begin(), devices.end());
  devices.erase(std::unique(devices.begin(), devices.end()), devices.end());
  return devices;
}

std::vector<DeviceId> owners_around(std::span<HaloNeed const> needs, DeviceId self) {
  std::vector<DeviceId> owners;
  for (auto const& need : needs)
    visit_cells_around(need, self, [&](Cells const& cells) {
      need.owned->visit_owners(cells.owned_hull(), need.owned->replica_for(self),
                               [&](DeviceId owner, Box const&) { owners.push_back(owner); });
    });
  return sorted(std::move(owners));
}

// The devices whose ghost cells reach this one: as far below as ghost cells extend above, and the
// other way round.
std::vector<DeviceId> readers_around(std::span<HaloNeed const> needs, DeviceId self) {
  std::vector<DeviceId> readers;
  for (auto const& need : needs) {
    auto const own = need.owned->box_of(self);
    if (own.empty()) continue;
    visit_images(need, grown(own, need.widths.above, need.widths.below), [&](Cells const& cells) {
      need.owned->visit_owners(cells.owned_hull(), need.owned->replica_of(self),
                               [&](DeviceId reader, Box const&) { readers.push_back(reader); });
    });
  }
  return sorted(std::move(readers));
}

}  // namespace

ExchangePlan plan_halo(std::span<HaloNeed const> needs, DeviceId self) {
  ExchangePlan plan;
  for (auto const reader : readers_around(needs, self))
    if (reader != self) append_given(needs, self, reader, plan.sends, reader);
  for (auto const owner : owners_around(needs, self))
    append_given(needs, owner, self, owner == self ? plan.copies : plan.receives, owner);
  return plan;
}

}  // namespace tessera
