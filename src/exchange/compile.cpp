#include "compile.hpp"

#include <algorithm>
#include <map>
#include <optional>
#include <set>
#include <utility>

#include "tessera/base/assert.hpp"
#include "tessera/base/planted.hpp"
#include "tessera/base/text.hpp"

#include "gpu_routes.hpp"

namespace tessera {
namespace {

constexpr std::int64_t scratch_alignment = 64;

// Copies of so much leave nothing of the target in the caches of a core.
constexpr std::int64_t least_past_caches = std::int64_t{16} << 20;

// Rows of so much are not read again, by a neighbour's stencil, before they have left them.
constexpr std::int64_t least_row_past_caches = std::int64_t{1} << 20;

// The statement's arrays by number of their first leaf: leaves of one array share ghost cells.
std::size_t first_leaf_of(Statement const& statement, std::size_t leaf) {
  std::size_t first = 0;
  while (statement.leaves[first].array != statement.leaves[leaf].array) ++first;
  return first;
}

bool reads_overwritten(Statement const& statement, std::size_t leaf) {
  auto const& request = statement.leaves[leaf];
  return request.array == statement.target &&
         could_read_overwritten(request.access, statement.work.map, statement.work.indices);
}

std::vector<LeafUse> uses_of(Statement const& statement, LeafModes const& modes) {
  std::vector<LeafUse> uses;
  for (std::size_t l = 0; l < statement.leaves.size(); ++l) {
    auto const& leaf = statement.leaves[l];
    uses.push_back({leaf.array->layout(), leaf.access, first_leaf_of(statement, l),
                    modes.in_place[l], &leaf.array->freshness()});
  }
  return uses;
}

// A dense block of scratch memory for the cells of one leaf, addressed by lattice index.
struct Temporary {
  Box lattice;
  Index strides;
  std::int64_t offset_bytes = 0;
};

Box lattice_of_work(Access const& access, Box const& work) {
  Box lattice{Index(access.rank(), 0), Index(access.rank(), 1)};
  for (std::size_t d = 0; d < access.rank(); ++d) {
    if (access.map.axes[d].from == AxisMap::fixed) continue;
    auto const from = static_cast<std::size_t>(access.map.axes[d].from);
    lattice.lo[d] = work.lo[from];
    lattice.hi[d] = work.hi[from];
  }
  return lattice;
}

// Where the cells that a work box needs of a leaf come from.
struct Sources {
  bool others = false;  // other devices, or another end of the domain
  bool several = false;
  std::optional<std::size_t> box;  // the device's own

  void add_own(std::size_t own) {
    several = several || box.value_or(own) != own;
    box = own;
  }
};

// What a device computes on one of its boxes, and where its leaves and cells lie meanwhile.
struct Work {
  std::size_t number = 0;  // among the device's
  std::size_t box = 0;     // of the layout that says where the work is done
  Box indices;
  std::vector<Temporary> temporaries = {};  // per leaf, like those below
  std::vector<bool> direct = {};            // all that is needed lies in one own box
  std::size_t write = 0;                    // of the plan's
  Index stage_strides = {};
  std::int64_t stage_offset = 0;
};

// Plans one device: the pieces of the exchange, then how each part of its work reads them.
class DeviceCompiler {
 public:
  DeviceCompiler(Statement const& statement, LeafModes const& modes,
                 std::vector<LeafUse> const& uses, DeviceId device)
      : statement_(statement), modes_(modes), uses_(uses) {
    plan_.device = device;
    for (auto const& [box, indices] : statement.work.work_of(device))
      works_.push_back({works_.size(), box, indices});
    if (statement.is_reduction() && !works_.empty() &&
        statement.work.layout->replica_of(device) != 0)
      computes_ = false;
    lands_ = lands_in_target();
  }

  DevicePlan compile() {
    exchange_ = plan_exchange(uses_, statement_.work, plan_.device);
    place_leaves();
    if (computes_)
      for (auto& work : works_) compile_target(work);
    compile_transfers();
    if (computes_ && !lands_)
      for (auto const& work : works_) compile_parts(work);
    return std::move(plan_);
  }

