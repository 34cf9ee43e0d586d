#pragma once
/// @file
/// Runs the schedules of all members of a group in one process, over channels of two slots.

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <functional>
#include <limits>
#include <map>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "src/base/text.hpp"
#include "src/plan/schedules/schedule.hpp"

namespace tessera::test {

/// The value of a cell: its addends in the order in which they were added.
using SimulatedCell = std::vector<std::int64_t>;
using SimulatedBuffer = std::vector<SimulatedCell>;

/// A member after the simulation.
struct SimulatedMember {
  std::vector<SimulatedBuffer> buffers;
  std::int64_t messages = 0;   ///< that it sent
  std::int64_t cells = 0;      ///< in these
  std::int64_t far_cells = 0;  ///< in those to members that `is_far` names
};

struct SimulationInput {
  std::int64_t members = 1;
  std::function<Schedule(std::int64_t member)> schedule;
  /// The cells of a buffer before the first step.
  std::function<SimulatedCell(std::int64_t member, std::size_t buffer, std::int64_t cell)> initial;
  /// Whether a message between two members crosses the network.
  std::function<bool(std::int64_t from, std::int64_t to)> is_far = {};
  /// Longer messages go slot by slot.
  std::int64_t slot_cells = std::numeric_limits<std::int64_t>::max();
};

/// What the members have in the end, and the first fault; empty if there is none.
struct SimulationResult {
  std::vector<SimulatedMember> members;
  std::string fault;
};

/// The slots under way, by sender and reader.
class SimulatedChannels {
 public:
  using Slot = std::vector<SimulatedCell>;

  [[nodiscard]] bool has_room(std::int64_t from, std::int64_t to) {
    return under_way_[{from, to}].size() < 2;
  }
  [[nodiscard]] bool has_slot(std::int64_t from, std::int64_t to) {
    return !under_way_[{from, to}].empty();
  }
  void put(std::int64_t from, std::int64_t to, Slot slot) {
    under_way_[{from, to}].push_back(std::move(slot));
  }
  [[nodiscard]] Slot take(std::int64_t from, std::int64_t to) {
    auto& slots = under_way_[{from, to}];
    auto slot = std::move(slots.front());
    slots.pop_front();
    return slot;
  }
  [[nodiscard]] std::string unread() const {
    for (auto const& [ends, slots] : under_way_)
      if (!slots.empty())
        return text("member ", ends.second, " does not read a message of member ", ends.first);
    return {};
  }

 private:
  std::map<std::pair<std::int64_t, std::int64_t>, std::deque<Slot>> under_way_;
};

/// Runs the steps of one member as far as the channels allow. A step puts the first slot of each
/// message, works, takes a slot of each message that it receives, puts the next ones, and so on.
class SimulatedPlayer {
 public:
  SimulatedPlayer(SimulationInput const& input, std::int64_t self, SimulatedChannels& channels)
      : input_(input), self_(self), channels_(channels), schedule_(input.schedule(self)) {
    for (std::size_t b = 0; b < schedule_.buffer_cells.size(); ++b) {
      member_.buffers.emplace_back();
      for (std::int64_t i = 0; i < schedule_.buffer_cells[b]; ++i)
        member_.buffers[b].push_back(input.initial(self, b, i));
    }
    begin_step();
  }

  [[nodiscard]] std::string const& fault() const { return fault_; }
  [[nodiscard]] bool is_done() const { return step_ == schedule_.steps.size(); }
  [[nodiscard]] SimulatedMember take_result() { return std::move(member_); }
  /// What a member that is not done waits for.
  [[nodiscard]] std::string wait() const {
    bool const puts = next_ < sends_.size();
    return text("member ", self_, " waits in step ", step_,
                puts ? " for a slot to member " : " for member ",
                puts ? sends_[next_].member : receives_[next_ - sends_.size()].member);
  }

