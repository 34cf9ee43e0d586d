#pragma once
/// @file
/// One-sided access: one process reads and writes cells wherever they lie, and no other takes part.

#include <array>
#include <bit>
#include <concepts>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <source_location>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "tessera/array/element.hpp"
#include "tessera/base/source.hpp"
#include "tessera/detail/array/erased/one_sided.hpp"

namespace tessera {

template <Element T, std::size_t N>
class DistArray;

namespace detail {

/// The types that `accumulate` supports: numbers of at most 8 bytes, and complex numbers made of
/// such.
template <class T>
concept Accumulable = !std::same_as<T, bool> &&
                      ((std::is_arithmetic_v<T> && sizeof(T) <= 8) || is_half<T> || is_complex<T>);
/// The types that atomics with a result support.
template <class T>
concept Exchangeable =
    !std::same_as<T, bool> && std::is_arithmetic_v<T> && (sizeof(T) == 4 || sizeof(T) == 8);

/// The kind of a type of number.
template <Accumulable T>
[[nodiscard]] constexpr NumberKind number_kind() {
  using enum NumberKind;
  if constexpr (std::same_as<T, float16>) return half;
  if constexpr (std::same_as<T, bfloat16>) return brain;
  if constexpr (std::same_as<T, float>) return float32;
  if constexpr (std::same_as<T, double>) return float64;
  if constexpr (std::same_as<T, std::complex<float>>) return complex64;
  if constexpr (std::same_as<T, std::complex<double>>) return complex128;
  if constexpr (std::is_integral_v<T>) {
    constexpr NumberKind with_sign[] = {int8, int16, int32, int64};
    constexpr NumberKind without[] = {uint8, uint16, uint32, uint64};
    constexpr auto place = std::bit_width(sizeof(T)) - 1;
    return std::is_signed_v<T> ? with_sign[place] : without[place];
  }
}

/// Adds `value`.
template <Accumulable T>
[[nodiscard]] CellUpdate adding(T const& value) {
  CellUpdate update;
  update.kind = number_kind<T>();
  std::memcpy(update.operand.data(), &value, sizeof value);
  return update;
}

}  // namespace detail

/// A one-sided operation that may not have finished yet. T is the type of its result: a cell, a
/// vector of cells, or void.
///
/// Lifetime: it may be dropped at any time: the operation is done all the same, at the latest when
///           the next fence of the array returns. It keeps its own copy of the cells that it writes
///           and reads.
/// Threads:  the thread that made the Runtime.
/// Throws:   PeerFailed if the owner of the cells has failed.
template <class T>
class Pending {
 public:
  explicit Pending(std::shared_ptr<OneSidedRequest> request) : request_(std::move(request)) {}

  /// True if `wait` would return at once.
  [[nodiscard]] bool ready() const { return detail::is_done(*request_); }
  /// Returns once the operation is done.
  void wait() const { detail::wait_for(*request_); }
  /// Waits for the result and returns it.
  [[nodiscard]] T get() const requires(!std::is_void_v<T>) {
    wait();
    return detail::FromCells<T>::value(detail::cells_read(*request_));
  }

 private:
  std::shared_ptr<OneSidedRequest> request_;
};

/// Opens an epoch of one-sided access to `u`; the next fence of `u` ends it, and then all changes
/// are visible everywhere. Between the two fences no other use of `u` is allowed. Several arrays
/// may have epochs at once.
///
/// Ranks:  collective; waits until all processes have reached it.
/// Throws: UsageError, on every process alike, for partial arrays and for memory that was adopted
///         or pinned before; TransportError if the system provides no memory to share, or if 1024
///         living arrays have been fenced; Mismatch if the processes fence different arrays.
/// Cost:   a few messages up and down a tree of the processes. From its first fence on, the cells
///         of an array lie in memory that the processes of a host share.
template <Element T, std::size_t N>
requires(N >= 1) void fence(DistArray<T, N>& u,
                            std::source_location const& at = std::source_location::current()) {
  detail::pass_fence(u.storage(), at);
}

namespace detail {

/// The operations that arrays offer between two fences. Indices count from 0, without Python's
/// rules for negative ones; a box is `Box{{0, 2}, {4, 5}}`.
///
/// If another process changes a cell at the same time, a plain read returns one value or the other,
/// and a plain write leaves one or the other; for cells of more than 8 bytes this holds word by
/// word. There is no other guarantee before the next fence. Atomics are atomic against all other
/// atomics, and order the writes before them.
/// Ranks:  local.
/// Throws: UsageError outside of an epoch; IndexError for a cell outside the array, on this process
///         only and before anything is sent; PeerFailed if the owner has failed.
/// Cost:   on one host a load or a store; between hosts a message there and one back, which a
///         thread of the owner's process answers. The asynchronous forms allow several requests at
///         once.
template <class Self, class T, std::size_t N>
class OneSidedCells {
 public:
  using CellIndex = std::array<std::int64_t, N>;

