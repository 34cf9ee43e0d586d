#include "src/plan/block_schedule.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <map>
#include <memory>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "src/base/detail.hpp"
#include "src/base/text.hpp"
#include "src/index/box.hpp"
#include "src/index/index.hpp"
#include "src/plan/access.hpp"
#include "src/plan/block_passes.hpp"
#include "src/plan/exchange/halo_plan.hpp"
#include "src/plan/ghost.hpp"
#include "src/statement/statement.hpp"

#include "support/boundaries.hpp"
#include "support/brute_force.hpp"
#include "support/layouts.hpp"
#include "support/left_out.hpp"
#include "support/seeds.hpp"

#include "cases.hpp"

using namespace tessera;
using test::Broken;
using test::demand;
using test::Random;
using test::SharedLayout;
using test::with_peer;

TEST_SUITE_BEGIN("plan/block_schedule");

namespace {

// ---- Bodies and schedules in few words.

LoopRead read_between(std::size_t array, Index const& lowest, Index const& highest) {
  return {array, lowest, highest, InlineVector<bool, max_rank>(lowest.size(), false)};
}
LoopRead read_at(std::size_t array, Index const& offset) {
  return read_between(array, offset, offset);
}

LoopStatement in_place(std::size_t array, Box const& written, std::vector<LoopRead> reads) {
  return {array, written, false, false, std::move(reads)};
}
LoopStatement swapping(std::size_t array, Box const& written, std::vector<LoopRead> reads) {
  return {array, written, false, true, std::move(reads)};
}
LoopStatement with_holes(LoopStatement statement) {
  statement.has_holes = true;
  return statement;
}

// A body over arrays of one shape.
LoopBody body_of(Shape const& shape, std::vector<std::size_t> next,
                 std::vector<LoopStatement> statements) {
  std::vector<LoopArray> arrays(next.size(), reference_array(shape));
  return {std::move(arrays), std::move(next), std::move(statements)};
}

// Three points along each dimension.
LoopBody heat(Shape const& shape) {
  Index const one(shape.size(), 1);
  Index const minus_one(shape.size(), -1);
  auto const inner = grown(whole(shape), minus_one, minus_one);
  return body_of(shape, {0}, {swapping(0, inner, {read_between(0, minus_one, one)})});
}

LoopBody periodic_heat(std::int64_t cells) {
  auto body = heat({cells});
  body.statements[0].written = whole({cells});
  body.statements[0].reads[0].wraps = {true};
  return body;
}

std::string text_of(BlockBuffer const& buffer) {
  return text(static_cast<char>('a' + buffer.array), buffer.which);
}
std::string text_of(std::vector<BlockBuffer> const& buffers) {
  std::vector<std::string> words;
  words.reserve(buffers.size());
  for (auto const& buffer : buffers) words.push_back(text_of(buffer));
  return join(words);
}

// "a1 = a0 at (0,); a0 = a1 at (1,)", with the cells of what is carried: "a1 = a0 [0:2] at (0,)".
std::string text_of(BlockSchedule const& schedule) {
  std::vector<std::string> words;
  for (auto const& instance : schedule.instances) {
    auto const carried = instance.carries ? join(instance.boxes, " ") : "";
    auto const target = instance.target ? text_of(*instance.target) : "value";
    words.push_back(text(target, " = ", text_of(instance.reads), carried, " at ", instance.skew));
  }
  return join(words, "", "", "; ");
}

std::string schedule_of(LoopBody const& body, std::int64_t steps, std::int64_t alignment = 1) {
  return text_of(schedule_block(body, steps, alignment));
}

// Per instance, "[1:5]" or "[5:6] moved (-6,)".
std::vector<std::string> lines_of(CellsOfInstances const& instances) {
  std::vector<std::string> lines;
  for (auto const& list : instances) {
    std::vector<std::string> words;
    words.reserve(list.size());
    for (auto const& [cells, moved] : list)
      words.push_back(moved == Index(moved.size(), 0) ? text(cells)
                                                      : text(cells, " moved ", moved));
    lines.push_back(join(words));
  }
  return lines;
}

// Of a device that owns `own` of every array.
std::vector<std::string> cells_on(LoopBody const& body, std::int64_t steps, Box const& own) {
  std::vector<Box> const boxes(body.arrays.size(), own);
  return lines_of(cells_of_block(body, schedule_block(body, steps, 1), boxes));
}
BlockPasses passes_on(LoopBody const& body, std::int64_t steps, Box const& own) {
  std::vector<Box> const boxes(body.arrays.size(), own);
  return passes_of_block(body, schedule_block(body, steps, 1), boxes);
}
std::string text_of(CellsOfInstances const& cells) {
  return join(lines_of(cells), "", "", "; ");
}

}  // namespace

TEST_CASE("the second of two heat steps runs one cell behind the first") {
  auto const schedule = schedule_block(heat({16}), 2, 1);

  CHECK(schedule.steps == 2);
  CHECK(text_of(schedule) == "a1 = a0 at (0,); a0 = a1 at (1,)");
  CHECK(text_of(schedule.after) == "a0");
  CHECK(schedule.widths[0] == GhostWidths{{2}, {2}});
}

TEST_CASE("after an odd number of steps the cells lie in the other buffer") {
  auto const schedule = schedule_block(heat({16}), 3, 1);

  CHECK(text_of(schedule) == "a1 = a0 at (0,); a0 = a1 at (1,); a1 = a0 at (2,)");
  CHECK(text_of(schedule.after) == "a1");
}

TEST_CASE("skews along the last dimension are aligned") {
  CHECK(schedule_of(heat({16, 16}), 3) ==
        "a1 = a0 at (0, 0); a0 = a1 at (1, 1); a1 = a0 at (2, 2)");
  CHECK(schedule_of(heat({16, 16}), 3, 8) ==
        "a1 = a0 at (0, 0); a0 = a1 at (1, 8); a1 = a0 at (2, 16)");
}

// The third statement may run ahead of the second, by eight of its nine cells.
TEST_CASE("what runs ahead is aligned too") {
  Box const written{{16}, {32}};
  auto const body =
      body_of({32}, {0, 1, 2},
              {in_place(1, written, {read_at(0, {-16})}), in_place(0, written, {read_at(1, {0})}),
               in_place(2, written, {read_at(0, {-9})})});

  CHECK(schedule_of(body, 1, 8) == "b0 = a0 at (0,); a0 = b0 at (16,); c0 = a0 at (8,)");
  CHECK(schedule_of(body, 1) == "b0 = a0 at (0,); a0 = b0 at (16,); c0 = a0 at (7,)");
}

