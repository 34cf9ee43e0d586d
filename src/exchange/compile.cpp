#include "compile.hpp"

#include <algorithm>
#include <set>

#include "tessera/base/assert.hpp"
#include "tessera/base/planted.hpp"
#include "tessera/base/text.hpp"

namespace tessera {
namespace {

constexpr std::int64_t scratch_alignment = 64;

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

// Plans one device: the pieces of the exchange, then how each part of its work reads them.
class DeviceCompiler {
 public:
  DeviceCompiler(Statement const& statement, LeafModes const& modes,
                 std::vector<LeafUse> const& uses, DeviceId device)
      : statement_(statement), modes_(modes), uses_(uses) {
    plan_.device = device;
    work_ = statement.work.work_of(device);
    if (statement.is_reduction() && !work_.empty() &&
        statement.work.layout->replica_of(device) != 0)
      computes_ = false;
  }

  DevicePlan compile() {
    exchange_ = plan_exchange(uses_, statement_.work, plan_.device);
    if (!work_.empty()) place_leaves();
    compile_transfers();
    if (!work_.empty() && computes_) {
      compile_target();
      compile_parts();
    }
    return std::move(plan_);
  }

 private:
  std::int64_t element_bytes(std::size_t leaf) const {
    return statement_.leaves[leaf].array->element_bytes();
  }
  Shard* shard(std::size_t leaf) const {
    return statement_.leaves[leaf].array->shard_of(plan_.device);
  }

  std::int64_t reserve_scratch(std::int64_t bytes) {
    auto const offset = plan_.scratch_bytes;
    plan_.scratch_bytes += ceil_div(bytes, scratch_alignment) * scratch_alignment;
    return offset;
  }

  // A leaf that is not read in place gets a temporary, unless this device owns all it needs.
  void place_leaves() {
    temporaries_.resize(uses_.size());
    direct_.assign(uses_.size(), false);
    for (std::size_t l = 0; l < uses_.size(); ++l) {
      if (modes_.in_place[l]) continue;
      direct_[l] = owns_need(l);
      if (direct_[l]) continue;
      auto const lattice = lattice_of_work(uses_[l].access, work_);
      temporaries_[l] = {lattice, row_major_strides(lattice.extents()),
                         reserve_scratch(lattice.cells() * element_bytes(l))};
    }
  }

  bool owns_need(std::size_t leaf) const {
    bool const is_overwritten = reads_overwritten(statement_, leaf);
    if ((is_overwritten && !planted("overwritten_read_directly")) || shard(leaf) == nullptr)
      return false;
    auto const of_leaf = [&](Transfer const& t) { return t.leaf == leaf; };
    if (std::any_of(exchange_.receives.begin(), exchange_.receives.end(), of_leaf)) return false;
    return std::none_of(exchange_.copies.begin(), exchange_.copies.end(),
                        [&](Transfer const& t) { return t.leaf == leaf && t.cells.wraps(); });
  }

  // The cells as they lie in the owner's shard.
  StridedBlock owned_block(Transfer const& transfer) const {
    return shard_block(transfer, [](Cells::Axis const& axis) { return axis.cell; });
  }