 private:
  std::int64_t element_bytes(std::size_t leaf) const {
    return statement_.leaves[leaf].array->element_bytes();
  }
  Shard& shard(std::size_t leaf, std::size_t box) const {
    return statement_.leaves[leaf].array->shards_of(plan_.device)[box];
  }
  bool has_shards(std::size_t leaf) const {
    return uses_[leaf].owned->mesh().position_of(plan_.device).has_value();
  }

  // The number of a shard among those that the plan names, once for all leaves of its array.
  std::size_t buffer(std::size_t leaf, std::size_t box) {
    auto const first = first_leaf_of(statement_, leaf);
    auto const [found, is_new] = buffers_.try_emplace({first, box}, plan_.buffers.size());
    if (is_new) plan_.buffers.push_back({first, box});
    return found->second;
  }
  // The place of a leaf's ghost cells, or of the cells written, or none in a temporary.
  std::size_t frame_buffer(Transfer const& transfer) {
    if (lands_) return works_[transfer.work].write;
    return modes_.in_place[transfer.leaf] ? buffer(transfer.leaf, 0) : 0;
  }

  std::int64_t reserve_scratch(std::int64_t bytes) {
    auto const offset = plan_.scratch_bytes;
    plan_.scratch_bytes += ceil_div(bytes, scratch_alignment) * scratch_alignment;
    return offset;
  }

  // Cells that are copied unchanged from another array are put where the target has them, each
  // once: no temporary, however much is moved.
  bool lands_in_target() const {
    if (!statement_.copies || statement_.leaves.size() != 1 || modes_.in_place[0]) return false;
    auto const& leaf = statement_.leaves[0];
    bool const reads_target =
        leaf.array == statement_.target && !planted("copies_land_on_themselves");
    if (reads_target || statement_.writes_slabs) return false;
    InlineVector<int, max_rank> uses(statement_.work.indices.rank(), 0);
    for (std::size_t d = 0; d < leaf.access.rank(); ++d) {
      auto const& boundary = leaf.access.boundaries[d];
      if (boundary.any() && boundary.below != BoundaryKind::periodic) return false;
      auto const from = leaf.access.map.axes[d].from;
      if (from != AxisMap::fixed) ++uses[static_cast<std::size_t>(from)];
    }
    int const least = planted("repeated_cells_land_once") ? 0 : 1;
    return std::all_of(uses.begin(), uses.end(),
                       [&](int count) { return count == 1 || count == least; });
  }

  // A leaf that is not read in place gets a temporary for each work box, unless one box of this
  // device holds all that is needed there.
  void place_leaves() {
    auto const sources = find_sources();
    for (auto& work : works_) {
      work.temporaries.resize(uses_.size());
      work.direct.assign(uses_.size(), false);
      for (std::size_t l = 0; l < uses_.size(); ++l) {
        if (modes_.in_place[l] || lands_) continue;
        auto const& from = sources[work.number * uses_.size() + l];
        work.direct[l] = may_read_shards(l) && !from.others && !from.several;
        if (work.direct[l]) continue;
        auto const lattice = lattice_of_work(uses_[l].access, work.indices);
        work.temporaries[l] = {lattice, row_major_strides(lattice.extents()),
                               reserve_scratch(lattice.cells() * element_bytes(l))};
      }
    }
  }

  std::vector<Sources> find_sources() const {
    std::vector<Sources> sources(works_.size() * uses_.size());
    auto const of = [&](Transfer const& transfer) -> Sources& {
      return sources[transfer.work * uses_.size() + transfer.leaf];
    };
    for (auto const& transfer : exchange_.receives) of(transfer).others = true;
    for (auto const& transfer : exchange_.copies) {
      of(transfer).add_own(transfer.box);
      if (transfer.cells.wraps()) of(transfer).others = true;
    }
    return sources;
  }

  bool may_read_shards(std::size_t leaf) const {
    bool const is_overwritten = reads_overwritten(statement_, leaf);
    return (!is_overwritten || planted("overwritten_read_directly")) && has_shards(leaf);
  }

  // The cells as they lie in the owner's shard.
  StridedBlock owned_block(Transfer const& transfer) const {
    auto const& frame = shard(transfer.leaf, transfer.box).frame;
    return shard_block(transfer, frame, [](Cells::Axis const& axis) { return axis.cell; });
  }