TEST_CASE("arrays that change their names need no second buffer") {
  auto const body = body_of({9}, {1, 0}, {in_place(1, {{1}, {8}}, {read_between(0, {-1}, {1})})});
  auto const schedule = schedule_block(body, 2, 1);

  CHECK(text_of(schedule) == "b0 = a0 at (0,); a0 = b0 at (1,)");
  CHECK(text_of(schedule.after) == "a0, b0");
  CHECK(text_of(schedule_block(body, 1, 1).after) == "b0, a0");
  CHECK(schedule.widths[0] == GhostWidths{{2}, {2}});
  CHECK(schedule.widths[1] == GhostWidths{{1}, {1}});
  CHECK(body.written() == std::vector{true, true});
  CHECK(body.swapped() == std::vector{false, false});
}

TEST_CASE("three arrays that change their names in turn come back after three steps") {
  auto const body = body_of({9}, {1, 2, 0}, {in_place(2, {{0}, {9}}, {read_at(0, {0})})});

  CHECK(schedule_of(body, 3) == "c0 = a0 at (0,); a0 = b0 at (0,); b0 = c0 at (0,)");
  CHECK(text_of(schedule_block(body, 1, 1).after) == "b0, c0, a0");
  CHECK(text_of(schedule_block(body, 3, 1).after) == "a0, b0, c0");
}

TEST_CASE("red and black cells take turns in place") {
  std::vector const neighbours{read_at(0, {-1}), read_at(0, {1})};
  auto const body = body_of({8}, {0},
                            {with_holes(in_place(0, {{2}, {7}}, neighbours)),
                             with_holes(in_place(0, {{1}, {6}}, neighbours))});
  auto const schedule = schedule_block(body, 2, 1);

  CHECK(text_of(schedule) ==
        "a0 = a0, a0 at (0,); a0 = a0, a0 at (1,); a0 = a0, a0 at (2,); a0 = a0, a0 at (3,)");
  CHECK(schedule.widths[0] == GhostWidths{{4}, {4}});
}

TEST_CASE("an upwind read needs ghost cells on one side only") {
  auto const body =
      body_of({9}, {0}, {swapping(0, {{1}, {9}}, {read_at(0, {-1}), read_at(0, {0})})});
  auto const schedule = schedule_block(body, 3, 1);

  CHECK(text_of(schedule) == "a1 = a0, a0 at (0,); a0 = a1, a1 at (1,); a1 = a0, a0 at (2,)");
  CHECK(schedule.widths[0] == GhostWidths{{3}, {0}});
}

// The second statement overwrites what the first still reads two cells further on.
TEST_CASE("a statement runs as far behind another as that one reads back") {
  auto const body = body_of(
      {9}, {0, 1},
      {in_place(1, {{2}, {9}}, {read_at(0, {-2})}), in_place(0, {{2}, {9}}, {read_at(1, {0})})});

  CHECK(schedule_of(body, 2) ==
        "b0 = a0 at (0,); a0 = b0 at (2,); b0 = a0 at (2,); a0 = b0 at (4,)");
}

TEST_CASE("a body that only copies needs neither skews nor ghost cells") {
  auto const body = body_of(
      {9}, {0, 1},
      {in_place(1, {{0}, {9}}, {read_at(0, {0})}), in_place(0, {{0}, {9}}, {read_at(1, {0})})});
  auto const schedule = schedule_block(body, 2, 8);

  CHECK(text_of(schedule) == "b0 = a0 at (0,); a0 = b0 at (0,); b0 = a0 at (0,); a0 = b0 at (0,)");
  for (auto const& widths : schedule.widths) CHECK(widths == GhostWidths::none(1));
}

TEST_CASE("cells that another statement wrote are carried to the other buffer") {
  auto const stencil = swapping(0, {{2}, {6}}, {read_between(0, {-1}, {1})});
  auto body = body_of({8}, {0}, {stencil, in_place(0, {{0}, {1}}, {})});

  CHECK(body.differing()[0] == Box{{0}, {6}});
  CHECK(schedule_of(body, 1) == "a1 = a0 [0:2] at (0,); a1 = a0 at (0,); a1 =  at (0,)");

  body.statements[0].has_holes = true;
  CHECK(schedule_of(body, 1) == "a1 = a0 [0:6] at (0,); a1 = a0 at (0,); a1 =  at (0,)");
}

TEST_CASE("what holds for an array holds for all that it turns into") {
  auto const body = body_of({8}, {1, 0, 2, 3},
                            {swapping(0, {{2}, {6}}, {read_between(0, {-1}, {1})}),
                             in_place(2, {{0}, {8}}, {read_at(3, {0})})});

  CHECK(body.written() == std::vector{true, true, true, false});
  CHECK(body.swapped() == std::vector{true, true, false, false});
  CHECK(body.differing()[1] == Box{{2}, {6}});
  CHECK(body.differing()[3].empty());
}

TEST_CASE("a device computes its neighbours' cells too, but none past the ends") {
  CHECK(cells_on(heat({16}), 2, {{4}, {8}}) == std::vector<std::string>{"[3:9]", "[4:8]"});
  CHECK(cells_on(heat({16}), 2, {{0}, {4}}) == std::vector<std::string>{"[1:5]", "[1:4]"});
}

TEST_CASE("where an array wraps, a device computes images of its own cells") {
  CHECK(periodic_heat(6).wraps()[0]);
  CHECK(cells_on(periodic_heat(6), 2, {{0}, {6}}) ==
        std::vector<std::string>{"[-1:0] moved (-6,), [0:6], [6:7] moved (6,)", "[0:6]"});
}

TEST_CASE("no images are computed for reads that do not wrap") {
  auto body = periodic_heat(6);
  body.arrays.push_back(reference_array({6}));
  body.next = {0, 1};
  body.statements.push_back(swapping(1, {{0}, {6}}, {read_between(1, {-1}, {1})}));

  auto const cells = cells_on(body, 2, {{0}, {6}});

  CHECK(cells[0] == "[-1:0] moved (-6,), [0:6], [6:7] moved (6,)");
  CHECK(cells[1] == "[0:6]");
}

TEST_CASE("early cells read own cells alone; the others lie below and above") {
  auto const body = heat({16});

  auto const inside = passes_on(body, 2, {{4}, {8}});
  CHECK(text_of(inside.early) == "[5:7]; ");
  CHECK(text_of(inside.late[0]) == "[3:5]; [4:6]");
  CHECK(text_of(inside.late[1]) == "[7:9]; [6:8]");

  auto const at_end = passes_on(body, 2, {{0}, {5}});
  CHECK(text_of(at_end.early) == "[1:4]; [1:3]");
  REQUIRE(at_end.late.size() == 1);
  CHECK(text_of(at_end.late[0]) == "[4:6]; [3:5]");

  auto const alone = passes_on(body, 2, {{0}, {16}});
  CHECK(text_of(alone.early) == "[1:15]; [1:15]");
  CHECK(alone.late.empty());

  auto const narrow = passes_on(body, 2, {{4}, {6}});
  CHECK(narrow.early.empty());
  CHECK(text_of(narrow.late[0]) == "[3:7]; [4:6]");
}

