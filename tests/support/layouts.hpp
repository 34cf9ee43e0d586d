#pragma once
/// @file
/// Many ways for one array to lie on the devices of the job.

#include <algorithm>
#include <cstdint>
#include <string>
#include <vector>

#include "tessera/layout/named_sharding.hpp"

#include "support/brute_force.hpp"

namespace tessera::test {

/// Sizes of `ways` pieces that add up to `extent`; zeros are likely.
inline std::vector<std::int64_t> random_sizes(Random& random, std::int64_t extent,
                                              std::int64_t ways) {
  std::vector<std::int64_t> borders{0, extent};
  for (std::int64_t k = 1; k < ways; ++k) borders.push_back(random.between(0, extent));
  std::sort(borders.begin(), borders.end());
  std::vector<std::int64_t> sizes;
  for (std::size_t k = 0; k + 1 < borders.size(); ++k) sizes.push_back(borders[k + 1] - borders[k]);
  return sizes;
}

/// One to three segments under rules that differ.
inline Cut random_segments(Random& random, std::int64_t extent, std::int64_t ways) {
  std::vector<Cut::Segment> segments;
  for (auto const cells : random_sizes(random, extent, random.between(1, 3))) {
    auto const rule = random.between(0, 5);
    segments.emplace_back(cells, rule == 0   ? Cut::ceil()
                                 : rule == 1 ? Cut::unit(random.between(1, 3))
                                 : rule == 2
                                     ? Cut::explicit_sizes(random_sizes(random, cells, ways))
                                     : Cut::balanced());
  }
  return Cut::segments(segments);
}

inline Cut random_cut(Random& random, std::int64_t extent, std::int64_t ways) {
  switch (random.between(0, 13)) {
    case 0:
      return Cut::ceil();
    case 1:
      return Cut::explicit_sizes(random_sizes(random, extent, ways));
    case 2:
      return Cut::unit(random.between(2, 4));
    case 3:
    case 4:
    case 5:
      return extent % ways == 0 ? Cut::strict() : Cut::balanced();
    case 6:
    case 7:
      return random_segments(random, extent, ways);
    case 8:
    case 9:
      return Cut::cyclic(random.between(1, 4));
    default:
      return Cut::balanced();
  }
}

/// One to three axes over at most `devices` devices: in order, or any of them in any order.
inline Mesh random_mesh(Random& random, std::int64_t devices) {
  std::vector<MeshAxis> axes;
  Shape shape;
  std::vector<std::string> names;
  std::int64_t left = devices;
  auto const rank = random.between(1, 3);
  for (std::int64_t a = 0; a < rank; ++a) {
    auto const size = random.chance() && a + 1 == rank
                          ? left
                          : random.between(1, std::min<std::int64_t>(left, a == 0 ? left : 4));
    names.push_back(std::string(1, static_cast<char>('a' + a)));
    axes.push_back({names.back(), size});
    shape.push_back(size);
    left /= size;
  }
  if (random.chance()) return Mesh(axes);
  std::vector<std::int64_t> ids;
  for (std::int64_t id = 0; id < devices; ++id) ids.push_back(id);
  for (std::size_t i = ids.size(); i > 1; --i)
    std::swap(ids[i - 1],
              ids[static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(i) - 1))]);
  ids.resize(static_cast<std::size_t>(cells_of(shape)));
  return Mesh(ids, shape, names);
}

/// Each axis cuts some dimension, or none of them and is replicated; cuts differ by dimension.
inline NamedSharding random_sharding_on(Random& random, Mesh const& mesh, Shape const& shape) {
  std::vector<std::vector<std::string>> axes_of(shape.size());
  std::vector<std::int64_t> ways(shape.size(), 1);
  for (auto const& axis : mesh.axes()) {
    auto const d = random.between(0, static_cast<std::int64_t>(shape.size()) * 2);
    if (d == static_cast<std::int64_t>(shape.size()) * 2) continue;
    auto const dimension = static_cast<std::size_t>(d) % shape.size();
    auto& names = axes_of[dimension];
    names.insert(random.chance() ? names.begin() : names.end(), axis.name);
    ways[dimension] *= axis.size;
  }
  std::vector<SpecEntry> entries;
  std::vector<Cut> cuts;
  bool const plain = random.chance();
  for (std::size_t d = 0; d < shape.size(); ++d) {
    entries.emplace_back(axes_of[d]);
    cuts.push_back(plain ? Cut::balanced() : random_cut(random, shape[d], ways[d]));
  }
  return {mesh, PartitionSpec(entries), cuts};
}

inline NamedSharding random_sharding(Random& random, std::int64_t devices, Shape const& shape) {
  return random_sharding_on(random, random_mesh(random, devices), shape);
}

}  // namespace tessera::test