  /// Returns true if it did something.
  bool advance() {
    bool has_moved = false;
    while (!is_done() && fault_.empty() && act()) has_moved = true;
    return has_moved;
  }

 private:
  // A message of the current step, and how much of it has travelled.
  struct Travelling {
    std::int64_t member = 0;
    std::vector<CellRange> ranges;
    std::int64_t size = 0;
    std::int64_t slots = 1;
    SimulatedChannels::Slot cells = {};  // of sends, as they were when the step began
    std::int64_t slots_done = 0;

    [[nodiscard]] bool is_done() const { return slots_done == slots; }
  };

  void begin_step() {
    sends_.clear();
    receives_.clear();
    next_ = 0;
    has_worked_ = false;
    if (is_done()) return;
    auto const& step = schedule_.steps[step_];
    for (auto const& message : step.sends) {
      sends_.push_back(travelling(message));
      auto& sent = sends_.back();
      visit_cells(sent.ranges, [&](SimulatedCell& cell) { sent.cells.push_back(cell); });
      ++member_.messages;
      member_.cells += sent.size;
      if (input_.is_far && input_.is_far(self_, sent.member)) member_.far_cells += sent.size;
    }
    check_members(step.sends);
    check_members(step.receives);
  }

  void check_members(std::vector<ScheduledMessage> const& messages) {
    std::vector<std::int64_t> members{self_};
    for (auto const& message : messages) members.push_back(message.member);
    std::sort(members.begin(), members.end());
    if (std::adjacent_find(members.begin(), members.end()) != members.end())
      fault_ = text("step ", step_, " of member ", self_, " names a member twice, or itself");
  }

  Travelling travelling(ScheduledMessage const& message) {
    Travelling result{message.member, ranges_of(message.ranges, message.counted), 0};
    for (auto const& range : result.ranges) result.size += range.size();
    result.slots = std::max<std::int64_t>(1, (result.size - 1) / input_.slot_cells + 1);
    return result;
  }

  bool act() {
    if (next_ < sends_.size()) return put(sends_[next_]);
    if (!has_worked_) {
      auto const& step = schedule_.steps[step_];
      for (auto const& work : step.work) do_work(work);
      for (auto const& message : step.receives) receives_.push_back(travelling(message));
      has_worked_ = true;
    }
    if (next_ < sends_.size() + receives_.size()) return take(receives_[next_ - sends_.size()]);
    next_ = 0;
    if (are_done(sends_) && are_done(receives_)) end_step();
    return true;
  }

  [[nodiscard]] static bool are_done(std::vector<Travelling> const& messages) {
    return std::all_of(messages.begin(), messages.end(), [](auto const& m) { return m.is_done(); });
  }
  // The cells of a message that its next slot has, as places in the message.
  [[nodiscard]] std::pair<std::int64_t, std::int64_t> next_cells(Travelling const& message) const {
    auto const begin = message.slots_done == 0 ? 0 : message.slots_done * input_.slot_cells;
    return {begin, begin + std::min(message.size - begin, input_.slot_cells)};
  }

  void end_step() {
    for (auto& sent : sends_) {
      std::size_t at = 0;
      visit_cells(sent.ranges, [&](SimulatedCell& cell) {
        if (cell != sent.cells[at++])
          fault_ = text("member ", self_, " writes what it sends in step ", step_);
      });
    }
    ++step_;
    begin_step();
  }

  bool put(Travelling& message) {
    if (!message.is_done()) {
      if (!channels_.has_room(self_, message.member)) return false;
      auto const [begin, end] = next_cells(message);
      channels_.put(self_, message.member,
                    {message.cells.begin() + begin, message.cells.begin() + end});
      ++message.slots_done;
    }
    ++next_;
    return true;
  }

  bool take(Travelling& message) {
    if (!message.is_done()) {
      if (!channels_.has_slot(message.member, self_)) return false;
      store(channels_.take(message.member, self_), message);
      ++message.slots_done;
    }
    ++next_;
    return true;
  }

