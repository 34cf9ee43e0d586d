#pragma once
/// @file
/// One-sided access without element types: cells of an array are read and written by one process
/// alone. What arrays show of it is in array/one_sided.hpp.

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <vector>

#include "tessera/base/source.hpp"
#include "tessera/exchange/array_state.hpp"

namespace tessera {

class Engine;

/// What atomics compute with. A complex number is two real ones.
enum class NumberKind : std::uint8_t {
  int8,
  uint8,
  int16,
  uint16,
  int32,
  uint32,
  int64,
  uint64,
  half,   // float16
  brain,  // bfloat16
  float32,
  float64,
  complex64,
  complex128,
};

/// An atomic change of one cell.
struct CellUpdate {
  enum class What : std::uint8_t { add, compare_exchange };
  What what = What::add;
  NumberKind kind = NumberKind::int64;
  std::array<std::byte, 16> operand{};   ///< what is added, or put in place of `expected`
  std::array<std::byte, 16> expected{};  ///< of compare_exchange, compared bit by bit
};

/// Something asked for that may take a while.
///
/// Threads: the caller's.
struct Operation {
  std::int64_t left = 0;         ///< answers that have not come
  DeviceId peer;                 ///< whose cells were asked for last
  std::vector<std::byte> cells;  ///< what was read, row-major, where it is kept here
  std::byte* into = nullptr;     ///< where what is read goes
  std::string trouble;           ///< why it has failed; empty if it has not
};

/// The epochs, and what is done in them.
///
/// Ranks:   `fence` is collective over the job, everything else local.
/// Threads: the caller's thread.
/// Throws:  UsageError outside of an epoch, IndexError for cells that the array does not have:
///          here alone, before anything is sent; PeerFailed if the owner of the cells has failed.
class OneSided {
 public:
  /// Lifetime: the engine's. Nothing happens before the first fence.
  explicit OneSided(Engine& engine);
  ~OneSided();
  OneSided(OneSided const&) = delete;
  OneSided& operator=(OneSided const&) = delete;

  /// Opens an epoch of the array, or ends the one that is open.
  /// Throws: UsageError, on every process alike, if it may have none.
  void fence(std::shared_ptr<ArrayState> const& array, Place const& place);

  /// One cell. `into` and `from` have room for an element.
  void read(ArrayState& array, std::span<std::int64_t const> cell, std::byte* into);
  /// One cell, in every copy.
  void write(ArrayState& array, std::span<std::int64_t const> cell, std::byte const* from);
  /// Changes a cell; `old`, unless it is null, gets what was there.
  void update(ArrayState& array, std::span<std::int64_t const> cell, CellUpdate const& update,
              std::byte* old);

  /// Throws what an access to these cells would.
  void check(ArrayState& array, Box const& box);
  /// Asks for a box of cells, which come row-major `into` that place, or into the operation's own
  /// memory where it is null.
  [[nodiscard]] std::shared_ptr<Operation> begin_read(ArrayState& array, Box const& box,
                                                      std::byte* into);
  /// Sends a box of cells; `from` has been read when this returns.
  [[nodiscard]] std::shared_ptr<Operation> begin_write(ArrayState& array, Box const& box,
                                                       std::byte const* from);
  /// What was there comes into the operation's memory.
  [[nodiscard]] std::shared_ptr<Operation> begin_update(ArrayState& array,
                                                        std::span<std::int64_t const> cell,
                                                        CellUpdate const& update);

  /// True once it has been done. Moves what can be moved. Throws: PeerFailed.
  [[nodiscard]] bool is_done(Operation const& operation);
  /// Returns once it has been done.
  void wait(Operation const& operation);

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace tessera
