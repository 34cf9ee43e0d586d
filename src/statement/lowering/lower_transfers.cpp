#include <utility>

#include "tessera/detail/base/assert.hpp"

#include "src/index/affine_map.hpp"
#include "src/statement/lowering/lower_device.hpp"

namespace tessera {
namespace {

class TransferLowering {
 public:
  explicit TransferLowering(DeviceLowering& lowering) : lowering_(lowering), plan_(lowering.plan) {}

  void lower() {
    for (auto const& transfer : lowering_.exchange.sends) {
      auto const from = lowering_.buffer(transfer.operand, transfer.box);
      add_block(plan_.sends, transfer.peer,
                {owned_block(transfer), 0, transfer.operand, Storage::shard, from});
    }
    add_padded(plan_.receives, lowering_.exchange.receives);
    add_padded(plan_.forwarded.sends, lowering_.exchange.forwarded_sends);
    add_padded(plan_.forwarded.receives, lowering_.exchange.forwarded_receives);
    plan_.non_temporal = lowering_.use.lands() && copies_non_temporal(bytes_landed());
    for (auto const& transfer : lowering_.exchange.copies) {
      auto const pair = normalized(BlockPair{padded_block(transfer), owned_block(transfer)});
      auto const from = lowering_.buffer(transfer.operand, transfer.box);
      plan_.copies.push_back({pair, from, padded_storage(transfer.operand), padded_buffer(transfer),
                              plan_.non_temporal});
    }
    for (auto const& place : lowering_.exchange.temporaries.second_places) add_copy(place);
  }

 private:
  // Messages of cells where the reader looks for them.
  void add_padded(std::vector<MessagePlan>& messages, std::vector<Transfer> const& transfers) {
    for (auto const& transfer : transfers)
      add_block(messages, transfer.peer,
                {padded_block(transfer), 0, transfer.operand, padded_storage(transfer.operand),
                 padded_buffer(transfer)});
  }

  // All that reaches the target, from other devices or from this one.
  [[nodiscard]] std::int64_t bytes_landed() const {
    std::int64_t bytes = 0;
    for (auto const* messages : {&plan_.receives, &plan_.forwarded.receives})
      for (auto const& message : *messages) bytes += message.bytes;
    for (auto const& transfer : lowering_.exchange.copies)
      bytes += transfer.cells.count() * lowering_.element_bytes(transfer.operand);
    return bytes;
  }

  [[nodiscard]] bool is_in_place(std::size_t operand) const {
    return lowering_.use.modes.in_place[operand];
  }

  [[nodiscard]] Storage padded_storage(std::size_t operand) const {
    if (lowering_.use.lands()) return Storage::target;
    return is_in_place(operand) ? Storage::shard : Storage::scratch;
  }

  // The buffer of an operand's ghost cells, or of the target's cells, or none for a temporary.
  std::size_t padded_buffer(Transfer const& transfer) {
    if (lowering_.use.lands()) return lowering_.works[transfer.into].write;
    return is_in_place(transfer.operand) ? lowering_.buffer(transfer.operand, 0) : 0;
  }

  // The cells in the owner's shard.
  [[nodiscard]] StridedBlock owned_block(Transfer const& transfer) const {
    return shard_block(transfer, transfer.box, [](Cells::Axis const& axis) { return axis.cell; });
  }

  // The cells as the reader looks for them: past its only shard's edge, in a temporary, or where
  // the target has them.
  [[nodiscard]] StridedBlock padded_block(Transfer const& transfer) const {
    if (is_in_place(transfer.operand))
      return shard_block(transfer, 0, [](Cells::Axis const& axis) { return axis.frame; });
    if (lowering_.use.lands()) return landing_block(transfer);
    auto const& lattice = transfer.cells.lattice;
    return temporary_block(transfer.into, lattice, AffineMap::identity(lattice.rank()));
  }

  // Places of a temporary: those of a box, mapped.
  [[nodiscard]] StridedBlock temporary_block(std::size_t number, Box const& box,
                                             AffineMap const& map) const {
    auto const& [padded_layout, offset_bytes] = lowering_.temporaries[number];
    auto const array = lowering_.exchange.temporaries.list[number].array;
    auto block =
        operand_in(padded_layout, lowering_.element_bytes(array), map, box.rank()).block_of(box);
    block.offset_bytes += offset_bytes;
    return block;
  }

  void add_copy(SecondPlace const& second_place) {
    auto const& [from, to, places, from_places] = second_place;
    auto const pair =
        normalized(BlockPair{temporary_block(to, places, AffineMap::identity(places.rank())),
                             temporary_block(from, places, from_places)});
    plan_.copies.push_back({pair, 0, Storage::scratch, 0, plan_.non_temporal, Storage::scratch});
  }

  // `first(axis)`: the place of lattice index 0 along a dimension.
  template <class First>
  [[nodiscard]] StridedBlock shard_block(Transfer const& transfer, std::size_t box,
                                         First const& first) const {
    auto const& padded_layout = lowering_.arrays.box(transfer.operand, box).padded_layout;
    auto const& cells = transfer.cells;
    auto map = AffineMap::identity(cells.axes.size());
    for (std::size_t d = 0; d < cells.axes.size(); ++d) {
      map.axes[d].offset = first(cells.axes[d]);
      map.axes[d].stride = cells.axes[d].stride;
    }
    TESSERA_ASSERT(padded_layout.cells.contains(map.image(cells.lattice)), transfer, " in ",
                   padded_layout.cells, " on device ", plan_.device);
    return operand_in(padded_layout, lowering_.element_bytes(transfer.operand), map, map.rank())
        .block_of(cells.lattice);
  }

  // The cells' places in the target: the lattice counts the statement's indices.
  [[nodiscard]] StridedBlock landing_block(Transfer const& transfer) const {
    auto const& work = lowering_.works[transfer.into];
    auto const& map = lowering_.use.operands[transfer.operand].access.map;
    auto const& lattice = transfer.cells.lattice;
    auto const bytes = lowering_.element_bytes(transfer.operand);
    auto index = work.indices.lo;
    StridedBlock block;
    block.element_bytes = bytes;
    for (std::size_t d = 0; d < lattice.rank(); ++d) {
      auto const from = map.axes[d].from;
      bool const moves = from != AxisMap::fixed;
      if (moves) index[static_cast<std::size_t>(from)] = lattice.lo[d];
      block.extents.push_back(lattice.extent(d));
      block.strides_bytes.push_back(
          moves ? work.target.strides[static_cast<std::size_t>(from)] * bytes : 0);
    }
    block.offset_bytes = work.target.offset_of(index);
    return block;
  }

  DeviceLowering& lowering_;
  LoweredDevice& plan_;
};

}  // namespace

void lower_transfers(DeviceLowering& lowering) {
  TransferLowering(lowering).lower();
}

}  // namespace tessera
