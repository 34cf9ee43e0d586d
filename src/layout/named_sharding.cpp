#include "tessera/layout/named_sharding.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "tessera/base/error.hpp"

#include "src/base/detail.hpp"
#include "src/base/text.hpp"
#include "src/index/index.hpp"
#include "src/mesh/axes.hpp"

namespace tessera {
namespace {

// The role of one mesh axis: its coordinate is `position / stride % size`, and contributes `weight`
// to the piece number of the dimension that it cuts, or to the copy number if it cuts none. Partial
// axes contribute to neither.
struct AxisRole {
  static constexpr std::size_t copies = max_rank;
  static constexpr std::size_t partials = max_rank + 1;

  std::size_t cuts = copies;
  std::int64_t size = 1;
  std::int64_t stride = 1;
  std::int64_t weight = 0;

  [[nodiscard]] std::int64_t part_of(std::int64_t position) const {
    return position / stride % size * weight;
  }
  [[nodiscard]] std::int64_t position_with(std::int64_t number) const {
    return number / weight % size * stride;
  }
};

using AxisRoles = InlineVector<AxisRole, max_rank>;

AxisRoles uncommitted_roles(Mesh const& mesh) {
  AxisRoles roles;
  for (auto const& axis : mesh.axes()) roles.push_back({AxisRole::copies, axis.size, 1, 0});
  for (std::size_t a = roles.size(); a-- > 1;)
    roles[a - 1].stride = roles[a].stride * roles[a].size;
  return roles;
}

// Gives the axes of one entry their weights, the last one counting 1; returns the number of pieces.
std::int64_t commit_axes(SpecEntry const& entry, std::size_t dimension, Mesh const& mesh,
                         AxisRoles& roles) {
  std::int64_t ways = 1;
  auto const& axes = entry.axes();
  for (auto name = axes.rbegin(); name != axes.rend(); ++name) {
    auto& role = roles[mesh.axis(*name)];
    role.cuts = dimension;
    role.weight = ways;
    ways *= role.size;
  }
  return ways;
}

std::int64_t weigh_copies(AxisRoles& roles) {
  std::int64_t replicas = 1;
  for (std::size_t a = roles.size(); a-- > 0;) {
    if (roles[a].cuts != AxisRole::copies) continue;
    roles[a].weight = replicas;
    replicas *= roles[a].size;
  }
  return replicas;
}

void check_axes_named(Mesh const& mesh, PartitionSpec const& spec) {
  if (spec.rank() > max_rank)
    throw ShardingError(text(excerpt(text(spec)), " has ", spec.rank(),
                             " entries; an array has at most ", max_rank, " dimensions"));
  InlineVector<bool, max_rank> seen(mesh.rank(), false);
  auto const see = [&](SpecEntry const& entry) {
    for (auto const& name : entry.axes()) {
      auto& is_seen = seen[mesh.axis(name)];
      if (is_seen)
        throw ShardingError(text("mesh axis '", excerpt(name), "' is named twice in ",
                                 excerpt(text(spec)), "; an axis may cut one dimension only"));
      is_seen = true;
    }
  };
  for (auto const& entry : spec.entries()) see(entry);
  see(spec.partial_axes());
}

// One cut for all dimensions. Dimensions that are not cut become balanced; if none is cut, all keep
// the given cut, so that `check` can refuse explicit sizes.
std::vector<Cut> cut_for_all(PartitionSpec const& spec, Cut const& cut) {
  auto const is_cut = [](SpecEntry const& entry) { return !entry.axes().empty(); };
  auto const& entries = spec.entries();
  bool const any_cut = std::any_of(entries.begin(), entries.end(), is_cut);
  std::vector<Cut> cuts;
  for (auto const& entry : entries)
    cuts.push_back(is_cut(entry) || !any_cut ? cut : Cut::balanced());
  return cuts;
}

// Each box has its own memory and is planned separately, so their number is limited.
void check_few_boxes(NamedSharding const& sharding, Shape const& shape) {
  constexpr std::int64_t most = 65536;
  std::int64_t boxes = 1;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    auto const ways = sharding.ways(d);
    auto const more = ceil_div(sharding.cut(d).piece_count(shape[d], ways), ways);
    if (more > most / boxes)
      throw ShardingError(text("on ", sharding, " a device would hold more than ", most,
                               " boxes of an array of shape ", shape, "; deal out larger blocks"));
    boxes *= more;
  }
}

// Throws: ShapeError if a spec has no entry for dimension `d`.
void check_dimension(PartitionSpec const& spec, std::size_t d) {
  if (d < spec.rank()) return;
  throw ShapeError(text("there is no dimension ", static_cast<std::int64_t>(d), " in ",
                        excerpt(text(spec)), ", which has ", spec.rank(),
                        spec.rank() == 1 ? " entry" : " entries", "; they are counted from 0"));
}

}  // namespace

