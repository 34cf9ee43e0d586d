#include <algorithm>
#include <array>
#include <deque>
#include <map>
#include <memory>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "src/base/detail.hpp"
#include "src/base/text.hpp"
#include "src/index/affine_map.hpp"
#include "src/index/box.hpp"
#include "src/index/index.hpp"
#include "src/plan/access.hpp"
#include "src/plan/exchange/exchange_plan.hpp"
#include "src/plan/ghost.hpp"
#include "src/statement/statement.hpp"

#include "support/boundaries.hpp"
#include "support/brute_force.hpp"
#include "support/layouts.hpp"
#include "support/left_out.hpp"
#include "support/seeds.hpp"

#include "cases.hpp"

// Random programs are run for all devices in one process, on cells that carry the
// number of their version.
// The oracle never asks the planner: it follows the definition of an access cell by cell.

using namespace tessera;
using test::Broken;
using test::demand;
using test::Random;
using test::SharedLayout;
using test::with_peer;

TEST_SUITE_BEGIN("plan/exchange_fuzz");

namespace {

constexpr std::int64_t unknown = -1;
constexpr std::int64_t final = -2;
constexpr std::int64_t copied = -3;
constexpr std::int64_t most_devices = 8;

// Values over a box, row-major.
class Values {
 public:
  Values() = default;
  explicit Values(Box const& box) : box_(box), strides_(row_major_strides(box.extents())) {
    values_.assign(static_cast<std::size_t>(box.cells()), unknown);
  }
  [[nodiscard]] Box const& box() const { return box_; }
  std::int64_t& at(Index const& cell) {
    demand(box_.contains(cell), "cell ", cell, " is outside ", box_);
    std::int64_t offset = 0;
    for (std::size_t d = 0; d < cell.size(); ++d) offset += (cell[d] - box_.lo[d]) * strides_[d];
    return values_[static_cast<std::size_t>(offset)];
  }
  void forget() { std::fill(values_.begin(), values_.end(), unknown); }

 private:
  Box box_ = Box::none(0);
  Index strides_;
  std::vector<std::int64_t> values_;
};

// An array on all devices. Owners always hold the truth; `frames` are the ghost cells around those
// of one box, and `filled` tells which of them a statement filled since they were last overwritten.
struct Array {
  explicit Array(SharedLayout l)
      : layout(std::move(l)),
        widths(GhostWidths::none(layout->rank())),
        truth(whole(layout->shape())) {
    test::for_each_cell(truth.box(), [&](Index const& cell) { truth.at(cell) = next_version++; });
    make_frames();
  }
  void make_frames() {
    frames.clear();
    for (std::int64_t p = 0; p < layout->mesh().size(); ++p) {
      auto const device = layout->mesh().device_at(p);
      frames[device] = layout->is_single_box()
                           ? Values(grown(layout->box_of(device), widths.below, widths.above))
                           : Values(Box::none(layout->rank()));
    }
    filled = frames;
    halo_validity.clear();
  }
  void grow(GhostWidths const& wider) {
    if (widths.covers(wider)) return;
    widths = widths.merged(wider);
    make_frames();
  }
  [[nodiscard]] bool owns(DeviceId device, Index const& cell) const {
    auto const boxes = layout->boxes_of(device);
    return std::any_of(boxes.begin(), boxes.end(),
                       [&](Box const& box) { return box.contains(cell); });
  }
  void swap_buffers() {
    for (auto& [device, frame] : frames) frame.forget();
    forget_filled();
    halo_validity.clear();
  }
  void forget_filled() {
    for (auto& [device, frame] : filled) frame.forget();
  }
  void note_write(Box const& written) {
    halo_validity.note_write(written);
    if (halo_validity.empty()) return forget_filled();
    if (written.empty()) return;
    for (auto& [device, frame] : filled)
      test::for_each_cell(frame.box(), [&frame = frame, &written, this](Index cell) {
        auto const at = cell;
        for (std::size_t d = 0; d < cell.size(); ++d)
          cell[d] = floor_mod(cell[d], layout->shape()[d]);
        if (written.contains(cell)) frame.at(at) = unknown;
      });
  }

