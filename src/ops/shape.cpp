#include "tessera/ops/shape.hpp"

#include <algorithm>
#include <vector>

#include "src/base/text.hpp"
#include "src/execution/storage/array_state.hpp"
#include "src/index/index.hpp"
#include "src/layout/placement.hpp"
#include "src/plan/access.hpp"

namespace tessera::detail {
namespace {

constexpr std::int64_t most_cells = std::int64_t{1} << 62;

// Dimensions [from_lo, from_hi) of one shape that hold the same cells as [to_lo, to_hi) of another.
struct DimensionGroup {
  std::size_t from_lo, from_hi, to_lo, to_hi;

  [[nodiscard]] bool fuses() const { return from_hi - from_lo != 1; }
  [[nodiscard]] bool splits() const { return to_hi - to_lo != 1; }
};

// The smallest groups, in order. The shapes have equally many cells, and not none.
std::vector<DimensionGroup> groups_of(Shape const& from, Shape const& to) {
  std::vector<DimensionGroup> groups;
  std::size_t i = 0;
  std::size_t j = 0;
  while (i < from.size() && j < to.size()) {
    DimensionGroup group{i, i + 1, j, j + 1};
    auto a = from[i++];
    auto b = to[j++];
    while (a != b) {
      if (a < b)
        a *= from[i++];
      else
        b *= to[j++];
    }
    group.from_hi = i;
    group.to_hi = j;
    groups.push_back(group);
  }
  // The remaining dimensions have one cell each.
  groups.back().from_hi = from.size();
  groups.back().to_hi = to.size();
  return groups;
}

// The first dimension of [lo, hi) with more than one cell, else the first: it is cut for all.
std::size_t leading(Shape const& shape, std::size_t lo, std::size_t hi) {
  for (auto d = lo; d < hi; ++d)
    if (shape[d] > 1) return d;
  return lo;
}

std::int64_t cells_behind(Shape const& shape, std::size_t d, std::size_t hi) {
  std::int64_t cells = 1;
  for (auto k = d + 1; k < hi; ++k) cells *= shape[k];
  return cells;
}

// The dimensions of a group cut along one only, by all their mesh axes.
struct WholeRows {
  std::size_t lead;
  PlacedDimension placed;
};

// Keeps the dimension that is already cut, if the others are whole and those before it have one
// cell.
WholeRows whole_rows(NamedSharding const& sharding, Shape const& shape,
                     DimensionGroup const& group) {
  AxisNames axes;
  auto const lead = leading(shape, group.from_lo, group.from_hi);
  auto cut_one = lead;
  int cut_ones = 0;
  for (auto d = group.from_lo; d < group.from_hi; ++d) {
    auto const& more = sharding.spec()[d].axes();
    axes.insert(axes.end(), more.begin(), more.end());
    if (sharding.ways(d) == 1) continue;
    cut_one = d;
    ++cut_ones;
  }
  if (cut_ones < 2 && cut_one <= lead) return {cut_one, {SpecEntry(axes), sharding.cut(cut_one)}};
  return {lead, {SpecEntry(axes), Cut::balanced()}};
}

// Rows of a new shape, and the dimension that they are split from, which lies as they do.
struct SplitRows {
  Cut rows;
  Cut cells;
};

// If rows can be cut as the dimension is, nothing moves; otherwise they are cut by a rule of the
// same kind.
SplitRows split_in_rows(Cut const& cut, std::int64_t rows, std::int64_t ways,
                        std::int64_t row_cells) {
  if (auto const whole = cut.in_rows(rows * row_cells, ways, row_cells)) return {*whole, cut};
  auto const rule = cut.kind() == Cut::Kind::ceil ? cut : Cut::balanced();
  return {rule, rule.in_cells(rows, ways, row_cells)};
}

// The four layouts of a reshape: the array's own dimensions in whole rows, the fused groups, the
// groups in whole rows of the new shape, and the new shape. The pieces of the first two layouts
// have the same cells, and so do those of the last two; a device therefore has the same boxes in
// the same order.
class Reshape {
 public:
  Reshape(Layout const& from, Shape const& to) : mesh_(from.mesh()), to_(to) {
    auto const& sharding = from.sharding();
    auto const& shape = from.shape();
    rows_.resize(shape.size());
    new_.resize(to.size());
    for (auto const& group : groups_of(shape, to)) {
      add_fused(sharding, shape, group);
      add_split(group);
    }
  }