struct NamedSharding::State {
  Mesh mesh;
  PartitionSpec spec;
  std::vector<Cut> cuts;  ///< per dimension
  Index ways;             ///< per dimension
  AxisRoles roles;        ///< per mesh axis
  std::int64_t replicas = 1;
  std::uint64_t fingerprint = 0;

  State(Mesh m, PartitionSpec s, std::vector<Cut> c);
  void hash();
};

NamedSharding::State::State(Mesh m, PartitionSpec s, std::vector<Cut> c)
    : mesh(std::move(m)), spec(std::move(s)), cuts(std::move(c)) {
  check_axes_named(mesh, spec);
  if (cuts.size() != spec.rank())
    throw ShardingError(text(counted(static_cast<std::int64_t>(cuts.size()), "cut"), " for ",
                             excerpt(text(spec)), ", which has ", spec.rank(),
                             spec.rank() == 1 ? " entry" : " entries",
                             "; give one cut per entry, or one for all"));
  roles = uncommitted_roles(mesh);
  for (std::size_t d = 0; d < spec.rank(); ++d) {
    ways.push_back(commit_axes(spec[d], d, mesh, roles));
    // With one piece all cuts are the same, so that equivalent shardings compare equal.
    if (ways[d] == 1 && !cuts[d].lists_cells()) cuts[d] = Cut::balanced();
  }
  (void)commit_axes(spec.partial_axes(), AxisRole::partials, mesh, roles);
  replicas = weigh_copies(roles);
  hash();
}

void NamedSharding::State::hash() {
  fingerprint = mix(hash_text("NamedSharding"), mesh.fingerprint());
  for (std::size_t d = 0; d < spec.rank(); ++d) {
    fingerprint = mix(fingerprint, spec[d].axes().size());
    for (auto const& axis : spec[d].axes()) fingerprint = mix(fingerprint, hash_text(axis));
    fingerprint = mix(fingerprint, cuts[d].fingerprint());
  }
  if (!spec.is_partial()) return;
  for (auto const& axis : spec.partial_axes().axes())
    fingerprint = mix(fingerprint, hash_text(axis));
  fingerprint = mix(fingerprint, static_cast<std::uint64_t>(spec.partial_op()));
}

NamedSharding::NamedSharding(Mesh mesh, PartitionSpec spec, Cut cut) {
  auto cuts = cut_for_all(spec, cut);
  state_ = std::make_shared<State const>(std::move(mesh), std::move(spec), std::move(cuts));
}

NamedSharding::NamedSharding(Mesh mesh, PartitionSpec spec, std::vector<Cut> cuts)
    : state_(std::make_shared<State const>(std::move(mesh), std::move(spec), std::move(cuts))) {}

Mesh const& NamedSharding::mesh() const {
  return state_->mesh;
}
PartitionSpec const& NamedSharding::spec() const {
  return state_->spec;
}
Cut const& NamedSharding::cut(std::size_t d) const {
  check_dimension(state_->spec, d);
  return state_->cuts[d];
}
std::int64_t NamedSharding::ways(std::size_t d) const {
  check_dimension(state_->spec, d);
  return state_->ways[d];
}
std::int64_t NamedSharding::replicas() const {
  return state_->replicas;
}
NamedSharding NamedSharding::without_partial() const {
  if (!is_partial()) return *this;
  return {mesh(), spec().partial(none), state_->cuts};
}
std::uint64_t NamedSharding::fingerprint() const {
  return state_->fingerprint;
}