  SharedLayout layout;
  GhostWidths widths;
  HaloValidity halo_validity;
  Values truth;
  std::map<DeviceId, Values> frames;
  std::map<DeviceId, Values> filled;
  std::int64_t next_version = 0;
};

struct Leaf {
  std::size_t array = 0;
  Access access;
  bool forced_temporary = false;
};

struct Statement {
  std::size_t target = 0;
  AffineMap written;
  Box indices;
  std::vector<Leaf> operands;
};

struct Program {
  std::vector<std::unique_ptr<Array>> arrays;
  std::vector<Statement> statements;
};

// ---- What an access means, one dimension of one index at a time.

struct Seen {
  bool constant = false;
  bool clamped = false;
  bool mirrored = false;
  std::int64_t cell = 0;   // of the array
  std::int64_t place = 0;  // unwrapped
};

Seen seen_along(Access const& access, std::size_t d, Index const& i) {
  auto const& axis = access.map.axes[d];
  if (axis.from == AxisMap::fixed) return {false, false, false, axis.offset, axis.offset};
  auto const cell = axis.offset + axis.stride * i[static_cast<std::size_t>(axis.from)];
  auto const& boundary = access.boundaries[d];
  if (!boundary.any()) return {false, false, false, cell, cell};
  auto const position = (cell - boundary.first) / axis.stride;
  auto const at = [&](std::int64_t p) { return boundary.first + axis.stride * p; };
  if (position >= 0 && position < boundary.count) return {false, false, false, cell, cell};
  auto const kind = position < 0 ? boundary.below : boundary.above;
  if (kind == BoundaryKind::constant) return {true, false, false, 0, 0};
  if (kind == BoundaryKind::periodic)
    return {false, false, false, at(floor_mod(position, boundary.count)), cell};
  if (is_mirror(kind) && boundary.count > 1) {
    auto const shown = at(test::mirrored(position, boundary.count, kind));
    return {false, false, true, shown, shown};
  }
  auto const last = at(position < 0 ? 0 : boundary.count - 1);
  return {false, true, false, last, last};
}

// ---- Random things.

Mesh random_mesh(Random& random) {
  auto const rank = random.between(1, 3);
  Shape shape;
  std::vector<std::string> names;
  std::int64_t devices = 1;
  for (std::int64_t a = 0; a < rank; ++a) {
    shape.push_back(random.between(1, std::min<std::int64_t>(4, most_devices / devices)));
    devices *= shape.back();
    names.push_back(std::string(1, static_cast<char>('a' + a)));
  }
  std::vector<std::int64_t> ids;
  for (std::int64_t id = 0; id < most_devices + 1; ++id) ids.push_back(id);
  if (random.chance())
    for (std::size_t k = ids.size(); k-- > 1;)
      std::swap(ids[k],
                ids[static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(k)))]);
  ids.resize(static_cast<std::size_t>(devices));
  return Mesh(ids, shape, names);
}

PartitionSpec random_spec(Random& random, Mesh const& mesh, std::size_t rank) {
  std::vector<std::vector<std::string>> entries(rank);
  for (auto const& axis : mesh.axes()) {
    if (rank == 0 || random.between(0, 4) == 0) continue;  // replicated
    auto& entry =
        entries[static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(rank) - 1))];
    entry.insert(random.chance() ? entry.begin() : entry.end(), axis.name);
  }
  std::vector<SpecEntry> list;
  for (auto& entry : entries) list.emplace_back(std::move(entry));
  return PartitionSpec(std::move(list));
}

Cut random_list(Random& random, std::int64_t extent, std::int64_t ways) {
  std::vector<std::int64_t> sizes(static_cast<std::size_t>(ways), 0);
  for (std::int64_t cell = 0; cell < extent; ++cell)
    ++sizes[static_cast<std::size_t>(random.between(0, ways - 1))];
  return Cut::explicit_sizes(sizes);
}

SharedLayout random_layout(Random& random, Mesh const& mesh, PartitionSpec const& spec,
                           Shape const& shape) {
  auto const plain = NamedSharding(mesh, spec);
  std::vector<Cut> cuts;
  for (std::size_t d = 0; d < spec.rank(); ++d) {
    auto const kind = random.between(0, 6);
    cuts.push_back(kind == 0   ? random_list(random, shape[d], plain.ways(d))
                   : kind == 1 ? Cut::ceil()
                   : kind == 2 ? Cut::cyclic(random.between(1, 3))
                   : kind == 3 ? test::random_segments(random, shape[d], plain.ways(d))
                               : Cut::balanced());
  }
  return std::make_shared<Layout const>(NamedSharding(mesh, spec, cuts), shape);
}

Shape random_shape(Random& random, std::size_t rank) {
  constexpr std::array<std::int64_t, 4> most{0, 14, 7, 5};
  Shape shape;
  for (std::size_t d = 0; d < rank; ++d)
    shape.push_back(random.between(random.between(0, 9) == 0 ? 0 : most[rank] / 2, most[rank]));
  return shape;
}

std::size_t random_rank(Random& random) {
  auto const number = random.between(0, 20);
  return number == 0 ? 0 : number < 9 ? 1 : number < 17 ? 2 : 3;
}

std::int64_t random_stride(Random& random) {
  constexpr std::array<std::int64_t, 14> strides{1, 1, 1, 1, 1, 1, 1, 2, 2, 3, -1, -1, -2, -3};
  return strides[static_cast<std::size_t>(random.between(0, 13))];
}

// The first cell of `count` cells that fit into an extent; nothing if they do not.
std::optional<std::int64_t> random_first(Random& random, std::int64_t extent, std::int64_t stride,
                                         std::int64_t count) {
  auto const reach = stride * (count - 1);
  auto const low = reach < 0 ? -reach : 0;
  auto const high = extent - 1 - (reach > 0 ? reach : 0);
  if (high < low) return std::nullopt;
  return random.between(low, high);
}

AxisBoundary random_boundary(Random& random, std::int64_t first, std::int64_t count) {
  auto const periodic = random.chance();
  return {periodic ? BoundaryKind::periodic : test::random_end(random),
          periodic ? BoundaryKind::periodic : test::random_end(random), first, count};
}

// One dimension of an array that an index moves over [lo, lo + count).
void move_axis(Random& random, Access& access, std::size_t d, std::int64_t extent,
               Box const& indices, std::size_t from) {
  auto& axis = access.map.axes[d];
  auto const lo = indices.lo[from];
  auto count = std::max<std::int64_t>(indices.extent(from), 1);
  axis.from = static_cast<int>(from);
  axis.stride = random_stride(random);
  bool const bounded = random.between(0, 2) > 0;
  if (bounded && random.between(0, 4) == 0) count = random.between(1, extent);
  auto const first = random_first(random, extent, axis.stride, count);
  if (!first) {
    axis = {AxisMap::fixed, random.between(0, extent - 1), 1};
    return;
  }
  axis.offset = *first - axis.stride * lo;
  if (!bounded) return;
  access.boundaries[d] = random_boundary(random, *first, count);
  auto const far = random.between(0, 5) == 0 ? 9 : 2;
  axis.offset += axis.stride * random.between(-far, far);
}

