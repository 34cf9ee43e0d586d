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

class GpuRoutes;

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

/// By what a plan's messages travel.
struct MessageTools {
  Network& network;
  GpuRoutes* gpu_routes = nullptr;  ///< none where devices are no GPUs
};

/// Opens the channels of a plan's messages, all receiving ends first, and what GPUs have besides.
/// Ranks:  collective over the processes of the devices involved, as far as channels are new.
/// Throws: PeerFailed, Mismatch, DeviceError.
void open_channels(CompiledStatement& compiled, StatementTag const& tag, MessageTools const& tools);
/// Counts the messages that this process's devices send.
void note_totals(CompiledStatement& compiled);

/// An array as explanations name it: "array 3 (10, 12)".
[[nodiscard]] std::string describe(ArrayState const& array);

/// What the plan sends for this statement, and why.
[[nodiscard]] Explanation explanation_of(CompiledStatement const& plan, Statement const& statement);

/// Plans the statement for every local device, and opens the channels it names.
///
/// Ranks:  collective over the processes of the devices involved, as far as channels are new.
/// Throws: PeerFailed, Mismatch, DeviceError.
[[nodiscard]] std::shared_ptr<CompiledStatement> compile(Statement const& statement,
                                                         LeafModes const& modes,
                                                         StatementTag const& tag, Job const& job,
                                                         MessageTools const& tools);

}  // namespace tessera