  [[nodiscard]] StatePtr carry_out(StatePtr const& from, SourceLocation const& location) const {
    auto result = from;
    if (fuses_) result = copied_in_order(moved(result, rows_, location), fused_, flat_);
    if (splits_) result = copied_in_order(moved(result, flat_rows_, location), new_, to_);
    return result;
  }

 private:
  void add_fused(NamedSharding const& sharding, Shape const& shape, DimensionGroup const& group) {
    flat_.push_back(cells_behind(shape, group.from_lo, group.from_hi) * shape[group.from_lo]);
    if (!group.fuses()) {
      rows_[group.from_lo] = {sharding.spec()[group.from_lo], sharding.cut(group.from_lo)};
      fused_.push_back(rows_[group.from_lo]);
      return;
    }
    fuses_ = true;
    auto const [lead, placed] = whole_rows(sharding, shape, group);
    rows_[lead] = placed;
    auto const cut = placed.cut.in_cells(shape[lead], devices_along(mesh_, placed.axes.axes()),
                                         cells_behind(shape, lead, group.from_hi));
    fused_.push_back({placed.axes, cut});
  }

  void add_split(DimensionGroup const& group) {
    auto const& fused = fused_.back();
    if (!group.splits()) {
      new_[group.to_lo] = fused;
      flat_rows_.push_back(fused);
      return;
    }
    splits_ = true;
    auto const lead = leading(to_, group.to_lo, group.to_hi);
    auto const split = split_in_rows(fused.cut, to_[lead], devices_along(mesh_, fused.axes.axes()),
                                     cells_behind(to_, lead, group.to_hi));
    new_[lead] = {fused.axes, split.rows};
    flat_rows_.push_back({fused.axes, split.cells});
  }

  // The same array, or a copy that lies so.
  [[nodiscard]] StatePtr moved(StatePtr const& from, PlacedDimensions const& dimensions,
                               SourceLocation const& location) const {
    auto const sharding = sharding_of(mesh_, dimensions);
    if (from->layout()->sharding() == sharding) return from;
    auto result = make_state(sharding, from->layout()->shape(), from->element_bytes());
    copy_cells(result, from, location);
    return result;
  }

  [[nodiscard]] StatePtr copied_in_order(StatePtr const& from, PlacedDimensions const& dimensions,
                                         Shape const& shape) const {
    auto result = make_state(sharding_of(mesh_, dimensions), shape, from->element_bytes());
    copy_in_order(result, from);
    return result;
  }