  template <class First>
  StridedBlock shard_block(Transfer const& transfer, Frame const& frame, First const& first) const {
    auto const bytes = element_bytes(transfer.leaf);
    auto const& cells = transfer.cells;
    StridedBlock block;
    block.element_bytes = bytes;
    Index start;
    for (std::size_t d = 0; d < cells.axes.size(); ++d) {
      auto const& axis = cells.axes[d];
      start.push_back(first(axis) + axis.stride * cells.lattice.lo[d]);
      block.extents.push_back(cells.lattice.extent(d));
      block.strides_bytes.push_back(axis.stride * frame.strides[d] * bytes);
      auto const last = start[d] + axis.stride * (cells.lattice.extent(d) - 1);
      TESSERA_ASSERT(start[d] >= frame.cells.lo[d] && start[d] < frame.cells.hi[d] &&
                         last >= frame.cells.lo[d] && last < frame.cells.hi[d],
                     transfer, " in ", frame.cells, " on device ", plan_.device);
    }
    block.offset_bytes = frame.offset_of(start) * bytes;
    return block;
  }

  // The cells as the reader looks for them: past its only shard's edge, or in a temporary.
  StridedBlock frame_block(Transfer const& transfer) const {
    if (modes_.in_place[transfer.leaf])
      return shard_block(transfer, shard(transfer.leaf, 0).frame,
                         [](Cells::Axis const& axis) { return axis.frame; });
    if (lands_) return landing_block(transfer);
    auto const& temporary = works_[transfer.work].temporaries[transfer.leaf];
    auto const bytes = element_bytes(transfer.leaf);
    auto const& lattice = transfer.cells.lattice;
    StridedBlock block;
    block.element_bytes = bytes;
    block.offset_bytes = temporary.offset_bytes;
    for (std::size_t d = 0; d < lattice.rank(); ++d) {
      block.offset_bytes +=
          (lattice.lo[d] - temporary.lattice.lo[d]) * temporary.strides[d] * bytes;
      block.extents.push_back(lattice.extent(d));
      block.strides_bytes.push_back(temporary.strides[d] * bytes);
    }
    return block;
  }

  // The cells as the target has them: the lattice counts the statement's indices.
  StridedBlock landing_block(Transfer const& transfer) const {
    auto const& work = works_[transfer.work];
    auto const& map = uses_[transfer.leaf].access.map;
    auto const& lattice = transfer.cells.lattice;
    auto const bytes = element_bytes(transfer.leaf);
    auto const strides = target_strides(work);
    auto index = work.indices.lo;
    StridedBlock block;
    block.element_bytes = bytes;
    for (std::size_t d = 0; d < lattice.rank(); ++d) {
      auto const from = map.axes[d].from;
      bool const moves = from != AxisMap::fixed;
      if (moves) index[static_cast<std::size_t>(from)] = lattice.lo[d];
      block.extents.push_back(lattice.extent(d));
      block.strides_bytes.push_back(moves ? strides[static_cast<std::size_t>(from)] * bytes : 0);
    }
    block.offset_bytes = target_offset(work, index);
    return block;
  }

  Storage frame_storage(std::size_t leaf) const {
    if (lands_) return Storage::target;
    return modes_.in_place[leaf] ? Storage::shard : Storage::scratch;
  }

  void compile_transfers() {
    for (auto const& transfer : exchange_.sends) {
      auto const from = buffer(transfer.leaf, transfer.box);
      add_block(plan_.sends, transfer, {owned_block(transfer), 0, 0, Storage::shard, from});
    }
    for (auto const& transfer : exchange_.receives)
      add_block(
          plan_.receives, transfer,
          {frame_block(transfer), 0, 0, frame_storage(transfer.leaf), frame_buffer(transfer)});
    std::int64_t landed = 0;
    for (auto const& message : plan_.receives) landed += message.bytes;
    for (auto const& transfer : exchange_.copies) {
      if (is_read_directly(transfer)) continue;
      landed += transfer.cells.count() * element_bytes(transfer.leaf);
      auto const pair = normalized(BlockPair{frame_block(transfer), owned_block(transfer)});
      plan_.copies.push_back({pair, buffer(transfer.leaf, transfer.box),
                              frame_storage(transfer.leaf), frame_buffer(transfer)});
    }
    plan_.past_caches = lands_ && landed >= least_past_caches;
  }