Leaf random_leaf(Random& random, Array const& array, Box const& indices) {
  auto const rank = array.layout->rank();
  Leaf operand{0, Access::plain({indices.rank(), InlineVector<AxisMap, max_rank>(rank, AxisMap{})}),
               false};
  std::vector<std::size_t> free;
  for (std::size_t k = 0; k < indices.rank(); ++k) free.push_back(k);
  if (random.between(0, 4) == 0) std::reverse(free.begin(), free.end());
  for (std::size_t d = 0; d < rank; ++d) {
    auto const extent = array.layout->shape()[d];
    operand.access.map.axes[d].offset = random.between(0, extent - 1);
    if (free.empty() || random.between(0, 7) == 0) continue;
    move_axis(random, operand.access, d, extent, indices, free.front());
    free.erase(free.begin());
  }
  operand.forced_temporary = random.between(0, 7) == 0;
  return operand;
}

// The whole of an array like the target, or a slice of it, shifted.
Leaf random_stencil_leaf(Random& random, Array const& array, Statement const& statement) {
  auto const rank = array.layout->rank();
  Leaf operand{0, Access::plain(statement.written), random.between(0, 15) == 0};
  for (std::size_t d = 0; d < rank; ++d) {
    auto& axis = operand.access.map.axes[d];
    auto const extent = array.layout->shape()[d];
    auto const shift = random.between(0, 3) == 0 ? 0 : random.between(-2, 2);
    if (axis.from == AxisMap::fixed) continue;
    auto const count = floor_div(extent, axis.stride);
    if (random.between(0, 3) > 0 && axis.stride > 0 && count * axis.stride == extent) {
      axis.offset += axis.stride * shift;
      operand.access.boundaries[d] =
          random_boundary(random, floor_mod(axis.offset, axis.stride), count);
      continue;
    }
    auto const image = operand.access.map.image(statement.indices);
    if (image.lo[d] + shift >= 0 && image.hi[d] + shift <= extent) axis.offset += shift;
  }
  return operand;
}

// As many cells of an array as the statement has indices, at another step than it writes: a coarse
// mesh over a fine one, or the other way round.
Leaf random_stepped_leaf(Random& random, Array const& array, Statement const& statement) {
  Leaf operand{0, Access::plain(statement.written), random.between(0, 15) == 0};
  for (std::size_t d = 0; d < array.layout->rank(); ++d) {
    auto& axis = operand.access.map.axes[d];
    auto const extent = array.layout->shape()[d];
    if (axis.from == AxisMap::fixed) {
      axis.offset = random.between(0, extent - 1);
      continue;
    }
    auto const from = static_cast<std::size_t>(axis.from);
    auto const lo = statement.indices.lo[from];
    auto const count = std::max<std::int64_t>(statement.indices.extent(from), 1);
    auto const widest = count == 1 ? 3 : (extent - 1) / (count - 1);
    axis.stride =
        std::clamp<std::int64_t>(widest, 1, 3) * (statement.written.axes[d].stride > 0 ? 1 : -1);
    auto const first = random_first(random, extent, axis.stride, count);
    if (!first) {
      axis = {AxisMap::fixed, random.between(0, extent - 1), 1};
      continue;
    }
    axis.offset = *first - axis.stride * lo;
    if (random.chance() || axis.stride < 0) continue;
    operand.access.boundaries[d] =
        random_boundary(random, floor_mod(*first, axis.stride),
                        (extent - floor_mod(*first, axis.stride) - 1) / axis.stride + 1);
    axis.offset += axis.stride * random.between(-1, 1);
  }
  return operand;
}

// Cells of one dimension of the target, as a new dimension of the statement.
void write_along(Random& random, Statement& statement, std::size_t d, std::int64_t extent) {
  auto& axis = statement.written.axes[d];
  auto const lo = random.between(0, 4) == 0 ? random.between(-2, 2) : 0;
  axis.stride = random.between(0, 3) == 0 ? random_stride(random) : 1;
  auto const most = extent == 0 ? 0 : (extent - 1) / std::abs(axis.stride) + 1;
  auto const count = random.chance() ? most : random.between(0, most);
  auto const first = random_first(random, extent, axis.stride, std::max<std::int64_t>(count, 1));
  axis.from = static_cast<int>(statement.indices.rank());
  axis.offset = first.value_or(0) - axis.stride * lo;
  statement.indices.lo.push_back(lo);
  statement.indices.hi.push_back(lo + count);
}

void transpose_indices(Statement& statement) {
  std::reverse(statement.indices.lo.begin(), statement.indices.lo.end());
  std::reverse(statement.indices.hi.begin(), statement.indices.hi.end());
  for (auto& axis : statement.written.axes)
    if (axis.from != AxisMap::fixed)
      axis.from = static_cast<int>(statement.indices.rank()) - 1 - axis.from;
}