  template <class First>
  StridedBlock shard_block(Transfer const& transfer, First const& first) const {
    auto const bytes = element_bytes(transfer.leaf);
    auto const& frame = shard(transfer.leaf)->frame;
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

  // The cells as the reader looks for them: past its shard's edge, or in a temporary.
  StridedBlock frame_block(Transfer const& transfer) const {
    if (modes_.in_place[transfer.leaf])
      return shard_block(transfer, [](Cells::Axis const& axis) { return axis.frame; });
    auto const& temporary = temporaries_[transfer.leaf];
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

  Storage frame_storage(std::size_t leaf) const {
    return modes_.in_place[leaf] ? Storage::shard : Storage::scratch;
  }

  void compile_transfers() {
    for (auto const& transfer : exchange_.sends)
      add_block(plan_.sends, transfer, owned_block(transfer), Storage::shard);
    for (auto const& transfer : exchange_.receives)
      add_block(plan_.receives, transfer, frame_block(transfer), frame_storage(transfer.leaf));
    for (auto const& transfer : exchange_.copies) {
      if (!modes_.in_place[transfer.leaf] && direct_[transfer.leaf]) continue;
      auto const pair = normalized(BlockPair{frame_block(transfer), owned_block(transfer)});
      plan_.copies.push_back({pair, transfer.leaf, frame_storage(transfer.leaf)});
    }
  }

  static void add_block(std::vector<Message>& messages, Transfer const& transfer,
                        StridedBlock const& block, Storage storage) {
    if (messages.empty() || messages.back().peer != transfer.peer) {
      messages.emplace_back();
      messages.back().peer = transfer.peer;
    }
    auto const bytes = stream_bytes(block);
    messages.back().blocks.push_back({normalized(block), bytes, transfer.leaf, storage});
    messages.back().bytes += bytes;
  }

  void compile_target() {
    if (statement_.target == nullptr) return;
    plan_.whole_parts = statement_.folds;
    plan_.written = written_box();
    plan_.written_without_holes = plan_.written.cells() == work_.cells();
    bool conflict = false;
    for (std::size_t l = 0; l < uses_.size(); ++l)
      conflict = conflict || (modes_.in_place[l] && reads_overwritten(statement_, l));
    if (!conflict) return;
    auto const* shard = statement_.target->shard_of(plan_.device);
    // Half of the shard: below that, copying the untouched cells costs more than a temporary.
    plan_.swaps = 2 * work_.cells() >= shard->own.cells();
    plan_.staged = !plan_.swaps && !planted("small_writes_in_place");
    if (plan_.staged) compile_stage();
  }

  void compile_stage() {
    auto const bytes = statement_.target->element_bytes();
    stage_strides_ = row_major_strides(work_.extents());
    stage_offset_ = reserve_scratch(work_.cells() * bytes);
    StridedBlock from;
    StridedBlock to;
    from.element_bytes = to.element_bytes = bytes;
    from.offset_bytes = stage_offset_;
    auto const strides = target_strides();
    to.offset_bytes = target_offset(work_.lo);
    for (std::size_t d = 0; d < work_.rank(); ++d) {
      from.extents.push_back(work_.extent(d));
      from.strides_bytes.push_back(stage_strides_[d] * bytes);
      to.extents.push_back(work_.extent(d));
      to.strides_bytes.push_back(strides[d] * bytes);
    }
    plan_.stage = normalized(BlockPair{to, from});
  }

  AffineMap const& target_map() const {
    return statement_.writes_slabs ? statement_.slab_map : statement_.work.map;
  }

  Box written_box() const {
    auto box = target_map().image(work_);
    if (!statement_.writes_slabs) return box;
    auto const& own = statement_.target->shard_of(plan_.device)->own;
    box.lo[0] = own.lo[0];
    box.hi[0] = own.hi[0];
    return box;
  }

  Index target_strides() const {
    auto const& frame = statement_.target->shard_of(plan_.device)->frame;
    Index strides(work_.rank(), 0);
    for (std::size_t t = 0; t < target_map().rank(); ++t) {
      auto const& axis = target_map().axes[t];
      if (axis.from == AxisMap::fixed) continue;
      strides[static_cast<std::size_t>(axis.from)] = axis.stride * frame.strides[t];
    }
    return strides;
  }

  std::int64_t target_offset(Index const& index) const {
    auto const& shard = *statement_.target->shard_of(plan_.device);
    auto cell = target_map()(index);
    if (statement_.writes_slabs) cell[0] = shard.own.lo[0];
    return shard.frame.offset_of(cell) * statement_.target->element_bytes();
  }

  // Along each dimension of the statement: where one of the leaves changes its formula.
  std::vector<std::vector<std::int64_t>> borders() const {
    std::vector<std::set<std::int64_t>> sets(work_.rank());
    for (std::size_t d = 0; d < work_.rank(); ++d) sets[d] = {work_.lo[d], work_.hi[d]};
    for (std::size_t l = 0; l < uses_.size(); ++l)
      for (std::size_t d = 0; d < uses_[l].access.rank(); ++d) {
        auto const& axis = uses_[l].access.map.axes[d];
        auto const& boundary = uses_[l].access.boundaries[d];
        // Periodic images lie side by side in the reader's frame: no border there.
        if (axis.from == AxisMap::fixed || boundary.below == BoundaryKind::periodic) continue;
        if (planted("border_lost") && d + 1 == uses_[l].access.rank()) continue;
        for (auto const& stretch : stretches_of(uses_[l].access, d, work_)) {
          sets[static_cast<std::size_t>(axis.from)].insert(stretch.lo);
          sets[static_cast<std::size_t>(axis.from)].insert(stretch.hi);
        }
      }
    std::vector<std::vector<std::int64_t>> result;
    for (auto const& set : sets) result.emplace_back(set.begin(), set.end());
    return result;
  }

  void compile_parts() {
    auto const all = borders();
    InlineVector<std::size_t, max_rank> at(work_.rank(), 0);
    for (;;) {
      Box part{work_.lo, work_.hi};
      for (std::size_t d = 0; d < work_.rank(); ++d) {
        part.lo[d] = all[d][at[d]];
        part.hi[d] = all[d][at[d] + 1];
      }
      add_part(part);
      std::size_t d = work_.rank();
      while (d-- > 0) {
        if (++at[d] + 1 < all[d].size()) break;
        at[d] = 0;
      }
      if (d == static_cast<std::size_t>(-1)) return;
    }
  }

  void add_part(Box const& box) {
    Part part;
    part.first = box.lo;
    part.extents = box.extents();
    part.rows = part.extents.back() == 0 ? 0 : box.cells() / part.extents.back();
    part.target_strides = Index(work_.rank(), 0);
    part.unit_stride = true;
    if (statement_.target != nullptr) {
      part.target_strides = plan_.staged ? stage_strides_ : target_strides();
      part.target_offset_bytes = plan_.staged ? stage_offset(box.lo) : target_offset(box.lo);
      // A fold's kernel steps over the target by itself.
      part.unit_stride = statement_.folds || is_unit(part, part.target_strides);
    }
    for (std::size_t l = 0; l < uses_.size(); ++l) {
      part.leaves.push_back(leaf_in(l, box));
      part.unit_stride = part.unit_stride && is_unit(part, part.leaves.back().strides);
    }
    plan_.parts.push_back(std::move(part));
  }

  static bool is_unit(Part const& part, Index const& strides) {
    return strides.back() == 1 || part.extents.back() == 1 || planted("every_stride_is_one");
  }

  std::int64_t stage_offset(Index const& index) const {
    std::int64_t elements = 0;
    for (std::size_t d = 0; d < work_.rank(); ++d)
      elements += (index[d] - work_.lo[d]) * stage_strides_[d];
    return stage_offset_ + elements * statement_.target->element_bytes();
  }

  // How the box reads a leaf. The box lies in one stretch of each dimension.
  PartLeaf leaf_in(std::size_t l, Box const& box) const {
    auto const& access = uses_[l].access;
    PartLeaf result{Storage::shard, 0, Index(work_.rank(), 0)};
    InlineVector<Stretch, max_rank> in;
    std::int64_t constant = -1;
    std::size_t deciding = 0;
    for (std::size_t d = 0; d < access.rank(); ++d) {
      in.push_back(stretch_at(access, d, box));
      if (!in[d].constant() || access.boundaries[d].dimension < deciding) continue;
      deciding = access.boundaries[d].dimension;
      constant = 2 * static_cast<std::int64_t>(d) + (in[d].kind == Stretch::Kind::above ? 1 : 0);
    }
    if (constant >= 0) {
      result.storage = Storage::constant;
      result.offset_bytes = statement_.leaves[l].constants_offset + constant * element_bytes(l);
      return result;
    }
    if (!modes_.in_place[l] && !direct_[l]) return in_temporary(l, box, in);
    return in_shard(l, box, in);
  }

  // The stretch that holds the box, without telling periodic images apart: those lie side by side.
  static Stretch stretch_at(Access const& access, std::size_t d, Box const& box) {
    auto const stretches = stretches_of(access, d, box);
    TESSERA_ASSERT(!stretches.empty(), access, " over ", box);
    return stretches.front();
  }

  // A repeated cell has one place in a temporary, at the stretch's first index of all this device's
  // work; other leaves' borders may have cut the stretch into several boxes.
  std::int64_t start_of_repeated(std::size_t l, std::size_t d, std::int64_t index) const {
    auto const stretches = stretches_of(uses_[l].access, d, work_);
    auto const around = std::find_if(stretches.begin(), stretches.end(),
                                     [&](Stretch const& s) { return index < s.hi; });
    TESSERA_ASSERT(around != stretches.end(), uses_[l].access, " at ", index, " of ", work_);
    return planted("repeated_cell_moves") ? index : around->lo;
  }

  PartLeaf in_temporary(std::size_t l, Box const& box,
                        InlineVector<Stretch, max_rank> const& in) const {
    auto const& temporary = temporaries_[l];
    PartLeaf result{Storage::scratch, 0, Index(work_.rank(), 0)};
    std::int64_t elements = 0;
    for (std::size_t d = 0; d < uses_[l].access.rank(); ++d) {
      auto const& axis = uses_[l].access.map.axes[d];
      if (axis.from == AxisMap::fixed) continue;
      auto const from = static_cast<std::size_t>(axis.from);
      bool const steps = in[d].step != 0;
      auto const first = steps ? box.lo[from] : start_of_repeated(l, d, box.lo[from]);
      elements += (first - temporary.lattice.lo[d]) * temporary.strides[d];
      if (steps) result.strides[from] = temporary.strides[d];
    }
    result.offset_bytes = temporary.offset_bytes + elements * element_bytes(l);
    return result;
  }

  PartLeaf in_shard(std::size_t l, Box const& box,
                    InlineVector<Stretch, max_rank> const& in) const {
    auto const& access = uses_[l].access;
    auto const& frame = shard(l)->frame;
    PartLeaf result{Storage::shard, 0, Index(work_.rank(), 0)};
    Index cell;
    for (std::size_t d = 0; d < access.rank(); ++d) {
      cell.push_back(in[d].frame());
      if (in[d].step == 0) continue;
      auto const from = static_cast<std::size_t>(access.map.axes[d].from);
      cell[d] += in[d].step * box.lo[from];
      result.strides[from] = in[d].step * frame.strides[d];
    }
    TESSERA_ASSERT(frame.cells.contains(cell), access, " over ", box, " on device ", plan_.device,
                   " with ", frame.cells);
    result.offset_bytes = frame.offset_of(cell) * element_bytes(l);
    return result;
  }

  Statement const& statement_;
  LeafModes const& modes_;
  std::vector<LeafUse> const& uses_;
  Box work_;
  bool computes_ = true;
  ExchangePlan exchange_;
  DevicePlan plan_;
  std::vector<Temporary> temporaries_;
  std::vector<bool> direct_;
  Index stage_strides_;
  std::int64_t stage_offset_ = 0;
};

void open_channels(CompiledStatement& compiled, StatementTag const& tag, Network& network) {
  for (auto& device : compiled.devices)
    for (auto& message : device.receives)
      message.receiver = &network.receiver(message.peer, device.device);
  for (auto& device : compiled.devices)
    for (auto& message : device.sends)
      message.sender = &network.sender(device.device, message.peer, tag);
}

void note_totals(CompiledStatement& compiled) {
  for (auto const& device : compiled.devices) {
    compiled.messages += static_cast<std::int64_t>(device.sends.size());
    for (auto const& message : device.sends) compiled.bytes += message.bytes;
  }
}

std::string reason_for(Statement const& statement, LeafModes const& modes, std::size_t leaf) {
  auto const& access = statement.leaves[leaf].access;
  if (modes.in_place[leaf]) return text("reads ", access, " with ghost cells ", modes.widths[leaf]);
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
          routes.insert(message.sender->end().route);
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
    auto const widths = ghost_widths_for(*leaf.array->layout(), leaf.access, statement.work);
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
                                           Network& network) {
  auto compiled = std::make_shared<CompiledStatement>();
  auto const uses = uses_of(statement, modes);
  for (std::int64_t i = 0; i < job.local_count(); ++i) {
    DeviceId const device{job.first_local().value() + i};
    compiled->devices.push_back(DeviceCompiler(statement, modes, uses, device).compile());
  }
  for (std::size_t l = 0; l < uses.size(); ++l)
    compiled->overwrites |= modes.in_place[l] && reads_overwritten(statement, l);
  open_channels(*compiled, tag, network);
  note_totals(*compiled);
  note_fills(*compiled, statement, modes);
  explain(*compiled, statement, modes);
  if (compiled->explanation.has(Communication::Cause::gather)) compiled->gathers = -1;
  compiled->keeps.push_back(statement.work.layout);
  for (auto const& leaf : statement.leaves) compiled->keeps.push_back(leaf.array->layout());
  return compiled;
}

}  // namespace tessera