TEST_CASE("what an early cell would overwrite is still read by its neighbour") {
  // The second statement reads no neighbours, but the first one does, of what it overwrites.
  auto const body = body_of({16}, {0, 1},
                            {in_place(1, {{1}, {15}}, {read_between(0, {-1}, {1})}),
                             in_place(0, {{0}, {16}}, {read_at(1, {0})})});
  auto const passes = passes_on(body, 1, {{4}, {12}});

  CHECK(text_of(passes.early) == "[5:11]; [6:10]");
}

// Device 1 of 2 owns [4, 8) of a and [5, 9) of b. The second statement needs cells [4, 9) of a, so
// the first one computes b's cell 4, too.
TEST_CASE("arrays of different shapes are computed as far as their own cells need") {
  Mesh const mesh({{"x", 2}});
  Layout const eight(NamedSharding(mesh, P("x")), {8});
  Layout const nine(NamedSharding(mesh, P("x")), {9});
  LoopBody const body{{loop_array(eight, eight).value(), loop_array(nine, eight).value()},
                      {0, 1},
                      {in_place(1, {{1}, {8}}, {read_between(0, {-1}, {0})}),
                       in_place(0, {{0}, {8}}, {read_between(1, {0}, {1})})}};
  auto const schedule = schedule_block(body, 1, 1);

  CHECK(text_of(schedule) == "b0 = a0 at (0,); a0 = b0 at (1,)");
  CHECK(schedule.widths[0] == GhostWidths{{1}, {1}});
  CHECK(schedule.widths[1] == GhostWidths{{1}, {0}});
  CHECK(lines_of(cells_of_block(body, schedule, {{{4}, {8}}, {{5}, {9}}})) ==
        std::vector<std::string>{"[4:8]", "[4:8]"});
  CHECK(lines_of(cells_of_block(body, schedule, {{{0}, {4}}, {{0}, {5}}})) ==
        std::vector<std::string>{"[1:5]", "[0:4]"});
}

TEST_CASE("a device without cells computes nothing") {
  CHECK(cells_on(periodic_heat(6), 2, {{3}, {3}}) == std::vector<std::string>{"", ""});
}

namespace {

// ---- Random programs are run on several devices in one process, in blocks of steps, as their
// ---- schedules say. The oracle runs them on whole arrays, one step after the other.

// What the programs met, to show that they are not all alike.
struct Met {
  std::int64_t programs = 0;
  std::int64_t cells = 0;
  std::int64_t early = 0;
  std::int64_t images = 0;
  std::int64_t carried = 0;
  std::int64_t ghosts = 0;
  std::int64_t blocks = 0;
  std::int64_t swaps = 0;
  std::int64_t holes_in_place = 0;
  std::int64_t renamed = 0;
  std::int64_t reductions = 0;
  std::int64_t after_reductions = 0;
  std::int64_t other_shapes = 0;
};

// Values over a box, row-major. Those that nobody has set are not there.
class Values {
 public:
  Values() = default;
  explicit Values(Box const& box)
      : box_(box),
        strides_(row_major_strides(box.extents())),
        values_(static_cast<std::size_t>(box.cells())) {}

  [[nodiscard]] Box const& box() const { return box_; }
  [[nodiscard]] std::optional<std::uint64_t> find(Index const& cell) const {
    return box_.contains(cell) ? values_[place_of(cell)] : std::nullopt;
  }
  [[nodiscard]] std::uint64_t at(Index const& cell) const {
    auto const value = find(cell);
    demand(value.has_value(), "cell ", cell, " is not there");
    return *value;
  }
  void set(Index const& cell, std::uint64_t value) {
    demand(box_.contains(cell), "cell ", cell, " is outside ", box_);
    values_[place_of(cell)] = value;
  }

 private:
  [[nodiscard]] std::size_t place_of(Index const& cell) const {
    std::int64_t place = 0;
    for (std::size_t d = 0; d < cell.size(); ++d) place += (cell[d] - box_.lo[d]) * strides_[d];
    return static_cast<std::size_t>(place);
  }

  Box box_ = Box::none(0);
  Index strides_;
  std::vector<std::optional<std::uint64_t>> values_;
};

using Arrays = std::vector<Values>;
using Totals = std::vector<std::uint64_t>;  // of the reductions among the statements
using TotalsOfSteps = std::map<std::int64_t, Totals>;

struct Read {
  std::size_t array = 0;
  Index offset;
  InlineVector<BoundaryKind, max_rank> ends;
};

struct Statement {
  std::size_t array = 0;
  Box written;
  Index strides;
  std::vector<Read> reads;
  bool reduces = false;
  std::optional<std::size_t> known = {};  // the reduction whose last total it uses

  [[nodiscard]] bool writes(Index const& cell) const {
    if (!written.contains(cell)) return false;
    for (std::size_t d = 0; d < cell.size(); ++d)
      if ((cell[d] - written.lo[d]) % strides[d] != 0) return false;
    return true;
  }
};

// Statements, and what the schedule is told about them.
struct Program {
  std::vector<Statement> statements;
  LoopBody body;

  [[nodiscard]] Shape const& shape_of(std::size_t array) const { return body.arrays[array].shape; }
  // Then a block is one step.
  [[nodiscard]] bool uses_totals() const {
    return std::ranges::any_of(statements, [](auto const& one) { return one.known.has_value(); });
  }
};

Index sum_of(Index a, Index const& b) {
  for (std::size_t d = 0; d < a.size(); ++d) a[d] += b[d];
  return a;
}

Index wrapped(Index cell, Shape const& shape) {
  for (std::size_t d = 0; d < cell.size(); ++d) cell[d] = floor_mod(cell[d], shape[d]);
  return cell;
}

// How far from a cell a read looks along one dimension of an array of this shape; not wrapped.
std::int64_t distance_along(Read const& read, Shape const& shape, std::size_t d,
                            std::int64_t cell) {
  auto const at = cell + read.offset[d];
  if (read.ends[d] == BoundaryKind::edge)
    return std::clamp<std::int64_t>(at, 0, shape[d] - 1) - cell;
  if (is_mirror(read.ends[d])) return test::mirrored(at, shape[d], read.ends[d]) - cell;
  return read.offset[d];
}

// The same along all dimensions; nothing where a constant takes the cell's place.
std::optional<Index> distance_of(Read const& read, Shape const& shape, Index const& cell) {
  Index distance;
  for (std::size_t d = 0; d < cell.size(); ++d) {
    distance.push_back(distance_along(read, shape, d, cell[d]));
    auto const at = cell[d] + distance[d];
    if (read.ends[d] == BoundaryKind::constant && (at < 0 || at >= shape[d])) return std::nullopt;
  }
  return distance;
}

// What a statement writes to a cell; `look(r, distance)` is what its read r sees there.
template <class Look>
std::uint64_t value_of(Program const& program, std::size_t s, Index const& cell, std::int64_t step,
                       Totals const& totals, Look const& look) {
  auto value = mix(s, static_cast<std::uint64_t>(step));
  if (auto const known = program.statements[s].known) value = mix(value, totals[*known]);
  for (auto const c : cell) value = mix(value, static_cast<std::uint64_t>(c));
  auto const& reads = program.statements[s].reads;
  for (std::size_t r = 0; r < reads.size(); ++r) {
    auto const distance = distance_of(reads[r], program.shape_of(reads[r].array), cell);
    value = mix(value, distance ? look(r, *distance) : 0);
  }
  return value;
}

// ---- Random things.

std::size_t pick(Random& random, std::size_t count) {
  return static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(count) - 1));
}