Statement random_statement(Random& random, Program const& program) {
  Statement statement;
  auto const last = static_cast<std::int64_t>(program.arrays.size()) - 1;
  statement.target = static_cast<std::size_t>(random.between(0, last));
  auto const& shape = program.arrays[statement.target]->layout->shape();
  statement.written.axes.resize(shape.size());
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (shape[d] > 0 && random.between(0, 9) == 0)
      statement.written.axes[d].offset = random.between(0, shape[d] - 1);
    else
      write_along(random, statement, d, shape[d]);
  }
  statement.written.rank_in = statement.indices.rank();
  if (random.between(0, 9) == 0) transpose_indices(statement);
  auto const operands = random.between(1, 3);
  for (std::int64_t l = 0; l < operands; ++l) {
    auto const array = static_cast<std::size_t>(random.between(0, last));
    auto const& read = *program.arrays[array];
    if (read.layout->cells() == 0) continue;
    bool const alike = read.layout->shape().size() == shape.size() && read.layout->shape() == shape;
    bool const of_one_rank = read.layout->rank() == shape.size();
    auto operand = alike && random.between(0, 3) > 0 ? random_stencil_leaf(random, read, statement)
                   : of_one_rank && random.between(0, 3) > 0
                       ? random_stepped_leaf(random, read, statement)
                       : random_leaf(random, read, statement.indices);
    operand.array = array;
    statement.operands.push_back(operand);
  }
  return statement;
}

// Half the cells along each dimension, cut alike or nearly so unless the rule lists them.
SharedLayout halved(Random& random, Layout const& layout, Shape& shape) {
  auto const odd = random.between(0, 1);
  for (auto& extent : shape) extent = (extent + odd) / 2;
  auto const& sharding = layout.sharding();
  for (std::size_t d = 0; d < shape.size(); ++d)
    if (sharding.cut(d).lists_cells())
      return random_layout(random, sharding.mesh(), sharding.spec(), shape);
  if (random.chance()) return std::make_shared<Layout const>(sharding, shape);
  return std::make_shared<Layout const>(
      NamedSharding(sharding.mesh(), sharding.spec(), Cut::unit(random.between(1, 2))), shape);
}

Program random_program(Random& random) {
  Program program;
  auto mesh = random_mesh(random);
  auto shape = random_shape(random, random_rank(random));
  auto spec = random_spec(random, mesh, shape.size());
  auto layout = random_layout(random, mesh, spec, shape);
  auto const arrays = random.between(1, 3);
  for (std::int64_t a = 0; a < arrays; ++a) {
    program.arrays.push_back(std::make_unique<Array>(layout));
    auto const change = random.between(0, 15);
    if (change == 0) mesh = random_mesh(random);
    if (change <= 1) shape = random_shape(random, shape.size());
    if (change == 2) shape = random_shape(random, random_rank(random));
    if (change <= 3) spec = random_spec(random, mesh, shape.size());
    if (change == 4 && !shape.empty()) shape[0] = std::max<std::int64_t>(0, shape[0] - 1);
    if (change >= 11) layout = halved(random, *layout, shape);
    if (change <= 5) layout = random_layout(random, mesh, spec, shape);
  }
  auto const statements = random.between(1, 3);
  for (std::int64_t s = 0; s < statements; ++s)
    program.statements.push_back(random_statement(random, program));
  return program;
}

// ---- One statement on all devices.

// How often the interesting cases came up, so that a change of the dice cannot empty the test.
struct Met {
  std::int64_t statements = 0;
  std::int64_t ghosts = 0;          // transfers into ghost cells
  std::int64_t temporaries = 0;     // transfers into temporaries
  std::int64_t wrapped = 0;         // transfers around the domain into ghost cells
  std::int64_t wrapped_often = 0;   // transfers around it more than once
  std::int64_t clamped = 0;         // reads of an edge cell past it
  std::int64_t mirrored = 0;        // reads of a mirrored cell
  std::int64_t valid_reads = 0;     // reads of ghost cells that an earlier statement filled
  std::int64_t from_several = 0;    // transfers from another box than the owner's first
  std::int64_t for_several = 0;     // transfers into another temporary than the reader's first
  std::int64_t reads_in_place = 0;  // reads in place of an array of several boxes
  std::int64_t stepped = 0;         // transfers into ghost cells at another step than is written
  std::int64_t stepped_reads = 0;   // reads in place at another step than is written
  std::int64_t sent = 0;            // cells that devices send
  std::int64_t second_places = 0;   // boxes of cells that a device copies to another place
  std::int64_t sent_again = 0;      // those of them that their receivers lack only once
  std::int64_t forwarded = 0;       // transfers that come from a device of the reader's host
  // How often a device is sent a cell of an array twice, because it reads the cell ...
  std::int64_t images = 0;          // in several ghost cells, of which all but one are images
  std::int64_t read_both_ways = 0;  // in a ghost cell and in a temporary
  std::int64_t several_steps = 0;   // at steps of which neither divides the other's, or in place
};

// What one device was given, and where it looks for it.
struct Arrived {
  std::vector<WorkBox> works;
  std::vector<Values> temporaries;
  std::vector<Values> in_temporaries;  // which places were given
  std::vector<Values> in_ghosts;  // per leaf, the first of its array: which leaf was given them
};

// The cells of one array that a device reads and does not hold: where it looks for each.
struct Lacked {
  struct Place {
    bool in_place;
    Index at;
    friend auto operator<=>(Place const&, Place const&) = default;
  };
  std::map<Index, std::set<Place>> places;
};

class Run {
 public:
  Run(Program& program, Statement const& statement, Met& met)
      : program_(program),
        statement_(statement),
        place_{array(statement.target).layout, statement.written, statement.indices},
        met_(met) {
    ++met.statements;
    for (auto const& operand : statement.operands) {
      auto& read = array(operand.array);
      auto const widths = ghost_widths_for(*read.layout, operand.access, place_);
      bool const in_place = widths && !operand.forced_temporary;
      if (in_place) read.grow(*widths);
      uses_.push_back({read.layout, operand.access, operand.array, in_place, &read.halo_validity});
      widths_.push_back(widths.value_or(GhostWidths::none(read.layout->rank())));
    }
  }