  /// One cell, of the copy that is nearest.
  [[nodiscard]] T read(CellIndex const& index) const { return read_at(Cell(index)); }
  template <std::same_as<Index> I>
  [[nodiscard]] T read(I const& index) const {
    return read_at(cell_of(index, N));
  }
  /// A box of cells, row-major.
  template <std::same_as<Box> B>
  [[nodiscard]] std::vector<T> read(B const& box) const {
    auto const count = cells_to_read(state(), box);
    return list_read<T>([&](auto const& make) { make_room_to_read(count, sizeof(T), make); },
                        [&](std::byte* to) { wait_for(*begin_read(state(), box, to)); });
  }
  /// The same into memory. Throws: ShapeError if there is not room for just those cells.
  template <std::same_as<Box> B>
  void read(B const& box, std::span<T> into) const {
    check_room(box, std::ssize(into));
    wait_for(*begin_read(state(), box, reinterpret_cast<std::byte*>(into.data())));
  }
  /// The same, without waiting.
  [[nodiscard]] Pending<T> read_async(CellIndex const& index) const {
    return Pending<T>(begin_read(state(), box_of_cell(index), nullptr));
  }
  template <std::same_as<Box> B>
  [[nodiscard]] Pending<std::vector<T>> read_async(B const& box) const {
    return Pending<std::vector<T>>(begin_read(state(), box, nullptr));
  }

  /// One cell, in every copy.
  void write(CellIndex const& index, T const& value) {
    write_cell(state(), Cell(index), reinterpret_cast<std::byte const*>(&value));
  }
  template <std::same_as<Index> I>
  void write(I const& index, T const& value) {
    write_cell(state(), cell_of(index, N), reinterpret_cast<std::byte const*>(&value));
  }
  /// A box of cells, row-major. Throws: ShapeError if there are more or fewer.
  template <std::same_as<Box> B>
  void write(B const& box, std::span<T const> cells) {
    wait_for(*start_write(box, cells));
  }
  /// The same, without waiting; the cells have been read when it returns.
  [[nodiscard]] Pending<void> write_async(CellIndex const& index, T const& value) {
    return Pending<void>(start_write(box_of_cell(index), std::span<T const>(&value, 1)));
  }
  template <std::same_as<Box> B>
  [[nodiscard]] Pending<void> write_async(B const& box, std::span<T const> cells) {
    return Pending<void>(start_write(box, cells));
  }

  /// Adds to a cell; for a complex number, to each part separately.
  /// Throws: UsageError where there are copies of the cells.
  void accumulate(CellIndex const& index, T const& value) requires Accumulable<T> {
    update_cell(state(), Cell(index), adding(value), nullptr);
  }
  /// Adds to a cell and returns its old value. Throws: as `accumulate`.
  T fetch_add(CellIndex const& index, T const& value) requires Exchangeable<T> {
    T old;
    update_cell(state(), Cell(index), adding(value), reinterpret_cast<std::byte*>(&old));
    return old;
  }
  /// The same, without waiting.
  [[nodiscard]] Pending<T> fetch_add_async(CellIndex const& index,
                                           T const& value) requires Exchangeable<T> {
    return Pending<T>(begin_update(state(), Cell(index), adding(value)));
  }
  /// Writes `desired` if the cell equals `expected`, bit by bit, and returns the old value: the
  /// write happened if that value is `expected`. Throws: as `accumulate`.
  T compare_exchange(CellIndex const& index, T const& expected,
                     T const& desired) requires Exchangeable<T> {
    auto update = adding(desired);
    update.what = CellUpdate::What::compare_exchange;
    std::memcpy(update.expected.data(), &expected, sizeof expected);
    T old;
    update_cell(state(), Cell(index), update, reinterpret_cast<std::byte*>(&old));
    return old;
  }

 private:
  [[nodiscard]] StatePtr const& state() const { return static_cast<Self const&>(*this).storage(); }
  [[nodiscard]] T read_at(Cell cell) const {
    T value;
    read_cell(state(), cell, reinterpret_cast<std::byte*>(&value));
    return value;
  }
  [[nodiscard]] std::shared_ptr<OneSidedRequest> start_write(Box const& box,
                                                             std::span<T const> cells) {
    return begin_write(state(), box, reinterpret_cast<std::byte const*>(cells.data()),
                       std::ssize(cells));
  }
};

}  // namespace detail
}  // namespace tessera
