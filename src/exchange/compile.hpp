#pragma once
/// @file
/// From a statement to what each local device does: chooses ghost cells or temporaries, plans the
/// exchange, and turns boxes into blocks of memory.

#include <memory>
#include <string>
#include <vector>

#include "tessera/exchange/compiled_statement.hpp"
#include "tessera/transport/job.hpp"

namespace tessera {

/// Which leaves are read in place, and the ghost cells that takes.
///
/// Ranks: pure: the same on every process.
struct LeafModes {
  InlineVector<bool, max_leaves> in_place;
  /// For leaf l: the ghost cells its array must have for this statement; none for temporaries.
  std::vector<GhostWidths> widths;
};
[[nodiscard]] LeafModes choose_modes(Statement const& statement);

/// Grows the ghost cells of the statement's arrays to what it reads. True if storage was replaced.
/// No queued record may name those arrays.
bool grow_ghosts(Statement const& statement, LeafModes const& modes);
/// True if `grow_ghosts` would replace storage.
[[nodiscard]] bool needs_growth(Statement const& statement, LeafModes const& modes);

/// Opens the channels of a plan's messages: all receiving ends first.
/// Ranks: collective over the processes of the devices involved, as far as channels are new.
/// Throws: PeerFailed, Mismatch.
void open_channels(CompiledStatement& compiled, StatementTag const& tag, Network& network);
/// Counts the messages that this process's devices send.
void note_totals(CompiledStatement& compiled);

/// An array as explanations name it: "array 3 (10, 12)".
[[nodiscard]] std::string describe(ArrayState const& array);

/// What the plan sends for this statement, and why.
[[nodiscard]] Explanation explanation_of(CompiledStatement const& plan, Statement const& statement);

/// Plans the statement for every local device. Opens the channels it names: all receiving ends
/// first.
///
/// Ranks:  collective over the processes of the devices involved, as far as channels are new.
/// Throws: PeerFailed, Mismatch.
[[nodiscard]] std::shared_ptr<CompiledStatement> compile(Statement const& statement,
                                                         LeafModes const& modes,
                                                         StatementTag const& tag, Job const& job,
                                                         Network& network);

}  // namespace tessera