  void exchange() {
    for (std::int64_t id = 0; id <= most_devices; ++id)
      plans_.push_back(plan_exchange(uses_, place_, DeviceId{id}));
    for (std::int64_t id = 0; id <= most_devices; ++id) check_partners(DeviceId{id});
    for (std::int64_t id = 0; id <= most_devices; ++id) deliver_to(DeviceId{id});
    check_forwarding(2 + met_.statements % 4);
  }

  void take_effect(Random& random) {
    note_fills();
    auto& target = array(statement_.target);
    bool overwrites = false;
    for (std::size_t l = 0; l < uses_.size(); ++l)
      overwrites =
          overwrites || (uses_[l].in_place && uses_[l].array == statement_.target &&
                         could_read_overwritten(uses_[l].access, place_.map, place_.indices));
    test::for_each_cell(statement_.indices, [&](Index const& i) {
      target.truth.at(statement_.written(i)) = target.next_version++;
    });
    if (overwrites || random.between(0, 9) == 0)
      target.swap_buffers();
    else
      target.note_write(statement_.written.image(statement_.indices));
  }

 private:
  Array& array(std::size_t number) { return *program_.arrays[number]; }
  ExchangePlan const& plan(DeviceId device) const {
    return plans_[static_cast<std::size_t>(device.value())];
  }

  void check_partners(DeviceId a) const {
    for (auto const* list : {&plan(a).sends, &plan(a).receives})
      demand(std::is_sorted(list->begin(), list->end(),
                            [](auto const& x, auto const& y) {
                              return std::pair(x.peer, x.operand) < std::pair(y.peer, y.operand);
                            }),
             "device ", a, " has an unsorted list");
    for (std::int64_t id = 0; id <= most_devices; ++id) {
      DeviceId const b{id};
      auto const sent = with_peer(plan(a).sends, b);
      auto const received = with_peer(plan(b).receives, a);
      demand(a != b || sent.empty(), "device ", a, " sends to itself");
      demand(sent == received, a, " sends ", test::list_of(sent), " but ", b, " receives ",
             test::list_of(received));
    }
  }

  // The same plans where so many devices are a host, against those without forwarding: all devices
  // get the same cells to the same places, and what several of a host need crosses once.
  void check_forwarding(std::int64_t per_host) {
    Forwarding const forwarding{{most_devices + 1, per_host}, 0};
    auto const& hosts = forwarding.hosts;
    std::vector<ExchangePlan> forwarded;
    for (std::int64_t id = 0; id <= most_devices; ++id)
      forwarded.push_back(plan_exchange(uses_, place_, DeviceId{id}, forwarding));
    for (std::int64_t id = 0; id <= most_devices; ++id)
      check_forwarded(DeviceId{id}, forwarded, hosts);
    for (std::int64_t owner = 0; owner <= most_devices; ++owner)
      for (std::int64_t host = 0; host < hosts.count(); ++host)
        check_crossing(DeviceId{owner}, forwarded, {hosts.first(host), hosts.size(host)});
  }

  void check_forwarded(DeviceId device, std::vector<ExchangePlan> const& forwarded,
                       MemberHosts const& hosts) {
    auto const& own = forwarded[static_cast<std::size_t>(device.value())];
    demand(own.copies == plan(device).copies, "device ", device, " copies other cells");
    auto arrived = own.receives;
    for (auto const& transfer : own.forwarded_receives) {
      ++met_.forwarded;
      demand(hosts.host_of(transfer.peer.value()) == hosts.host_of(device.value()), transfer,
             " is forwarded from another host than that of ", device);
      auto const& forwarder = forwarded[static_cast<std::size_t>(transfer.peer.value())];
      auto const from = std::ranges::find_if(forwarder.receives, [&](Transfer const& received) {
        return received.operand == transfer.operand && received.cells == transfer.cells &&
               received.box == transfer.box &&
               hosts.host_of(received.peer.value()) != hosts.host_of(device.value());
      });
      demand(from != forwarder.receives.end(), "device ", transfer.peer, " has not got ", transfer,
             ", which it forwards to ", device);
      arrived.push_back(transfer);
      arrived.back().peer = from->peer;
    }
    auto needed = plan(device).receives;
    auto const order = [](Transfer const& a, Transfer const& b) { return text(a) < text(b); };
    std::ranges::sort(arrived, order);
    std::ranges::sort(needed, order);
    demand(arrived == needed, "device ", device, " gets ", test::list_of(arrived), " and not ",
           test::list_of(needed));
    for (std::int64_t id = 0; id <= most_devices; ++id) {
      auto const& other = forwarded[static_cast<std::size_t>(id)];
      demand(ends_of(own.sends, DeviceId{id}) == ends_of(other.receives, device) &&
                 ends_of(own.forwarded_sends, DeviceId{id}) ==
                     ends_of(other.forwarded_receives, device),
             "device ", device, " and ", id, " do not agree on what the one sends the other");
    }
  }

  // The transfers with one peer, as both ends know them: each puts the cells where it wants.
  static std::vector<Transfer> ends_of(std::vector<Transfer> const& transfers, DeviceId peer) {
    auto result = with_peer(transfers, peer);
    for (auto& transfer : result) transfer.into = 0;
    return result;
  }