// 0: all periodic; 1: of any kind; 2: none periodic.
BoundaryKind random_kind(Random& random, std::int64_t style) {
  if (style == 0 || (style == 1 && random.chance())) return BoundaryKind::periodic;
  return random.chance() ? BoundaryKind::absent : test::random_end(random);
}

// Arrays of different shapes do not wrap where these differ.
Read random_read(Random& random, std::vector<LoopArray> const& arrays, std::int64_t style) {
  Read read{pick(random, arrays.size()), {}, {}};
  auto const rank = arrays[0].shape.size();
  auto const far = random.between(0, 3) == 0 ? 0 : random.between(1, rank == 1 ? 3 : 2);
  for (std::size_t d = 0; d < rank; ++d) {
    bool const may_wrap = std::ranges::all_of(
        arrays, [&](LoopArray const& array) { return array.shape[d] == arrays[0].shape[d]; });
    read.offset.push_back(random.between(-far, far));
    auto const kind = random_kind(random, style);
    bool const must_not = kind == BoundaryKind::periodic && !may_wrap;
    read.ends.push_back(must_not ? BoundaryKind::absent : kind);
  }
  return read;
}

// What a read that knows no end must not be asked for.
void keep_inside(Box& written, Read const& read, Shape const& shape) {
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (read.ends[d] != BoundaryKind::absent) continue;
    written.lo[d] = std::max(written.lo[d], -read.offset[d]);
    written.hi[d] = std::min(written.hi[d], shape[d] - read.offset[d]);
  }
}

Statement random_statement(Random& random, std::vector<LoopArray> const& arrays,
                           std::vector<std::size_t> const& targets) {
  auto const target = targets[pick(random, targets.size())];
  auto const& shape = arrays[target].shape;
  Statement statement{target, whole(shape), Index(shape.size(), 1), {}};
  auto& written = statement.written;
  auto const style = random.between(0, 2);
  for (auto count = random.between(random.between(0, 5) == 0 ? 0 : 1, 3); count > 0; --count) {
    auto const& read = statement.reads.emplace_back(random_read(random, arrays, style));
    keep_inside(written, read, arrays[read.array].shape);
  }
  bool const is_inner = random.between(0, 2) == 0;
  bool const is_strided = random.between(0, 2) == 0;
  for (std::size_t d = 0; d < shape.size(); ++d) {
    if (is_inner) written.lo[d] += random.between(0, 2);
    if (is_inner) written.hi[d] -= random.between(0, 2);
    if (is_strided && random.chance()) statement.strides[d] = random.between(0, 3) == 0 ? 3 : 2;
    auto const count = ceil_div(written.hi[d] - written.lo[d], statement.strides[d]);
    written.hi[d] = written.lo[d] + (count - 1) * statement.strides[d] + 1;
  }
  if (written.empty()) written = Box::none(shape.size());
  return statement;
}

// True if a read sees a cell of the target that the statement overwrites, at another place.
bool reads_what_it_overwrites(Statement const& statement, Shape const& shape) {
  bool does = false;
  test::for_each_cell(statement.written, [&](Index const& cell) {
    if (!statement.writes(cell)) return;
    for (auto const& read : statement.reads) {
      if (read.array != statement.array) continue;
      auto const distance = distance_of(read, shape, cell);
      if (distance && *distance != Index(shape.size(), 0) &&
          statement.writes(wrapped(sum_of(cell, *distance), shape)))
        does = true;
    }
  });
  return does;
}

// Where nothing wraps, a body may tell of more cells than it reads.
LoopRead loop_read(Random& random, Statement const& statement, Read const& read,
                   Shape const& shape) {
  LoopRead result{read.array, read.offset, read.offset, {}};
  for (std::size_t d = 0; d < shape.size(); ++d) {
    result.wraps.push_back(read.ends[d] == BoundaryKind::periodic);
    if (result.wraps[d]) continue;
    auto& lowest = result.lowest[d];
    auto& highest = result.highest[d];
    if (!statement.written.empty())
      lowest = highest = distance_along(read, shape, d, statement.written.lo[d]);
    for (auto cell = statement.written.lo[d]; cell < statement.written.hi[d]; ++cell) {
      auto const distance = distance_along(read, shape, d, cell);
      lowest = std::min(lowest, distance);
      highest = std::max(highest, distance);
    }
    if (random.between(0, 19) == 0) --lowest;
    if (random.between(0, 19) == 0) ++highest;
  }
  return result;
}

LoopStatement loop_statement(Random& random, Statement const& statement,
                             std::vector<LoopArray> const& arrays) {
  auto const& shape = arrays[statement.array].shape;
  std::vector<LoopRead> reads;
  for (auto const& read : statement.reads)
    reads.push_back(loop_read(random, statement, read, arrays[read.array].shape));
  bool has_holes = false;
  for (std::size_t d = 0; d < shape.size(); ++d)
    has_holes = has_holes || (statement.strides[d] > 1 && statement.written.extent(d) > 1);
  bool const swaps = reads_what_it_overwrites(statement, shape) || random.between(0, 19) == 0;
  return {statement.array, statement.written, has_holes, swaps, std::move(reads)};
}

std::vector<std::size_t> random_names(Random& random, std::size_t arrays) {
  std::vector<std::size_t> next(arrays);
  std::iota(next.begin(), next.end(), std::size_t{0});
  if (random.chance()) return next;
  for (auto k = arrays; k > 1; --k) std::swap(next[k - 1], next[pick(random, k)]);
  return next;
}

// A layout per array.
using Layouts = std::vector<SharedLayout>;

SharedLayout random_layout(Random& random, Shape const& shape) {
  for (;;) {
    auto const sharding = test::random_sharding(random, 6, shape);
    if (sharding.is_single_box(shape)) return std::make_shared<Layout const>(sharding, shape);
  }
}