void NamedSharding::check(Shape const& shape) const {
  check_shape(shape);
  auto const entries = rank();
  if (shape.size() != entries)
    throw ShapeError(text(excerpt(text(spec())), " has ", entries,
                          entries == 1 ? " entry" : " entries", " but the array has ",
                          counted(static_cast<std::int64_t>(shape.size()), "dimension"),
                          shape.size() > entries ? "; add none for a dimension that is not cut"
                                                 : "; leave out the entries without a dimension"));
  for (std::size_t d = 0; d < entries; ++d) {
    try {
      cut(d).check(shape[d], ways(d));
    } catch (ShardingError const& error) {
      throw ShardingError(text("array dimension ", d, " (", counted(shape[d], "cell"), ") is cut ",
                               ways(d), ways(d) == 1 ? " way by " : " ways by ",
                               axes_text(spec()[d]), ": ", error.what()));
    }
  }
  check_few_boxes(*this, shape);
}

bool NamedSharding::is_single_box(Shape const& shape) const {
  for (std::size_t d = 0; d < rank(); ++d)
    if (cut(d).piece_count(shape[d], ways(d)) != ways(d)) return false;
  return true;
}

Box NamedSharding::box_of(DeviceId device, Shape const& shape) const {
  if (shape.size() != rank()) check(shape);  // throws; the rest of `check` is left to the caller
  if (!is_single_box(shape))
    throw ShardingError(text("devices hold several boxes of an array of shape ", shape, " on ",
                             *this, "; ask boxes_of"));
  auto const position = mesh().position_of(device);
  if (!position) return Box::none(rank());
  return piece_box(pieces_at(*position), shape);
}

std::vector<Box> NamedSharding::boxes_of(DeviceId device, Shape const& shape) const {
  if (shape.size() != rank()) check(shape);  // throws
  auto const position = mesh().position_of(device);
  if (!position) return {};
  auto const first = pieces_at(*position);
  auto pieces = first;
  std::vector<Box> boxes;
  for (;;) {
    boxes.push_back(piece_box(pieces, shape));
    auto d = rank();
    while (d-- > 0) {
      pieces[d] += ways(d);
      if (pieces[d] < cut(d).piece_count(shape[d], ways(d))) break;
      pieces[d] = first[d];
    }
    if (d == static_cast<std::size_t>(-1)) return boxes;
  }
}

Box NamedSharding::piece_box(Index const& pieces, Shape const& shape) const {
  Box box;
  for (std::size_t d = 0; d < rank(); ++d) {
    auto const piece = cut(d).piece(shape[d], ways(d), pieces[d]);
    box.lo.push_back(piece.lo);
    box.hi.push_back(piece.hi);
  }
  return box;
}

Shape NamedSharding::shard_shape(Shape const& shape) const {
  check(shape);
  Shape largest;
  for (std::size_t d = 0; d < rank(); ++d) largest.push_back(cut(d).largest(shape[d], ways(d)));
  return largest;
}

Index NamedSharding::pieces_at(std::int64_t position) const {
  Index pieces(rank(), 0);
  for (auto const& role : state_->roles)
    if (role.cuts < max_rank) pieces[role.cuts] += role.part_of(position);
  return pieces;
}

std::int64_t NamedSharding::replica_at(std::int64_t position) const {
  std::int64_t replica = 0;
  for (auto const& role : state_->roles)
    if (role.cuts == AxisRole::copies) replica += role.part_of(position);
  return replica;
}

std::int64_t NamedSharding::position_holding(Index const& pieces, std::int64_t replica) const {
  std::int64_t position = 0;
  for (auto const& role : state_->roles) {
    if (role.cuts == AxisRole::partials) continue;  // the first partial
    position += role.position_with(role.cuts == AxisRole::copies ? replica : pieces[role.cuts]);
  }
  return position;
}

bool operator==(NamedSharding const& a, NamedSharding const& b) {
  if (a.state_ == b.state_) return true;
  auto const& x = *a.state_;
  auto const& y = *b.state_;
  return x.fingerprint == y.fingerprint && x.mesh == y.mesh && x.spec == y.spec && x.cuts == y.cuts;
}

std::ostream& operator<<(std::ostream& out, NamedSharding const& sharding) {
  auto const& cuts = sharding.state_->cuts;
  out << "NamedSharding(" << sharding.mesh() << ", " << sharding.spec();
  auto const is_balanced = [](Cut const& cut) { return cut == Cut::balanced(); };
  if (std::all_of(cuts.begin(), cuts.end(), is_balanced)) return out << ')';
  if (cuts.size() == 1) return out << ", " << cuts.front() << ')';
  return out << ", " << join(cuts, "(", ")") << ')';
}

}  // namespace tessera