  bool is_read_directly(Transfer const& transfer) const {
    return !modes_.in_place[transfer.leaf] && works_[transfer.work].direct[transfer.leaf];
  }

  static void add_block(std::vector<Message>& messages, Transfer const& transfer,
                        MessageBlock block) {
    if (messages.empty() || messages.back().peer != transfer.peer) {
      messages.emplace_back();
      messages.back().peer = transfer.peer;
    }
    block.leaf = transfer.leaf;
    block.bytes = stream_bytes(block.block);
    block.block = normalized(block.block);
    messages.back().bytes += block.bytes;
    messages.back().blocks.push_back(block);
  }

  void compile_target(Work& work) {
    if (statement_.target == nullptr) return;
    plan_.whole_parts = statement_.folds;
    work.write = plan_.writes.size();
    auto& write = plan_.writes.emplace_back();
    write.box = target_box(work);
    write.written = written_box(work);
    write.without_holes = write.written.cells() == work.indices.cells();
    bool conflict = false;
    for (std::size_t l = 0; l < uses_.size(); ++l)
      conflict = conflict || (modes_.in_place[l] && reads_overwritten(statement_, l));
    if (!conflict) return;
    // Half of the shard: below that, copying the untouched cells costs more than a temporary.
    write.swaps = 2 * work.indices.cells() >= target_shard(work).own.cells();
    write.staged = !write.swaps && !planted("small_writes_in_place");
    if (write.staged) compile_stage(work);
  }

  void compile_stage(Work& work) {
    auto const bytes = statement_.target->element_bytes();
    auto const& indices = work.indices;
    work.stage_strides = row_major_strides(indices.extents());
    work.stage_offset = reserve_scratch(indices.cells() * bytes);
    StridedBlock from;
    StridedBlock to;
    from.element_bytes = to.element_bytes = bytes;
    from.offset_bytes = work.stage_offset;
    auto const strides = target_strides(work);
    to.offset_bytes = target_offset(work, indices.lo);
    for (std::size_t d = 0; d < indices.rank(); ++d) {
      from.extents.push_back(indices.extent(d));
      from.strides_bytes.push_back(work.stage_strides[d] * bytes);
      to.extents.push_back(indices.extent(d));
      to.strides_bytes.push_back(strides[d] * bytes);
    }
    plan_.writes[work.write].stage = normalized(BlockPair{to, from});
  }

  AffineMap const& target_map() const {
    return statement_.writes_slabs ? statement_.slab_map : statement_.work.map;
  }

  // All boxes of the target lie in the device's slab.
  std::int64_t slab() const { return statement_.target->shards_of(plan_.device).front().own.lo[0]; }

  std::size_t target_box(Work const& work) const {
    if (!statement_.writes_slabs) return work.box;
    auto cell = target_map()(work.indices.lo);
    cell[0] = slab();
    return statement_.target->layout()->box_holding(plan_.device, cell);
  }

  Shard const& target_shard(Work const& work) const {
    return statement_.target->shards_of(plan_.device)[plan_.writes[work.write].box];
  }

  Box written_box(Work const& work) const {
    auto box = target_map().image(work.indices);
    if (!statement_.writes_slabs) return box;
    box.lo[0] = slab();
    box.hi[0] = slab() + 1;
    return box;
  }

  Index target_strides(Work const& work) const {
    auto const& frame = target_shard(work).frame;
    Index strides(work.indices.rank(), 0);
    for (std::size_t t = 0; t < target_map().rank(); ++t) {
      auto const& axis = target_map().axes[t];
      if (axis.from == AxisMap::fixed) continue;
      strides[static_cast<std::size_t>(axis.from)] = axis.stride * frame.strides[t];
    }
    return strides;
  }

  std::int64_t target_offset(Work const& work, Index const& index) const {
    auto cell = target_map()(index);
    if (statement_.writes_slabs) cell[0] = slab();
    return target_shard(work).frame.offset_of(cell) * statement_.target->element_bytes();
  }

  void compile_parts(Work const& work) {
    std::vector<Access> accesses;
    for (auto const& use : uses_) accesses.push_back(use.access);
    for (auto const& box : boxes_of_one_formula(accesses, work.indices)) add_part(work, box);
  }