  Mesh mesh_;
  Shape to_;
  Shape flat_;
  PlacedDimensions rows_;
  PlacedDimensions fused_;
  PlacedDimensions flat_rows_;
  PlacedDimensions new_;
  bool fuses_ = false;
  bool splits_ = false;
};

// The shape with its -1, if there is one, replaced by the computed extent.
Shape completed(Shape shape, Shape const& from) {
  auto const cells = cells_of(from);
  auto const asked = shape;
  auto const refuse = [&](auto const&... why) {
    throw ShapeError(text("an array of shape ", from, ", which has ", counted(cells, "cell"),
                          ", cannot be reshaped to ", asked, why...));
  };
  auto const open = std::find(shape.begin(), shape.end(), -1);
  if (open != shape.end()) {
    *open = 1;
    if (std::find(shape.begin(), shape.end(), -1) != shape.end())
      refuse("; only one extent can be -1, which is then computed");
  }
  check_shape(shape);
  auto const rest = cells_of(shape);
  if (open == shape.end()) {
    if (rest != cells) refuse(", which has ", rest);
    return shape;
  }
  if (rest == 0 || cells % rest != 0)
    refuse(": the other extents have ", counted(rest, "cell"), ", which leaves no whole number");
  *open = cells / rest;
  return shape;
}

}  // namespace

void join_shape(Shape& shape, Shape const& other, std::size_t axis, char const* what) {
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (d != axis && shape[d] != other[d])
      throw ShapeError(text(what, ": the shapes ", shape, " and ", other, " differ in dimension ",
                            d, "; they may differ only along axis ", axis));
  shape[axis] += other[axis];
}

void check_any(std::int64_t count, char const* what) {
  if (count == 0) throw ShapeError(text(what, " of no arrays; at least one is needed"));
}

void check_same_shape(Shape const& shape, Shape const& other, char const* what) {
  if (!(shape == other))
    throw ShapeError(
        text(what, ": the shapes ", shape, " and ", other, " differ; they have to be equal"));
}

void repeat_extent(std::int64_t& extent, std::int64_t count) {
  if (count < 0)
    throw ShapeError(text("repeat: the count ", count, " is negative; counts are 0 or more"));
  if (extent > 0 && count > most_cells / extent)
    throw ShapeError(
        text("repeat: ", counted(extent, "cell"), ' ', count, " times are more than 2^62 cells"));
  extent *= count;
}

NamedSharding sharding_of_joined(Anchor const& anchor, Shape const& shape, char const* what) {
  if (anchor.is_on_two_meshes)
    throw UsageError(
        text(what,
             " of arrays on different meshes (on one device such meshes may be equal); "
             "reshard them to one mesh, or make the result with the sharding it "
             "should have and assign its slices"));
  return sharding_of_result(anchor, shape);
}

void add_dimension(Anchor& anchor, std::size_t axis) {
  for (auto& moved : anchor.access.map.axes)
    if (moved.from >= static_cast<int>(axis)) ++moved.from;
}

void pad_extents(std::span<std::int64_t> extents, std::span<std::int64_t const> low,
                 std::span<std::int64_t const> high, std::span<Boundaries const> boundaries) {
  if (low.size() != extents.size() || high.size() != extents.size())
    throw ShapeError(text("pad got ", low.size(), " and ", high.size(), " numbers for an array of ",
                          counted(std::ssize(extents), "dimension"), "; give one per dimension"));
  check_counts(extents.size(), extents.size(), boundaries.size());
  for (std::size_t d = 0; d < extents.size(); ++d) {
    auto const& boundary = boundaries[boundaries.size() == 1 ? 0 : d];
    if (low[d] < 0 || high[d] < 0)
      throw ShapeError(text("pad by ", low[d], " and ", high[d], " along dimension ", d,
                            "; numbers of cells are 0 or more; take a slice to drop cells"));
    auto const is_made_up = [](Boundary const& b) { return b.kind() == BoundaryKind::constant; };
    bool const repeats =
        (low[d] > 0 && !is_made_up(boundary.below)) || (high[d] > 0 && !is_made_up(boundary.above));
    if (repeats && extents[d] == 0)
      throw ShapeError(text("dimension ", d,
                            " has no cell that could be repeated past its edges; "
                            "pad it with a constant"));
    auto const room = most_cells - extents[d];
    if (low[d] > room || high[d] > room - low[d])
      throw ShapeError(text("pad by ", low[d], " and ", high[d], " along dimension ", d,
                            " makes more than 2^62 cells"));
    extents[d] += low[d] + high[d];
  }
}

StatePtr reshaped(StatePtr const& from, Shape const& shape, SourceLocation const& location) {
  check_closed(*from, "a reshape");
  auto const& layout = *from->layout();
  auto const wanted = completed(shape, layout.shape());
  if (layout.cells() == 0)
    return make_state({layout.mesh(), PartitionSpec(std::vector<SpecEntry>(wanted.size(), none))},
                      wanted, from->element_bytes());
  auto result = Reshape(layout, wanted).carry_out(from, location);
  if (result != from) return result;
  result = make_state(layout.sharding(), wanted, from->element_bytes());
  copy_cells(result, from, location);
  return result;
}

}  // namespace tessera::detail