// A layout of a shape that differs from that of `base` by a few cells along some dimensions.
SharedLayout staggered_layout(Random& random, Layout const& base) {
  auto shape = base.shape();
  for (auto& extent : shape)
    if (random.chance()) extent = std::max<std::int64_t>(extent + random.between(-1, 2), 1);
  for (std::size_t d = 0; d < shape.size(); ++d) {
    auto const& cut = base.sharding().cut(d);
    bool const fits_one_extent = cut.lists_cells() || cut.kind() == Cut::Kind::strict;
    if (fits_one_extent) shape[d] = base.shape()[d];
  }
  return std::make_shared<Layout const>(base.sharding(), shape);
}

SharedLayout whole_layout(Layout const& base) {
  PartitionSpec const uncut(std::vector<SpecEntry>(base.rank(), none));
  return std::make_shared<Layout const>(NamedSharding(base.mesh(), uncut), base.shape());
}

// Of arrays with these names: all alike, or of several shapes, or some whole on every device.
Layouts random_layouts(Random& random, std::vector<std::size_t> const& next) {
  constexpr std::array<std::int64_t, 4> most{0, 40, 14, 8};
  auto const rank = static_cast<std::size_t>(random.between(1, 3));
  Shape shape;
  for (std::size_t d = 0; d < rank; ++d) shape.push_back(random.between(1, most[rank]));
  Layouts layouts(next.size(), random_layout(random, shape));
  if (random.chance()) return layouts;
  for (std::size_t a = 1; a < next.size(); ++a) {
    if (next[a] != a) continue;
    auto const other = random.between(0, 3) == 0 ? whole_layout(*layouts[0])
                                                 : staggered_layout(random, *layouts[0]);
    if (loop_array(*other, *layouts[0])) layouts[a] = other;
  }
  return layouts;
}

// Some statements of some programs add up what they would write, and some use such totals.
void add_reductions(Random& random, Program& program) {
  if (random.between(0, 2) > 0) return;
  auto& statements = program.statements;
  std::vector<std::size_t> reductions;
  for (std::size_t s = 0; s < statements.size(); ++s) {
    if (random.chance()) continue;
    reductions.push_back(s);
    statements[s].reduces = true;
    program.body.statements[s].reduces = true;
    program.body.statements[s].swaps = false;
  }
  if (reductions.empty()) return;
  program.body.kept_totals = random.between(1, 3);
  if (random.chance()) return;
  for (auto& statement : statements)
    if (random.chance()) statement.known = reductions[pick(random, reductions.size())];
  std::size_t part = 0;
  std::vector<std::size_t> unknown;  // until the part ends
  for (std::size_t s = 0; s < statements.size(); ++s) {
    auto const& known = statements[s].known;
    if (known && std::ranges::find(unknown, *known) != unknown.end()) {
      ++part;
      unknown.clear();
    }
    if (statements[s].reduces) unknown.push_back(s);
    program.body.statements[s].part = part;
  }
}

Program random_program(Random& random, std::vector<std::size_t> const& next,
                       Layouts const& layouts) {
  Program program{{}, {{}, next, {}}};
  std::vector<std::size_t> targets;
  for (std::size_t a = 0; a < layouts.size(); ++a) {
    program.body.arrays.push_back(loop_array(*layouts[a], *layouts[0]).value());
    if (layouts[a]->sharding() == layouts[0]->sharding()) targets.push_back(a);
  }
  auto const& arrays = program.body.arrays;
  for (auto count = random.between(1, 4); count > 0; --count) {
    auto statement = random_statement(random, arrays, targets);
    while (statement.written.empty() && random.between(0, 9) > 0)
      statement = random_statement(random, arrays, targets);
    program.body.statements.push_back(loop_statement(random, statement, arrays));
    program.statements.push_back(std::move(statement));
  }
  add_reductions(random, program);
  return program;
}