  void add_part(Work const& work, Box const& box) {
    Part part;
    part.first = box.lo;
    part.extents = box.extents();
    part.rows = part.extents.back() == 0 ? 0 : box.cells() / part.extents.back();
    part.target_strides = Index(box.rank(), 0);
    part.unit_stride = true;
    if (statement_.target != nullptr) {
      part.write = work.write;
      bool const is_staged = plan_.writes[work.write].staged;
      part.target_strides = is_staged ? work.stage_strides : target_strides(work);
      part.target_offset_bytes =
          is_staged ? stage_offset(work, box.lo) : target_offset(work, box.lo);
      // A fold's kernel steps over the target by itself.
      part.unit_stride = statement_.folds || is_unit(part, part.target_strides);
    }
    for (std::size_t l = 0; l < uses_.size(); ++l) {
      part.leaves.push_back(leaf_in(work, l, box));
      part.unit_stride = part.unit_stride && is_unit(part, part.leaves.back().strides);
    }
    part.past_caches = part.unit_stride && has_long_rows(work, part) && leaves_target_alone(work);
    plan_.parts.push_back(std::move(part));
  }

  // Shorter rows are faster through the caches: their ends are lines written in parts, and what
  // neighbouring rows read stays near.
  bool has_long_rows(Work const& work, Part const& part) const {
    if (statement_.target == nullptr) return false;
    auto const bytes = statement_.target->element_bytes();
    return part.extents.back() * bytes >= least_row_past_caches &&
           work.indices.cells() * bytes >= least_past_caches;
  }

  bool leaves_target_alone(Work const& work) const {
    auto const& write = plan_.writes[work.write];
    if (write.swaps || write.staged) return write.swaps;
    return std::ranges::none_of(statement_.leaves,
                                [&](auto const& leaf) { return leaf.array == statement_.target; });
  }

  static bool is_unit(Part const& part, Index const& strides) {
    return strides.back() == 1 || part.extents.back() == 1 || planted("every_stride_is_one");
  }

  std::int64_t stage_offset(Work const& work, Index const& index) const {
    std::int64_t elements = 0;
    for (std::size_t d = 0; d < index.size(); ++d)
      elements += (index[d] - work.indices.lo[d]) * work.stage_strides[d];
    return work.stage_offset + elements * statement_.target->element_bytes();
  }

  // How the box reads a leaf. The box lies in one stretch of each dimension.
  PartLeaf leaf_in(Work const& work, std::size_t l, Box const& box) {
    auto const& access = uses_[l].access;
    PartLeaf result{Storage::shard, 0, Index(box.rank(), 0)};
    auto const formula = formula_over(access, box);
    auto const& in = formula.stretches;
    if (formula.constant >= 0) {
      result.storage = Storage::constant;
      result.offset_bytes =
          statement_.leaves[l].constants_offset + formula.constant * element_bytes(l);
      return result;
    }
    if (!modes_.in_place[l] && !work.direct[l]) return in_temporary(work, l, box, in);
    return in_shard(l, box, in);
  }

  // A repeated cell has one place in a temporary, at the stretch's first index of the whole work
  // box; other leaves' borders may have cut the stretch into several boxes.
  std::int64_t start_of_repeated(Work const& work, std::size_t l, std::size_t d,
                                 std::int64_t index) const {
    auto const stretches = stretches_of(uses_[l].access, d, work.indices);
    auto const around = std::find_if(stretches.begin(), stretches.end(),
                                     [&](Stretch const& s) { return index < s.hi; });
    TESSERA_ASSERT(around != stretches.end(), uses_[l].access, " at ", index, " of ", work.indices);
    return planted("repeated_cell_moves") ? index : around->lo;
  }

  PartLeaf in_temporary(Work const& work, std::size_t l, Box const& box,
                        InlineVector<Stretch, max_rank> const& in) const {
    auto const& temporary = work.temporaries[l];
    PartLeaf result{Storage::scratch, 0, Index(box.rank(), 0)};
    std::int64_t elements = 0;
    for (std::size_t d = 0; d < uses_[l].access.rank(); ++d) {
      auto const& axis = uses_[l].access.map.axes[d];
      if (axis.from == AxisMap::fixed) continue;
      auto const from = static_cast<std::size_t>(axis.from);
      bool const steps = in[d].step != 0;
      auto const first = steps ? box.lo[from] : start_of_repeated(work, l, d, box.lo[from]);
      elements += (first - temporary.lattice.lo[d]) * temporary.strides[d];
      if (steps) result.strides[from] = temporary.strides[d];
    }
    result.offset_bytes = temporary.offset_bytes + elements * element_bytes(l);
    return result;
  }

