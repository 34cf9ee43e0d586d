#pragma once
/// @file
/// What the devices of a group do in an exchange of several steps: each sends, works and receives.
///
/// A schedule is made for one member of the group. It is arithmetic: buffers have numbers, and the
/// operation that runs the schedule decides what a cell is, how a range of cells lies in memory and
/// what `add` does.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <ostream>
#include <vector>

namespace tessera {

/// Cells [begin, end) of a buffer.
struct CellRange {
  std::size_t buffer = 0;
  std::int64_t begin = 0;
  std::int64_t end = 0;

  [[nodiscard]] std::int64_t size() const { return end - begin; }
  friend bool operator==(CellRange const&, CellRange const&) = default;
  friend std::ostream& operator<<(std::ostream& out, CellRange const& range);
};

/// Cells whose count becomes known while the schedule runs. The numbers in the buffer `counts`
/// divide `buffer` into consecutive parts; this is one of them.
struct CountedRange {
  std::size_t buffer = 0;
  std::size_t counts = 0;  ///< the buffer with the number of cells of each part
  std::int64_t part = 0;

  friend bool operator==(CountedRange const&, CountedRange const&) = default;
};

/// Cells that travel between this member and another. The cells of the ranges follow each other in
/// the message; the ends may put them in different buffers and divide them into other ranges.
struct ScheduledMessage {
  std::int64_t member = 0;  ///< the other one
  std::vector<CellRange> ranges = {};
  std::optional<CountedRange> counted = {};  ///< in place of ranges

  friend bool operator==(ScheduledMessage const&, ScheduledMessage const&) = default;
};

/// What a member does with its own cells. Both ranges have equally many.
struct ScheduledWork {
  enum class Kind : std::uint8_t {
    copy,  ///< to = from
    add    ///< to = to + from; `to` holds the earlier addends
  };
  Kind kind = Kind::copy;
  CellRange from = {};
  CellRange to = {};
  std::optional<CountedRange> counted_from = {};  ///< in place of `from`
  std::optional<CountedRange> counted_to = {};    ///< in place of `to`

  friend bool operator==(ScheduledWork const&, ScheduledWork const&) = default;
};

/// A step. Its sends leave first; the member works while they travel; the receives come last, and
/// later steps find their cells.
///
/// A message that is longer than a slot of its channel goes slot by slot, in turn with what the
/// step receives. So a step has at most one message to each member and one from each, and does not
/// write what it sends.
struct ScheduleStep {
  std::vector<ScheduledMessage> sends = {};
  std::vector<ScheduledWork> work = {};
  std::vector<ScheduledMessage> receives = {};

  [[nodiscard]] bool is_empty() const { return sends.empty() && work.empty() && receives.empty(); }
  friend bool operator==(ScheduleStep const&, ScheduleStep const&) = default;
};

/// The steps of one member. Each member numbers its own: a message may be sent in one step and
/// received in another. Messages from one member to another arrive in the order in which they are
/// sent.
struct Schedule {
  std::vector<std::int64_t> buffer_cells;  ///< for each buffer the most cells that it may hold
  std::vector<ScheduleStep> steps;

  /// Appends a step, unless it is empty.
  void append(ScheduleStep step);

  friend bool operator==(Schedule const&, Schedule const&) = default;
};

}  // namespace tessera
