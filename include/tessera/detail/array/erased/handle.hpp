#pragma once
/// @file
/// The operations of arrays and views that need no element type: compiled once, called by thin
/// templates.

#include <concepts>
#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <type_traits>
#include <vector>

#include "tessera/base/ids.hpp"
#include "tessera/base/source.hpp"
#include "tessera/detail/index/affine_map.hpp"
#include "tessera/detail/statement/array_ref.hpp"
#include "tessera/detail/statement/kernel.hpp"
#include "tessera/layout/layout.hpp"

namespace tessera::detail {

/// A new array whose cells are not set.
/// Throws: ShapeError; ShardingError, also if the sharding has partial axes.
[[nodiscard]] StatePtr make_state(NamedSharding const& sharding, Shape const& shape,
                                  std::int64_t element_bytes);

/// The same for an existing layout.
[[nodiscard]] StatePtr make_state(std::shared_ptr<Layout const> layout, std::int64_t element_bytes);

/// A new partial array with these partial results, which must not be written from now on.
[[nodiscard]] StatePtr make_partial_state(NamedSharding const& sharding, Shape const& shape,
                                          Partials partials);
/// The extent of dimension `d`. Throws: ShapeError if there is no such dimension.
[[nodiscard]] std::int64_t extent_of(Shape const& shape, std::size_t d);

/// The array itself; of partials, their sum, which is made when it is first asked for.
/// Ranks: collective.
[[nodiscard]] StatePtr const& readable(StatePtr const& state);
/// `to` = the value of `from`. A partial array that was not read yet is added up where `to` lies.
void copy_value(StatePtr const& to, StatePtr const& from, SourceLocation const& location);
/// The same; `kind` is what the program asked for, as Statement::kind.
void copy_value(StatePtr const& to, StatePtr const& from, SourceLocation const& location,
                char const* kind);

/// What `to = from` means: the value of `from`, written where `to` lies; a copy if `to` is null.
/// Throws: ShapeError if the shapes differ; UsageError if `to` must not be written.
void assign_array(StatePtr& to, StatePtr const& from);

/// `to` = `from`, cell by cell; equal shapes, any layouts.
void copy_cells(StatePtr const& to, StatePtr const& from, SourceLocation const& location,
                char const* kind = "copy");

/// Copies each device's boxes of `from`, each in row-major order, into its boxes of `to`, box by
/// box. Both arrays have the same number of boxes of the same sizes; they are on one mesh and may
/// have different ranks. Sends nothing; returns when everything is copied.
void copy_in_order(StatePtr const& to, StatePtr const& from);

/// A new array with the same cells on the same devices. Partial results are shared, since they are
/// never written.
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
/// done. `f` must set all cells: ghost cells become invalid. On a GPU, `f` receives a copy on the
/// host.
/// Throws: what `f` throws.
void write_shards(StatePtr const& state, std::function<void(RawShard const&)> const& f);
/// Sets every cell to these bytes on GPUs, if a pattern of 8 bytes can repeat them. Otherwise does
/// nothing and returns false.
[[nodiscard]] bool fill_shards(StatePtr const& state, std::span<std::byte const> element);
/// Compares numbers that every process passes alike to a new array, with TESSERA_CHECK=numbers;
/// `pass` is then called twice. `kind` is of static storage. Throws: Mismatch, perhaps later.
void compare_numbers(StatePtr const& state, char const* kind,
                     std::function<void(NumberVisitor&)> const& pass);
/// If the devices are GPUs, warns once that cells are computed on the host and copied.
void note_cells_of_host();
/// As `write_shards`, where cells may be read and written.
void change_shards(StatePtr const& state, std::function<void(RawShard const&)> const& f);
/// The same, to look only.
void read_shards(StatePtr const& state, std::function<void(RawShard const&)> const& f);
/// The same for several arrays on one mesh, of which each device has single boxes: `f` receives a
/// device's shard of each. It may change those of the arrays that are `written`.
void visit_shards_together(std::span<StatePtr const> arrays, std::span<bool const> written,
                           std::function<void(std::span<RawShard const>)> const& f);

/// This process's shards, after its devices have executed the statements so far: to be read, or to
/// be written, which makes ghost cells invalid.
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
/// Calls `make`, which allocates so many cells on every process.
/// Ranks:  collective from 1 MiB on.
/// Throws: Error, with the size, if there is no memory: from 1 MiB on, on every process if any has
///         none, and the job can go on; for less, on those alone.
void make_room_for_all(StatePtr const& state, std::int64_t count, SourceLocation const& location,
                       std::function<void(std::size_t)> const& make);
/// The cells first + step · i of a box of extents `count`, row-major, on every process.
/// Ranks: collective.
void read_to_host(StatePtr const& state, AffineMap const& map, Box const& indices, std::byte* into,
                  SourceLocation const& location);

/// How cells of type T are kept in a list: std::vector<bool> has none in memory.
template <class T>
using StoredAs = std::conditional_t<std::same_as<T, bool>, unsigned char, T>;

/// A list of the cells that read(to) writes. Before that, reserve(make) calls make(count), which
/// makes room for all.
template <class T, class Reserve, class Read>
[[nodiscard]] std::vector<T> list_read(Reserve const& reserve, Read const& read) {
  std::vector<StoredAs<T>> cells;
  std::vector<T> bools;
  reserve([&](std::size_t count) {
    cells.resize(count);
    if constexpr (std::same_as<T, bool>) bools.resize(count);
  });
  read(reinterpret_cast<std::byte*>(cells.data()));
  if constexpr (!std::same_as<T, bool>) return cells;
  bools.assign(cells.begin(), cells.end());
  return bools;
}

}  // namespace tessera::detail