  PartLeaf in_shard(std::size_t l, Box const& box, InlineVector<Stretch, max_rank> const& in) {
    auto const& access = uses_[l].access;
    PartLeaf result{Storage::shard, 0, Index(box.rank(), 0)};
    Index cell;
    for (std::size_t d = 0; d < access.rank(); ++d) {
      cell.push_back(in[d].frame());
      if (in[d].step == 0) continue;
      cell[d] += in[d].step * box.lo[static_cast<std::size_t>(access.map.axes[d].from)];
    }
    auto const own = uses_[l].owned->box_holding(plan_.device, cell);
    auto const& frame = shard(l, own).frame;
    result.buffer = buffer(l, own);
    for (std::size_t d = 0; d < access.rank(); ++d)
      if (in[d].step != 0)
        result.strides[static_cast<std::size_t>(access.map.axes[d].from)] =
            in[d].step * frame.strides[d];
    TESSERA_ASSERT(frame.cells.contains(cell), access, " over ", box, " on device ", plan_.device,
                   " with ", frame.cells);
    result.offset_bytes = frame.offset_of(cell) * element_bytes(l);
    return result;
  }

  Statement const& statement_;
  LeafModes const& modes_;
  std::vector<LeafUse> const& uses_;
  std::vector<Work> works_;
  bool computes_ = true;
  bool lands_ = false;
  ExchangePlan exchange_;
  DevicePlan plan_;
  std::map<std::pair<std::size_t, std::size_t>, std::size_t> buffers_;  // leaf and box: number
};

std::string reason_for(Statement const& statement, LeafModes const& modes, std::size_t leaf) {
  auto const& access = statement.leaves[leaf].access;
  if (modes.in_place[leaf]) return text("reads ", access, " with ghost cells ", modes.widths[leaf]);
  if (statement.leaves[leaf].array->is_pinned())
    return text("reads ", access, " of an array that is pinned, and so has no ghost cells");
  return text("reads ", access, ", which ghost cells around the shards of ",
              *statement.leaves[leaf].array->layout(), " cannot give");
}

Communication explain_leaf(CompiledStatement const& compiled, Statement const& statement,
                           LeafModes const& modes, std::size_t leaf) {
  Communication result;
  auto const& array = *statement.leaves[leaf].array;
  result.array = describe(array);
  std::set<std::string_view> routes;
  for (auto const& device : compiled.devices)
    for (auto const& message : device.sends)
      for (auto const& block : message.blocks)
        if (block.leaf == leaf) {
          result.cells += block.bytes / array.element_bytes();
          result.bytes += block.bytes;
          routes.insert(to_string(route_of(message)));
        }
  result.routes = join(routes);
  if (!modes.in_place[leaf])
    result.cause = Communication::Cause::gather;
  else if (!(modes.widths[leaf] == GhostWidths::none(array.layout()->rank())))
    result.cause = Communication::Cause::halo;
  result.reason = reason_for(statement, modes, leaf);
  return result;
}

void explain(CompiledStatement& compiled, Statement const& statement, LeafModes const& modes) {
  auto& explanation = compiled.explanation;
  explanation.place = statement.place;
  explanation.kind = statement.kind;
  explanation.messages = compiled.messages;
  explanation.bytes = compiled.bytes;
  for (std::size_t l = 0; l < statement.leaves.size(); ++l)
    explanation.reads.push_back(explain_leaf(compiled, statement, modes, l));
  if (statement.target == nullptr) return;
  explanation.writes = "in place";
  if (compiled.overwrites) explanation.writes = "to the second buffer or a temporary";
  bool const has_form = statement.forms.past_caches != nullptr;
  if (has_form && std::ranges::any_of(compiled.devices, [](auto const& device) {
        return std::ranges::any_of(device.parts, &Part::past_caches);
      }))
    explanation.writes += ", past the caches";
}

void note_fills(CompiledStatement& compiled, Statement const& statement, LeafModes const& modes) {
  compiled.fills.resize(statement.leaves.size());
  for (std::size_t l = 0; l < statement.leaves.size(); ++l) {
    if (first_leaf_of(statement, l) != l) continue;
    std::vector<Access> accesses;
    for (std::size_t k = l; k < statement.leaves.size(); ++k)
      if (statement.leaves[k].array == statement.leaves[l].array && modes.in_place[k] &&
          !(modes.widths[k] == GhostWidths::none(modes.widths[k].below.size())))
        accesses.push_back(statement.leaves[k].access);
    compiled.fills[l] = Fill::make(std::move(accesses), statement.work);
  }
}

}  // namespace

void open_channels(CompiledStatement& compiled, StatementTag const& tag,
                   MessageTools const& tools) {
  for (auto& device : compiled.devices)
    for (auto& message : device.receives)
      message.receiver = &tools.network.receiver(message.peer, device.device);
  for (auto& device : compiled.devices)
    for (auto& message : device.sends)
      message.sender = &tools.network.sender(device.device, message.peer, tag);
  if (tools.gpu_routes != nullptr) tools.gpu_routes->prepare(compiled, tag);
}

void note_totals(CompiledStatement& compiled) {
  for (auto const& device : compiled.devices) {
    compiled.messages += static_cast<std::int64_t>(device.sends.size());
    for (auto const& message : device.sends) compiled.bytes += message.bytes;
  }
}

std::string describe(ArrayState const& array) {
  return text("array ", array.number(), ' ', array.layout()->shape());
}

Explanation explanation_of(CompiledStatement const& plan, Statement const& statement) {
  auto explanation = plan.explanation;
  explanation.place = statement.place;
  explanation.kind = statement.kind;
  for (std::size_t l = 0; l < statement.leaves.size(); ++l)
    explanation.reads[l].array = describe(*statement.leaves[l].array);
  return explanation;
}

LeafModes choose_modes(Statement const& statement) {
  LeafModes modes;
  for (auto const& leaf : statement.leaves) {
    auto const widths = leaf.array->is_pinned()
                            ? std::nullopt
                            : ghost_widths_for(*leaf.array->layout(), leaf.access, statement.work);
    modes.in_place.push_back(widths.has_value());
    modes.widths.push_back(widths.value_or(GhostWidths::none(leaf.access.rank())));
  }
  return modes;
}

bool needs_growth(Statement const& statement, LeafModes const& modes) {
  for (std::size_t l = 0; l < statement.leaves.size(); ++l)
    if (!statement.leaves[l].array->widths().covers(modes.widths[l])) return true;
  return false;
}

bool grow_ghosts(Statement const& statement, LeafModes const& modes) {
  bool grew = false;
  for (std::size_t l = 0; l < statement.leaves.size(); ++l) {
    auto const first = first_leaf_of(statement, l);
    if (first != l) continue;
    auto widths = modes.widths[l];
    for (std::size_t k = l; k < statement.leaves.size(); ++k)
      if (statement.leaves[k].array == statement.leaves[l].array)
        widths = widths.merged(modes.widths[k]);
    auto& array = *statement.leaves[l].array;
    if (array.widths().covers(widths)) continue;
    array.grow(widths);
    grew = true;
  }
  return grew;
}

std::shared_ptr<CompiledStatement> compile(Statement const& statement, LeafModes const& modes,
                                           StatementTag const& tag, Job const& job,
                                           MessageTools const& tools) {
  auto compiled = std::make_shared<CompiledStatement>();
  auto const uses = uses_of(statement, modes);
  for (std::int64_t i = 0; i < job.local_count(); ++i) {
    DeviceId const device{job.first_local().value() + i};
    compiled->devices.push_back(DeviceCompiler(statement, modes, uses, device).compile());
  }
  for (std::size_t l = 0; l < uses.size(); ++l)
    compiled->overwrites |= modes.in_place[l] && reads_overwritten(statement, l);
  open_channels(*compiled, tag, tools);
  note_totals(*compiled);
  note_fills(*compiled, statement, modes);
  explain(*compiled, statement, modes);
  if (compiled->explanation.has(Communication::Cause::gather)) compiled->gathers = -1;
  compiled->keeps.push_back(statement.work.layout);
  for (auto const& leaf : statement.leaves) compiled->keeps.push_back(leaf.array->layout());
  return compiled;
}

}  // namespace tessera