  struct Devices {
    std::int64_t first;
    std::int64_t count;
  };
  // No cells that are read through temporaries come twice from one owner to another host, but those
  // that a device needs in several of them.
  void check_crossing(DeviceId owner, std::vector<ExchangePlan> const& forwarded,
                      Devices const& host) const {
    if (owner.value() >= host.first && owner.value() < host.first + host.count) return;
    std::set<std::pair<std::size_t, std::string>> lists;
    for (std::int64_t id = host.first; id < host.first + host.count; ++id) {
      std::map<std::size_t, std::string> by_operand;
      for (auto const& transfer :
           with_peer(forwarded[static_cast<std::size_t>(id)].receives, owner))
        if (!uses_[transfer.operand].in_place)
          by_operand[transfer.operand] += text(transfer.box, ": ", transfer.cells, '\n');
      for (auto const& key : by_operand)
        demand(lists.insert(key).second, "cells of ", owner, " come to several devices of the ",
               "host of ", host.first, ": ", key.second);
    }
  }

  void deliver_to(DeviceId device) {
    auto arrived = make_room(device);
    for (auto const* list : {&plan(device).receives, &plan(device).copies})
      for (auto const& transfer : *list) {
        demand(!transfer.cells.lattice.empty(), "an empty transfer ", transfer);
        count(transfer);
        deliver(device, transfer, arrived);
      }
    for (auto const& second : plan(device).temporaries.second_places) {
      ++met_.second_places;
      take_again(second, arrived);
    }
    std::map<std::size_t, Lacked> lacked;
    for (std::size_t w = 0; w < arrived.works.size(); ++w)
      test::for_each_cell(arrived.works[w].indices, [&](Index const& i) {
        for (std::size_t l = 0; l < uses_.size(); ++l)
          check_read(device, {l, w, i}, arrived, lacked[uses_[l].array]);
      });
    for (auto const& [array, cells] : lacked) check_sent(device, array, cells);
  }

  Arrived make_room(DeviceId device) {
    Arrived arrived{place_.work_of(device), {}, {}, {}};
    for (auto const& temporary : plan(device).temporaries.list) {
      arrived.temporaries.emplace_back(temporary.places);
      arrived.in_temporaries.emplace_back(temporary.places);
    }
    for (auto const& use : uses_) {
      auto const& frames = array(use.array).frames;
      auto const frame = frames.find(device);
      arrived.in_ghosts.emplace_back(use.in_place && frame != frames.end() ? frame->second.box()
                                                                           : Box::none(0));
    }
    return arrived;
  }

  // A cell is sent once, unless the reader looks for it in two places.
  void check_sent(DeviceId device, std::size_t array, Lacked const& lacked) {
    std::int64_t sent = 0;
    for (auto const& transfer : plan(device).receives)
      if (uses_[transfer.operand].array == array) sent += transfer.cells.count();
    auto const needed = static_cast<std::int64_t>(lacked.places.size());
    met_.sent += sent;
    if (sent == needed) return;
    demand(sent > needed, "device ", device, " is sent ", sent, " of ", needed, " cells");
    met_.sent_again += sent - needed;
    std::int64_t most = 0;
    bool has_both = false;
    for (auto const& [cell, places] : lacked.places) {
      auto const ghosts = std::ranges::count_if(places, &Lacked::Place::in_place);
      bool const is_in_temporary = ghosts < std::ssize(places);
      most += ghosts + (is_in_temporary ? 1 : 0);
      has_both = has_both || (is_in_temporary && ghosts > 0);
    }
    demand(sent <= most || read_at_several_steps(array), "device ", device, " is sent ", sent,
           " of ", needed, " cells of array ", array);
    ++(sent > most ? met_.several_steps : has_both ? met_.read_both_ways : met_.images);
  }

  [[nodiscard]] bool read_at_several_steps(std::size_t array) const {
    for (auto const& a : uses_)
      for (auto const& b : uses_)
        if (a.array == array && b.array == array && step_apart(a, b)) return true;
    return false;
  }

  // True if a cell that both read may come twice: in ghost cells, where they step otherwise; in
  // temporaries, where the steps of neither divide the other's.
  static bool step_apart(OperandUse const& a, OperandUse const& b) {
    if (a.in_place != b.in_place) return false;
    if (a.in_place) return !step_alike(a, b);
    return !divides(a.access, b.access) && !divides(b.access, a.access);
  }
  static bool divides(Access const& a, Access const& b) {
    for (std::size_t d = 0; d < a.rank(); ++d) {
      auto const& x = a.map.axes[d];
      auto const& y = b.map.axes[d];
      bool const both = x.from != AxisMap::fixed && y.from != AxisMap::fixed;
      if (both && y.stride % x.stride != 0) return false;
    }
    return true;
  }

  void count(Transfer const& transfer) {
    auto const& use = uses_[transfer.operand];
    auto const& shape = use.owned->shape();
    ++(use.in_place ? met_.ghosts : met_.temporaries);
    if (transfer.box > 0) ++met_.from_several;
    if (transfer.into > 0) ++met_.for_several;
    if (use.in_place && transfer.cells.wraps()) ++met_.wrapped;
    if (use.in_place && steps_otherwise(use)) ++met_.stepped;
    for (std::size_t d = 0; d < shape.size(); ++d) {
      auto const& axis = transfer.cells.axes[d];
      if (std::abs(axis.frame - axis.cell) > shape[d]) ++met_.wrapped_often;
    }
  }