Arrays random_arrays(Random& random, LoopBody const& body) {
  Arrays arrays;
  for (auto const& array : body.arrays) arrays.emplace_back(whole(array.shape));
  for (auto& array : arrays)
    test::for_each_cell(array.box(), [&](Index const& cell) {
      array.set(cell, static_cast<std::uint64_t>(random.between(0, 1'000'000'000)));
    });
  return arrays;
}

// ---- The oracle.

void run_statement(Program const& program, std::size_t s, std::int64_t step, Arrays& arrays,
                   Totals& totals) {
  auto const& statement = program.statements[s];
  std::vector<std::pair<Index, std::uint64_t>> results;
  test::for_each_cell(statement.written, [&](Index const& cell) {
    if (!statement.writes(cell)) return;
    auto const look = [&](std::size_t r, Index const& distance) {
      auto const array = statement.reads[r].array;
      return arrays[array].at(wrapped(sum_of(cell, distance), program.shape_of(array)));
    };
    results.emplace_back(cell, value_of(program, s, cell, step, totals, look));
  });
  if (statement.reduces) {
    totals[s] = 0;
    for (auto const& [cell, value] : results) totals[s] += value;
    return;
  }
  for (auto const& [cell, value] : results) arrays[statement.array].set(cell, value);
}

void run_step(Program const& program, std::int64_t step, Arrays& arrays, Totals& totals) {
  for (std::size_t s = 0; s < program.statements.size(); ++s)
    run_statement(program, s, step, arrays, totals);
  auto const before = arrays;
  for (std::size_t a = 0; a < arrays.size(); ++a) arrays[a] = before[program.body.next[a]];
}

// ---- The devices.

// In which order a block goes through its cells.
struct Tiling {
  Shape extents;
  std::vector<std::size_t> order;  // of the dimensions, the outermost first
  InlineVector<bool, max_rank> backwards;
};

Tiling random_tiling(Random& random, std::size_t rank) {
  constexpr std::array<std::int64_t, 5> extents{1, 2, 3, 7, 1000};
  Tiling tiling;
  for (std::size_t d = 0; d < rank; ++d) {
    tiling.extents.push_back(extents[pick(random, extents.size())]);
    tiling.order.insert(tiling.order.begin() + random.between(0, static_cast<std::int64_t>(d)), d);
    tiling.backwards.push_back(random.chance());
  }
  return tiling;
}

struct Pass {
  std::int64_t first_step = 0;
  BlockSchedule schedule;
  Tiling tiling;
};

// Calls visit(tile) for the tiles that cover `cells`, ascending along every dimension.
template <class Visit>
void for_each_tile(Box const& cells, Tiling const& tiling, Visit const& visit) {
  auto const rank = cells.rank();
  Box numbers{Index(rank, 0), Index(rank, 0)};
  for (std::size_t k = 0; k < rank; ++k)
    numbers.hi[k] = ceil_div(cells.extent(tiling.order[k]), tiling.extents[tiling.order[k]]);
  test::for_each_cell(numbers, [&](Index const& number) {
    Box tile = cells;
    for (std::size_t k = 0; k < rank; ++k) {
      auto const d = tiling.order[k];
      tile.lo[d] += number[k] * tiling.extents[d];
      tile.hi[d] = tile.lo[d] + tiling.extents[d];
    }
    visit(tile);
  });
}

Index negated(Index index) {
  for (auto& i : index) i = -i;
  return index;
}

struct Device {
  DeviceId id;
  std::vector<Box> own;  // of each array
  std::vector<std::array<Values, 2>> arrays;
  TotalsOfSteps totals = {};  // of its own cells in the current block

  Values& buffer(BlockBuffer const& buffer) { return arrays.at(buffer.array).at(buffer.which); }
};

// All devices, from the start of one block to the start of the next.
class Block {
 public:
  Block(Program const& program, Layouts const& layouts, Pass const& pass,
        std::map<DeviceId, Device>& devices, Totals& known)
      : program_(program),
        layouts_(layouts),
        pass_(pass),
        schedule_(pass.schedule),
        devices_(devices),
        known_(known),
        swapped_(program.body.swapped()),
        differing_(program.body.differing()) {}

  // Ghost cells are gone, and with `forgets` all that the schedule says it does not rely on.
  void clear_ghosts(bool forgets) {
    for (auto& [id, device] : devices_)
      for (std::size_t a = 0; a < program_.body.arrays.size(); ++a)
        for (std::size_t which = 0; which < buffers_of(a); ++which) {
          auto const forgotten =
              which == 1 && forgets ? differing_[a] : Box::none(program_.body.rank());
          auto& values = device.arrays[a][which];
          values = moved_to(padded_layout_of(device, a), device.own[a], forgotten, values);
        }
  }

  // Takes down what travels, and fills the ghost cells that a device has itself.
  void send(Met& met) {
    std::vector<HaloNeed> needs;
    for (std::size_t a = 0; a < program_.body.arrays.size(); ++a)
      needs.push_back({layouts_[a], schedule_.widths[a], program_.body.wraps()});
    std::map<DeviceId, ExchangePlan> plans;
    for (auto const& [id, device] : devices_) plans[id] = plan_halo(needs, id);
    for (auto const& [sender, from] : plans)
      for (auto const& [receiver, to] : plans)
        demand(with_peer(from.sends, receiver) == with_peer(to.receives, sender), "device ", sender,
               " sends ", join(from.sends), ", device ", receiver, " receives ", join(to.receives));
    for (auto& [id, device] : devices_)
      for (auto const& transfer : plans[id].copies) take_down(device, transfer, met);
    receive();
    for (auto& [id, device] : devices_)
      for (auto const& transfer : plans[id].receives) take_down(device, transfer, met);
  }

  void receive() {
    for (auto const& [buffer, place, value] : std::exchange(ghosts_, {})) buffer->set(place, value);
  }

  void compute_early(Met& met) {
    for (auto& [id, device] : devices_) {
      auto const early = passes_of(device).early;
      for (auto const& list : early)
        for (auto const& part : list) met.early += part.cells.cells();
      if (!early.empty()) compute_on(device, early, met);
    }
  }
  void compute_late(Met& met) {
    for (auto& [id, device] : devices_)
      for (auto const& pass : passes_of(device).late) compute_on(device, pass, met);
  }

  // The parts of a step whose statements use totals.
  void compute_parts(Met& met) {
    for (std::size_t part = 0; part <= program_.body.statements.back().part; ++part) {
      for (auto& [id, device] : devices_) compute_on(device, cells_of_part(device, part), met);
      for (std::size_t s = 0; s < known_.size(); ++s)
        if (program_.body.statements[s].reduces && program_.body.statements[s].part == part)
          known_[s] = total(pass_.first_step, s);
    }
  }

  // Of the cells of all devices.
  [[nodiscard]] std::uint64_t total(std::int64_t step, std::size_t s) const {
    std::uint64_t total = 0;
    for (auto const& [id, device] : devices_)
      if (auto const found = device.totals.find(step); found != device.totals.end())
        total += found->second[s];
    return total;
  }

  void rename() {
    for (auto& [id, device] : devices_) {
      auto before = device.arrays;
      for (std::size_t a = 0; a < before.size(); ++a) {
        auto const [array, which] = schedule_.after[a];
        demand(which < buffers_of(array), "array ", a, " ends in a buffer that is not there");
        device.arrays[a] = {before[array][which], before[array][1 - which]};
      }
      check_differing(device);
    }
  }

 private:
  std::size_t buffers_of(std::size_t array) const { return swapped_[array] ? 2 : 1; }

  Box padded_layout_of(Device const& device, std::size_t array) const {
    auto const& own = device.own[array];
    if (own.empty()) return own;
    auto const& widths = schedule_.widths[array];
    auto frame = grown(own, widths.below, widths.above);
    auto const wraps = program_.body.wraps();
    for (std::size_t d = 0; d < frame.rank(); ++d) {
      if (wraps[d]) continue;
      frame.lo[d] = std::max<std::int64_t>(frame.lo[d], 0);
      frame.hi[d] = std::min(frame.hi[d], program_.shape_of(array)[d]);
    }
    return frame;
  }

  // The values of a device's own cells over another box, without those that are forgotten.
  static Values moved_to(Box const& frame, Box const& own, Box const& forgotten,
                         Values const& values) {
    Values result(frame);
    test::for_each_cell(own, [&](Index const& cell) {
      auto const value = values.find(cell);
      if (value && !forgotten.contains(cell)) result.set(cell, *value);
    });
    return result;
  }

  struct Ghost {
    Values* buffer;
    Index place;
    std::uint64_t value;
  };

  void take_down(Device& device, Transfer const& transfer, Met& met) {
    auto const& owner = devices_.at(transfer.peer);
    auto const& given = owner.arrays.at(transfer.operand)[0];
    test::for_each_cell(transfer.cells.lattice, [&](Index const& l) {
      Index cell;
      Index place;
      for (std::size_t d = 0; d < l.size(); ++d) {
        auto const& axis = transfer.cells.axes[d];
        cell.push_back(axis.cell + axis.stride * l[d]);
        place.push_back(axis.frame + axis.stride * l[d]);
      }
      demand(owner.own[transfer.operand].contains(cell), transfer, ": the peer has no cell ", cell);
      for (std::size_t which = 0; which < buffers_of(transfer.operand); ++which) {
        auto& buffer = device.arrays[transfer.operand][which];
        demand(!buffer.find(place), transfer, ": device ", device.id, " has cell ", place);
        ghosts_.push_back({&buffer, place, given.at(cell)});
      }
      ++met.ghosts;
    });
  }

  [[nodiscard]] BlockPasses passes_of(Device const& device) const {
    return passes_of_block(program_.body, schedule_, device.own);
  }

  CellsOfInstances cells_of_part(Device const& device, std::size_t part) const {
    auto cells = cells_of_block(program_.body, schedule_, device.own);
    for (std::size_t i = 0; i < cells.size(); ++i)
      if (program_.body.statements[schedule_.instances[i].statement].part != part) cells[i].clear();
    return cells;
  }

  void compute_on(Device& device, CellsOfInstances const& cells, Met& met) {
    demand(cells.size() == schedule_.instances.size(), cells.size(), " lists of cells");
    for_each_tile(hull_of(device, cells), pass_.tiling, [&](Box const& tile) {
      for (std::size_t i = 0; i < cells.size(); ++i) {
        auto const& instance = schedule_.instances[i];
        auto const part = tile.shifted(negated(instance.skew));
        for (auto const& [box, moved] : cells[i]) {
          BlockCells const here{intersect(box, part), moved};
          compute_part(device, instance, here);
          note(instance, here, met);
        }
      }
    });
  }

  // Around all places of cells in the order of the tiles.
  Box hull_of(Device const& device, std::vector<std::vector<BlockCells>> const& cells) const {
    auto around = Box::none(program_.body.rank());
    for (std::size_t i = 0; i < cells.size(); ++i) {
      auto const& instance = schedule_.instances[i];
      auto const frame = padded_layout_of(device, array_of(program_.body, instance));
      for (auto const& [box, moved] : cells[i]) {
        demand(frame.contains(box), "device ", device.id, " computes ", box, " outside ", frame);
        around = hull(around, box.shifted(instance.skew));
      }
    }
    return around;
  }

  void compute_part(Device& device, BlockInstance const& instance, BlockCells const& part) {
    auto const& [box, moved] = part;
    auto const& statement = program_.statements[instance.statement];
    demand(instance.target.has_value() != statement.reduces, "a reduction writes no buffer");
    if (statement.reduces && layouts_[statement.array]->replica_of(device.id) != 0) return;
    demand(statement.reduces || instance.target->which < buffers_of(instance.target->array),
           "no such buffer");
    auto* const target = statement.reduces ? nullptr : &device.buffer(*instance.target);
    test::for_each_cell(box, [&, &box = box, &moved = moved](Index place) {
      for (std::size_t d = 0; d < place.size(); ++d)
        if (pass_.tiling.backwards[d]) place[d] = box.lo[d] + box.hi[d] - 1 - place[d];
      if (instance.carries) return target->set(place, seen_by(instance, 0, device, place));
      auto const cell = sum_of(place, negated(moved));
      demand(statement.written.contains(cell), "cell ", cell, " is not written");
      if (!statement.writes(cell)) return;
      auto const look = [&](std::size_t r, Index const& distance) {
        return seen_by(instance, r, device, sum_of(place, distance));
      };
      auto const step = pass_.first_step + instance.step;
      auto const value = value_of(program_, instance.statement, cell, step, known_, look);
      if (statement.reduces)
        totals_of(device, step)[instance.statement] += value;
      else
        target->set(place, value);
    });
  }

  Totals& totals_of(Device& device, std::int64_t step) const {
    return device.totals.try_emplace(step, program_.statements.size(), 0).first->second;
  }

  static std::uint64_t seen_by(BlockInstance const& instance, std::size_t r, Device& device,
                               Index const& place) {
    auto const& [array, which] = instance.reads.at(r);
    auto const value = device.buffer({array, which}).find(place);
    demand(value.has_value(), "statement ", instance.statement, " in step ", instance.step,
           " of the block", instance.carries ? " carries" : " reads", " cell ", place, " of array ",
           array, ", buffer ", which, ", which device ", device.id, " has not");
    return *value;
  }

  void note(BlockInstance const& instance, BlockCells const& part, Met& met) const {
    auto const cells = part.cells.cells();
    met.cells += cells;
    if (instance.carries) met.carried += cells;
    if (part.moved != Index(part.moved.size(), 0)) met.images += cells;
  }

  // The two buffers hold the same but where the body says.
  void check_differing(Device const& device) const {
    for (std::size_t a = 0; a < device.arrays.size(); ++a) {
      auto const& [current, other] = device.arrays[a];
      if (!swapped_[a]) continue;
      test::for_each_cell(
          device.own[a], [&, a, &current = current, &other = other](Index const& cell) {
            demand(differing_[a].contains(cell) || other.find(cell) == current.find(cell),
                   "buffers of array ", a, " differ in cell ", cell);
          });
    }
  }

  Program const& program_;
  Layouts const& layouts_;
  Pass const& pass_;
  BlockSchedule const& schedule_;
  std::map<DeviceId, Device>& devices_;
  Totals& known_;  // the last ones, where a block is one step
  std::vector<bool> swapped_;
  std::vector<Box> differing_;
  std::vector<Ghost> ghosts_;  // that still travel
};

std::map<DeviceId, Device> make_devices(Layouts const& layouts, LoopBody const& body,
                                        Arrays const& start) {
  std::map<DeviceId, Device> devices;
  auto const swapped = body.swapped();
  auto const& mesh = layouts[0]->mesh();
  for (std::int64_t p = 0; p < mesh.size(); ++p) {
    auto const id = mesh.device_at(p);
    Device device{id, {}, std::vector<std::array<Values, 2>>(start.size())};
    for (std::size_t a = 0; a < start.size(); ++a) {
      device.own.push_back(layouts[a]->box_of(id));
      Values own(device.own[a]);
      test::for_each_cell(device.own[a],
                          [&](Index const& cell) { own.set(cell, start[a].at(cell)); });
      device.arrays[a][0] = own;
      if (swapped[a]) device.arrays[a][1] = own;
    }
    devices[id] = std::move(device);
  }
  return devices;
}

void check_devices(std::map<DeviceId, Device> const& devices, Arrays const& truth) {
  for (auto const& [id, device] : devices)
    for (std::size_t a = 0; a < truth.size(); ++a)
      test::for_each_cell(device.own[a], [&, &id = id, &device = device](Index const& cell) {
        demand(device.arrays[a][0].at(cell) == truth[a].at(cell), "device ", id, " has cell ", cell,
               " of array ", a, " wrong");
      });
}

// ---- Whole cases.

void check_schedule(LoopBody const& body, BlockSchedule const& schedule, std::int64_t alignment) {
  auto const written = body.written();
  std::pair<std::int64_t, std::size_t> before{0, 0};
  for (auto const& instance : schedule.instances) {
    std::pair const now{instance.step, instance.statement};
    demand(before <= now && instance.step < schedule.steps, "the order of the program is lost");
    demand(!instance.target || written[instance.target->array], "array ", array_of(body, instance),
           " is written, which the body does not tell");
    demand(instance.skew.back() % alignment == 0, "skew ", instance.skew, " is not aligned");
    before = now;
  }
}

// Cells that all instances together compute, at most and roughly.
std::int64_t work_of(LoopBody const& body, std::int64_t steps) {
  auto const schedule = schedule_block(body, steps, 1);
  auto const shape = body.arrays[0].shape;
  auto around = whole(shape);
  for (auto const& widths : schedule.widths)
    around = hull(around, grown(whole(shape), widths.below, widths.above));
  auto const wraps = body.wraps();
  for (std::size_t d = 0; d < around.rank(); ++d)
    if (!wraps[d]) around.hi[d] = around.lo[d] + shape[d];
  return around.cells() * static_cast<std::int64_t>(schedule.instances.size());
}

// The steps of each block: equal ones and what is left, or of any length.
std::vector<std::int64_t> random_blocks(Random& random, LoopBody const& body) {
  constexpr std::array<std::int64_t, 4> lengths{1, 2, 3, 7};
  constexpr std::int64_t most_work = 20'000;
  std::size_t affordable = 1;
  while (affordable < lengths.size() && work_of(body, lengths[affordable]) <= most_work)
    ++affordable;
  auto length = lengths[pick(random, affordable)];
  bool const changes = random.between(0, 3) == 0;
  std::vector<std::int64_t> blocks;
  for (auto left = random.between(1, 9); left > 0; left -= blocks.back()) {
    blocks.push_back(std::min(length, left));
    if (changes) length = lengths[pick(random, affordable)];
  }
  return blocks;
}

std::int64_t random_alignment(Random& random) {
  constexpr std::array<std::int64_t, 4> alignments{1, 1, 2, 8};
  return alignments[pick(random, alignments.size())];
}

std::string describe(Program const& program) {
  auto const& body = program.body;
  auto result = text("next ", join(body.next));
  for (auto const& array : body.arrays) result += text(", shape ", array.shape);
  for (std::size_t s = 0; s < program.statements.size(); ++s) {
    auto const& statement = body.statements[s];
    result += text(statement.reduces ? "\n  total in part " : "\n  part ", statement.part,
                   ", array ", statement.array, " written ", statement.written, " strides ",
                   program.statements[s].strides, statement.swaps ? ", swaps" : "");
    for (std::size_t r = 0; r < statement.reads.size(); ++r) {
      auto const& read = program.statements[s].reads[r];
      std::vector<std::string> ends;
      for (auto const kind : read.ends) ends.emplace_back(to_string(kind));
      result += text("\n    reads array ", read.array, " at ", read.offset, ' ', join(ends),
                     ": from ", statement.reads[r].lowest, " to ", statement.reads[r].highest);
    }
  }
  return result;
}

void note_program(Program const& program, std::vector<std::int64_t> const& blocks, Met& met) {
  ++met.programs;
  met.blocks += static_cast<std::int64_t>(blocks.size());
  if (!std::is_sorted(program.body.next.begin(), program.body.next.end())) ++met.renamed;
  for (auto const& array : program.body.arrays)
    if (array.shape != program.shape_of(0)) ++met.other_shapes;
  for (auto const& statement : program.body.statements) {
    if (statement.reduces) ++met.reductions;
    if (statement.part > 0) ++met.after_reductions;
    if (statement.swaps) ++met.swaps;
    if (statement.has_holes && !statement.swaps) ++met.holes_in_place;
  }
}

bool run_program(std::uint64_t seed, Met& met) {
  Random random(seed);
  auto const next = random_names(random, static_cast<std::size_t>(random.between(1, 3)));
  auto const layouts = random_layouts(random, next);
  auto const program = random_program(random, next, layouts);
  auto const& body = program.body;
  auto const blocks = program.uses_totals() ? std::vector<std::int64_t>(
                                                  static_cast<std::size_t>(random.between(1, 5)), 1)
                                            : random_blocks(random, body);
  auto const alignment = random_alignment(random);
  auto truth = random_arrays(random, body);
  auto devices = make_devices(layouts, body, truth);
  Totals totals(program.statements.size(), 0);
  auto known = totals;
  bool const forgets = random.chance();
  note_program(program, blocks, met);
  std::int64_t step = 0;
  try {
    for (auto const steps : blocks) {
      Pass const pass{step, schedule_block(body, steps, alignment),
                      random_tiling(random, body.rank())};
      check_schedule(body, pass.schedule, alignment);
      Block block(program, layouts, pass, devices, known);
      block.clear_ghosts(forgets);
      block.send(met);
      for (auto& [id, device] : devices) device.totals.clear();
      if (program.uses_totals()) {
        block.receive();
        block.compute_parts(met);
      } else {
        block.compute_early(met);
        block.receive();
        block.compute_late(met);
      }
      block.rename();
      for (auto const end = step + steps; step < end; ++step) {
        run_step(program, step, truth, totals);
        for (std::size_t s = 0; s < totals.size() && end - step <= body.kept_totals; ++s)
          demand(!program.statements[s].reduces || block.total(step, s) == totals[s], "statement ",
                 s, " adds up to ", block.total(step, s), " in place of ", totals[s]);
      }
      check_devices(devices, truth);
    }
  } catch (Broken const& broken) {
    MESSAGE("blocks of ", join(blocks), " steps, in the one from step ", step, ": ", broken.what,
            "\n  ", *layouts[0], "\n  ", describe(program));
    return false;
  }
  return true;
}

}  // namespace

TEST_CASE("blocks of steps give every cell the bits that step after step gives it") {
  Met met;
  CHECK(test::failed_seeds(1'000, [&](std::uint64_t seed) { return run_program(seed, met); }) == 0);

  // The bounds are those of the usual seeds. Of what is rare, other seeds, if they are not too few,
  // keep a tenth.
  auto const cases = met.programs;
  if (test::left_out_if(cases < 200, "it needs many programs")) return;
  auto const part = test::seeds_to_run(1).are_chosen ? 10 : 1;
  CHECK(met.blocks > 2 * cases);
  CHECK(met.swaps > cases / 2);
  CHECK(met.holes_in_place > cases / 6);
  CHECK(part * met.renamed > cases / 10);
  CHECK(part * met.reductions > cases / 4);
  CHECK(part * met.after_reductions > cases / 20);
  CHECK(part * met.other_shapes > cases / 20);
  CHECK(met.early > met.cells / 20);
  CHECK(part * met.images > met.cells / 10);
  CHECK(part * met.carried > met.cells / 20);
  CHECK(met.ghosts > met.cells / 4);
}

TEST_SUITE_END();
