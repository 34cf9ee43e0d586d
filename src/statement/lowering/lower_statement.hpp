#pragma once
/// @file
/// From a statement to what devices do: chooses ghost cells or temporaries, plans the exchange, and
/// turns boxes into blocks of memory. Arithmetic: the plan of any device of any job can be made,
/// and tested, in one process.

#include <cstdint>
#include <vector>

#include "src/base/detail.hpp"
#include "src/plan/exchange/exchange_plan.hpp"
#include "src/plan/ghost.hpp"
#include "src/statement/lowering/lowered_statement.hpp"
#include "src/statement/statement.hpp"

namespace tessera {

/// Devices with numbers in a row: those of a process, or any of a job.
struct DeviceSpan {
  DeviceId first;
  std::int64_t count = 0;
};

/// The operands that are read in place, and the ghost cells that this needs.
///
/// Ranks: pure: the same on every process.
struct OperandModes {
  InlineVector<bool, max_operands> in_place;
  /// For operand l: the ghost cells that its array must have for this statement; none for
  /// temporaries.
  std::vector<GhostWidths> widths;
};
[[nodiscard]] OperandModes choose_modes(Statement const& statement);

/// True if the program moves an array, by reshard or `r = u`: then what arrives is put where it
/// belongs, and leaves no ghost cells.
[[nodiscard]] bool is_moved(Statement const& statement);

/// An array that needs wider ghost cells than it has.
struct GhostGrowth {
  std::size_t operand = 0;  ///< the first that reads it
  GhostWidths widths;

  friend bool operator==(GhostGrowth const&, GhostGrowth const&) = default;
};
/// The ghost cells that have to grow before the statement is lowered. Ranks: pure.
[[nodiscard]] std::vector<GhostGrowth> growth_for(Statement const& statement,
                                                  OperandModes const& modes);

/// A statement with what was decided about its operands, as the lowering of all devices sees it.
struct StatementUse {
  StatementUse(Statement const& used, OperandModes const& chosen);

  Statement const& statement;
  OperandModes const& modes;
  std::vector<OperandUse> operands;

  /// True if cells are copied unchanged from another array, each to one place: then they are put
  /// straight into the target, without a temporary.
  [[nodiscard]] bool lands() const { return operands.size() == 1 && operands[0].lands; }
  /// True if the statement could overwrite cells that it has yet to read by this operand.
  [[nodiscard]] bool reads_overwritten(std::size_t operand) const;
};

/// What one device does for the statement.
///
/// Ranks: pure. What a device sends to a peer is what the peer's own plan receives.
/// Cost:  O(partners), whatever the number of devices.
[[nodiscard]] LoweredDevice lower_device(StatementUse const& use, DeviceId device,
                                         Forwarding const& forwarding = {});

/// The same for devices in a row, explained, with what all of them have in common.
[[nodiscard]] LoweredStatement lower_statement(Statement const& statement,
                                               OperandModes const& modes, DeviceSpan const& devices,
                                               Forwarding const& forwarding = {});

/// Counts the messages that the plan's devices send.
void note_totals(LoweredStatement& lowered);

}  // namespace tessera