  void store(SimulatedChannels::Slot slot, Travelling const& message) {
    auto const [begin, end] = next_cells(message);
    if (std::ssize(slot) != end - begin)
      fault_ = text("member ", self_, " expects ", counted(end - begin, "cell"), " of member ",
                    message.member, ", which sent ", slot.size());
    std::int64_t at = 0;
    visit_cells(message.ranges, [&, first = begin](SimulatedCell& cell) {
      auto const place = at++ - first;
      if (0 <= place && place < std::ssize(slot))
        cell = std::move(slot[static_cast<std::size_t>(place)]);
    });
  }

  void do_work(ScheduledWork const& work) {
    auto const from = ranges_of({work.from}, work.counted_from).front();
    auto const to = ranges_of({work.to}, work.counted_to).front();
    if (from.size() != to.size()) {
      fault_ = text("member ", self_, " makes ", to, " of ", from, " in step ", step_);
      return;
    }
    SimulatedBuffer values;
    visit_cells({from}, [&](SimulatedCell& cell) { values.push_back(cell); });
    std::size_t at = 0;
    visit_cells({to}, [&](SimulatedCell& cell) {
      if (work.kind == ScheduledWork::Kind::copy) cell.clear();
      cell.insert(cell.end(), values[at].begin(), values[at].end());
      ++at;
    });
  }

  std::vector<CellRange> ranges_of(std::vector<CellRange> ranges,
                                   std::optional<CountedRange> const& counted) {
    if (!counted) return ranges;
    auto const& counts = member_.buffers.at(counted->counts);
    std::int64_t begin = 0;
    for (std::int64_t part = 0; part < counted->part; ++part)
      begin += counts.at(static_cast<std::size_t>(part)).at(0);
    auto const size = counts.at(static_cast<std::size_t>(counted->part)).at(0);
    return {{counted->buffer, begin, begin + size}};
  }

  template <class Visit>
  void visit_cells(std::vector<CellRange> const& ranges, Visit const& visit) {
    for (auto const& range : ranges) {
      auto& buffer = member_.buffers.at(range.buffer);
      if (range.begin < 0 || range.begin > range.end || range.end > std::ssize(buffer)) {
        fault_ = text("member ", self_, " has no cells ", range);
        continue;
      }
      for (auto i = range.begin; i < range.end; ++i) visit(buffer[static_cast<std::size_t>(i)]);
    }
  }

  SimulationInput const& input_;
  std::int64_t self_;
  SimulatedChannels& channels_;
  Schedule schedule_;
  SimulatedMember member_;
  std::string fault_;
  std::size_t step_ = 0;
  std::vector<Travelling> sends_;
  std::vector<Travelling> receives_;
  std::size_t next_ = 0;  // message of the round: sends, then receives
  bool has_worked_ = false;
};

/// Faults are: members that wait for each other, a message of another size than its reader expects,
/// one that nobody reads, two messages of a step between the same members, and a step that writes
/// what it sends.
[[nodiscard]] inline SimulationResult simulate(SimulationInput const& input) {
  SimulatedChannels channels;
  std::vector<SimulatedPlayer> players;
  players.reserve(static_cast<std::size_t>(input.members));
  for (std::int64_t m = 0; m < input.members; ++m) players.emplace_back(input, m, channels);
  for (bool has_moved = true; has_moved;) {
    has_moved = false;
    for (auto& player : players) has_moved = player.advance() || has_moved;
  }
  SimulationResult result;
  for (auto const& player : players)
    if (result.fault.empty()) result.fault = player.fault();
  for (auto const& player : players)
    if (result.fault.empty() && !player.is_done()) result.fault = player.wait();
  for (auto& player : players) result.members.push_back(player.take_result());
  if (result.fault.empty()) result.fault = channels.unread();
  return result;
}

}  // namespace tessera::test