  void deliver(DeviceId device, Transfer const& transfer, Arrived& arrived) {
    auto const& use = uses_[transfer.operand];
    auto& read = array(use.array);
    auto const sender = read.layout->boxes_of(transfer.peer).at(transfer.box);
    auto& into = use.in_place ? read.frames.at(device) : arrived.temporaries.at(transfer.into);
    test::for_each_cell(transfer.cells.lattice, [&](Index const& l) {
      Index cell;
      Index frame;
      for (std::size_t d = 0; d < l.size(); ++d) {
        auto const& axis = transfer.cells.axes[d];
        cell.push_back(axis.cell + axis.stride * l[d]);
        frame.push_back(axis.frame + axis.stride * l[d]);
      }
      demand(sender.contains(cell), transfer, ": the peer has no cell ", cell);
      auto const& at = use.in_place ? frame : l;
      demand(!use.in_place || !read.owns(device, frame), transfer, ": device ", device,
             " is given its own cell ", frame);
      demand(!use.in_place || read.filled.at(device).at(frame) == unknown, transfer, ": device ",
             device, " holds ", frame, " valid");
      into.at(at) = read.truth.at(cell);
      note_given(transfer, at, arrived);
    });
  }

  static void take_again(SecondPlace const& second, Arrived& arrived) {
    test::for_each_cell(second.places, [&](Index const& place) {
      auto const from = second.from_places(place);
      demand(arrived.in_temporaries.at(second.from).at(from) == final, "place ", from,
             " of temporary ", second.from, " was not given");
      auto& before = arrived.in_temporaries.at(second.to).at(place);
      demand(before == unknown, "place ", place, " of temporary ", second.to, " is given twice");
      before = copied;
      arrived.temporaries.at(second.to).at(place) = arrived.temporaries.at(second.from).at(from);
    });
  }

  void note_given(Transfer const& transfer, Index const& at, Arrived& arrived) const {
    auto const& use = uses_[transfer.operand];
    if (!use.in_place) {
      auto& before = arrived.in_temporaries.at(transfer.into).at(at);
      demand(before == unknown, transfer, ": ", at, " is delivered twice");
      before = final;
      return;
    }
    std::size_t number = 0;
    while (uses_[number].array != use.array || !uses_[number].in_place) ++number;
    // What a strided leaf was given is remembered for leaves of the same steps; an edge cell may
    // lie inside the same leaf's need.
    auto& before = arrived.in_ghosts[number].at(at);
    bool const is_known = before >= 0 && step_alike(use, uses_[static_cast<std::size_t>(before)]);
    demand(before != final && !is_known, transfer, ": ", at, " is delivered twice");
    before = steps(use.access) ? static_cast<std::int64_t>(transfer.operand) : final;
  }

  static bool step_alike(OperandUse const& a, OperandUse const& b) {
    for (std::size_t d = 0; d < a.access.rank(); ++d) {
      auto const& x = a.access.map.axes[d];
      auto const& y = b.access.map.axes[d];
      bool const moves = x.from != AxisMap::fixed;
      if (moves != (y.from != AxisMap::fixed) || (moves && x.stride != y.stride)) return false;
      for (auto const& boundary : {a.access.boundaries[d], b.access.boundaries[d]})
        for (auto const kind : {boundary.below, boundary.above})
          if (is_mirror(kind) || kind == BoundaryKind::edge) return false;
    }
    return true;
  }
  // True if the operand is read at another step than its cells are computed.
  [[nodiscard]] bool steps_otherwise(OperandUse const& use) const {
    for (auto const& read : use.access.map.axes)
      for (auto const& write : place_.map.axes)
        if (read.from != AxisMap::fixed && read.from == write.from && read.stride != write.stride)
          return true;
    return false;
  }

  static bool steps(Access const& access) {
    return std::any_of(access.map.axes.begin(), access.map.axes.end(), [](AxisMap const& axis) {
      return axis.from != AxisMap::fixed && axis.stride != 1;
    });
  }

  // What one leaf reads at one index of one box of the device's work.
  struct Where {
    std::size_t leaf;
    std::size_t work;
    Index index;
  };

  void check_read(DeviceId device, Where const& where, Arrived& arrived, Lacked& lacked) {
    auto const& use = uses_[where.leaf];
    auto& read = array(use.array);
    Index cell;
    Index frame;
    for (std::size_t d = 0; d < use.access.rank(); ++d) {
      auto const seen = seen_along(use.access, d, where.index);
      if (seen.constant) return;
      cell.push_back(seen.cell);
      frame.push_back(seen.place);
      if (seen.clamped) ++met_.clamped;
      if (seen.mirrored) ++met_.mirrored;
    }
    bool const is_own = read.owns(device, frame);
    bool const is_valid = use.in_place && !is_own && read.filled.at(device).at(frame) != unknown;
    if (is_valid) ++met_.valid_reads;
    if (use.in_place && !read.layout->is_single_box()) ++met_.reads_in_place;
    if (use.in_place && steps_otherwise(use)) ++met_.stepped_reads;
    if (!is_valid && !read.owns(device, cell)) lacked.places[cell].insert({use.in_place, frame});
    auto const value = !use.in_place ? value_in_temporary(device, where, frame, arrived)
                       : is_own      ? read.truth.at(frame)
                                     : read.frames.at(device).at(frame);
    demand(value == read.truth.at(cell), "device ", device, " reads ", value, " instead of ",
           read.truth.at(cell), " for cell ", cell, " through leaf ", where.leaf, ' ', use.access,
           " at ", where.index);
  }

