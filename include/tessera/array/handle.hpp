#pragma once
/// @file
/// What arrays and views do without knowing their element type: compiled once, called by thin
/// templates.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include "tessera/base/source.hpp"
#include "tessera/exchange/array_state.hpp"
#include "tessera/index/affine_map.hpp"
#include "tessera/layout/layout.hpp"

namespace tessera::detail {

using StatePtr = std::shared_ptr<ArrayState>;

/// A new array whose cells are not set.
/// Throws: ShapeError; ShardingError, also if the sharding asks for addends.
[[nodiscard]] StatePtr make_state(NamedSharding const& sharding, Shape const& shape,
                                  std::int64_t element_bytes);

/// The same for a layout that is there already.
[[nodiscard]] StatePtr make_state(std::shared_ptr<Layout const> layout, std::int64_t element_bytes);

/// A new array that consists of addends, which may not be written from now on.
[[nodiscard]] StatePtr make_partial_state(NamedSharding const& sharding, Shape const& shape,
                                          Addends addends);
/// The extent of dimension `d`. Throws: ShapeError if there is no such dimension.
[[nodiscard]] std::int64_t extent_of(Shape const& shape, std::size_t d);

/// The array itself; of addends, their sum, which is made when it is first asked for: not while a
/// statement is being put together.
/// Ranks: collective.
[[nodiscard]] StatePtr const& readable(StatePtr const& state);
/// The same while a statement is put together: if it is a sum, it has been made.
[[nodiscard]] StatePtr const& settled(StatePtr const& state);
/// `to` = the value of `from`. Addends that were not read yet are added up where `to` lies.
void copy_value(StatePtr const& to, StatePtr const& from, Place const& place);

/// `to` = `from`, cell by cell; equal shapes, any layouts.
void copy_cells(StatePtr const& to, StatePtr const& from, Place const& place);

/// The cells of each device's boxes of `from`, each in row-major order, become those of its boxes
/// of `to`, box by box, which are as many and as large: arrays of any ranks on one mesh. Nothing is
/// sent; returns when all is done.
void copy_in_order(StatePtr const& to, StatePtr const& from);

/// A new array with the same cells on the same devices. Addends, which nobody writes, are shared.
[[nodiscard]] StatePtr copied(StatePtr const& state);

/// The cells of one shard as its own piece of memory: a pointer to the first own cell, and strides.
struct RawShard {
  DeviceId device;
  std::size_t number;  ///< among the device's
  Box box;             ///< global cells
  std::byte* cells;    ///< the first of them; null if there are none
  Index strides;       ///< in elements
};

/// Calls `f` on each local device with its shards, one after the other, and returns when all are
/// done. All cells are to be set: ghost cells become stale. Of a GPU, `f` is shown a copy.
/// Throws: what `f` throws.
void write_shards(StatePtr const& state, std::function<void(RawShard const&)> const& f);
/// Sets every cell to these bytes, which GPUs do by themselves where 8 bytes repeat them; false,
/// and nothing done, elsewhere.
[[nodiscard]] bool fill_shards(StatePtr const& state, std::span<std::byte const> element);
/// Says once, where devices are GPUs, that cells are made on the host and copied.
void note_cells_of_host();
/// As `write_shards`, where cells may be read and written.
void change_shards(StatePtr const& state, std::function<void(RawShard const&)> const& f);
/// The same, to look only.
void read_shards(StatePtr const& state, std::function<void(RawShard const&)> const& f);

/// This process's shards, once the statements so far have been carried out by its devices: to look
/// at, or to be written, which makes ghost cells stale.
/// Lifetime: of the cells: until the next statement that names the array.
[[nodiscard]] std::vector<RawShard> shards_to_read(StatePtr const& state);
[[nodiscard]] std::vector<RawShard> shards_to_write(StatePtr const& state);

/// A dense box of cells of this process, and how many were passed.
struct RawPiece {
  Box box;
  std::byte const* cells;
  std::int64_t count;
};
/// Copies this process's cells out of pieces that cover them.
/// Throws: ShapeError, on every process, if those of any process do not.
void take_from_pieces(StatePtr const& state, std::vector<RawPiece> const& pieces);

/// Copies this process's cells out of a whole row-major array.
void take_from_host(StatePtr const& state, std::byte const* whole);
/// The cells first + step · i of a box of extents `count`, row-major, on every process.
/// Ranks: collective.
void read_to_host(StatePtr const& state, AffineMap const& map, Box const& indices, std::byte* into,
                  Place const& place);

}  // namespace tessera::detail