  // As an executor finds it: by the formula around the index.
  std::int64_t value_in_temporary(DeviceId device, Where const& where, Index const& frame,
                                  Arrived& arrived) {
    auto const& use = uses_[where.leaf];
    auto index_after = where.index;
    for (auto& i : index_after) ++i;
    auto const formula = formula_over(use.access, {where.index, index_after});
    auto const& temporaries = plan(device).temporaries;
    auto const into = temporaries.read_of(where.leaf, where.work, formula).temporary;
    if (into == TemporaryRead::own_box) {
      auto& read = array(use.array);
      demand(read.owns(device, frame), "device ", device, " reads ", frame, " as its own");
      return read.truth.at(frame);
    }
    auto const& temporary = temporaries.list.at(into);
    Index place;
    for (std::size_t d = 0; d < frame.size(); ++d) {
      auto const& [first, stride] = temporary.axes[d];
      demand(floor_mod(frame[d] - first, stride) == 0, frame, " is between places");
      place.push_back(floor_div(frame[d] - first, stride));
    }
    return arrived.temporaries.at(into).at(place);
  }

  void note_fills() {
    for (std::size_t a = 0; a < program_.arrays.size(); ++a) {
      std::vector<Access> accesses;
      for (std::size_t l = 0; l < uses_.size(); ++l)
        if (uses_[l].array == a && uses_[l].in_place &&
            !(widths_[l] == GhostWidths::none(widths_[l].below.size())))
          accesses.push_back(uses_[l].access);
      auto const fill = Fill::make(accesses, place_);
      if (fill == nullptr) continue;
      array(a).halo_validity.note_fill(fill);
      if (array(a).halo_validity.empty())
        array(a).forget_filled();
      else
        for (auto const& access : accesses) mark_filled(array(a), access);
    }
  }

  void mark_filled(Array& array, Access const& access) const {
    if (steps(access)) return;
    for (auto& [device, frame] : array.filled) {
      auto const mark = [&frame = frame, &access](Index const& i) {
        Index place;
        for (std::size_t d = 0; d < access.rank(); ++d) {
          auto const seen = seen_along(access, d, i);
          if (seen.constant) return;
          place.push_back(seen.place);
        }
        frame.at(place) = 1;
      };
      for (auto const& work : place_.work_of(device)) test::for_each_cell(work.indices, mark);
    }
  }

  Program& program_;
  Statement const& statement_;
  ComputePlacement place_;
  std::vector<OperandUse> uses_;
  std::vector<GhostWidths> widths_;
  std::vector<ExchangePlan> plans_;
  Met& met_;
};

// What a host program does between statements: writes a box, or replaces all cells.
void disturb(Random& random, Program& program) {
  auto const last = static_cast<std::int64_t>(program.arrays.size()) - 1;
  auto& array = *program.arrays[static_cast<std::size_t>(random.between(0, last))];
  auto const& shape = array.layout->shape();
  Box box;
  for (auto const extent : shape) {
    box.lo.push_back(random.between(0, extent));
    box.hi.push_back(random.between(0, extent));
  }
  test::for_each_cell(box, [&](Index const& cell) { array.truth.at(cell) = array.next_version++; });
  array.note_write(box);
}

std::string describe(Statement const& statement, Program const& program) {
  auto result = text("array ", statement.target, ' ', *program.arrays[statement.target]->layout,
                     " written ", statement.written, " over ", statement.indices);
  for (auto const& operand : statement.operands) {
    result += text("\n  array ", operand.array, ' ', *program.arrays[operand.array]->layout,
                   " read ", operand.access);
    for (auto const& b : operand.access.boundaries)
      result += text(" [", b.first, " x ", b.count, ']');
  }
  return result;
}

bool run_program(std::uint64_t seed, Met& met) {
  Random random(seed);
  auto program = random_program(random);
  auto const steps = random.between(1, 10);
  for (std::int64_t step = 0; step < steps; ++step) {
    auto const last = static_cast<std::int64_t>(program.statements.size()) - 1;
    auto const& statement = program.statements[static_cast<std::size_t>(random.between(0, last))];
    try {
      Run run(program, statement, met);
      run.exchange();
      run.take_effect(random);
    } catch (Broken const& broken) {
      MESSAGE("step ", step, ": ", broken.what, "\n  ", describe(statement, program));
      return false;
    }
    if (random.between(0, 5) == 0) disturb(random, program);
  }
  return true;
}

}  // namespace

TEST_CASE("every device is sent exactly the cells it reads and lacks, whatever the program") {
  Met met;
  CHECK(test::failed_seeds(3'600, [&](std::uint64_t seed) { return run_program(seed, met); }) == 0);

  // The bounds are those of the usual seeds. Other seeds, if they are not too few, keep a quarter.
  auto const cases = met.statements;
  if (test::left_out_if(cases < 1000, "it needs many statements")) return;
  auto const part = test::seeds_to_run(1).are_chosen ? 4 : 1;
  CHECK(part * met.ghosts > cases / 2);
  CHECK(met.temporaries > cases);
  CHECK(part * met.wrapped > cases / 5);
  CHECK(part * met.wrapped_often > cases / 20);
  CHECK(part * met.clamped > cases / 8);
  CHECK(part * met.mirrored > cases / 8);
  CHECK(part * met.valid_reads > cases / 5);
  CHECK(part * met.from_several > cases / 3);
  CHECK(part * met.for_several > cases / 8);
  CHECK(part * met.reads_in_place > cases / 4);
  CHECK(part * met.stepped > cases / 50);
  CHECK(met.stepped_reads > cases / 4);
  CHECK(part * met.second_places > cases / 20);
  CHECK(part * met.forwarded > cases / 20);
  CHECK(met.images + met.read_both_ways + met.several_steps < cases / 20);
  CHECK(met.sent_again < met.sent / 20);
}

TEST_SUITE_END();
