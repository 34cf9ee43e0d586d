#pragma once
/// @file
/// Times of one device, statement by statement: written while tasks run, read after they have
/// ended. All memory is allocated beforehand.

#include <array>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <vector>

namespace tessera {

/// The phases of a device's work on a statement. `statement` is all of it.
enum class Phase : std::uint8_t {
  kernel,  ///< computes
  pack,    ///< packs, puts, unpacks and copies cells
  wait,    ///< waits for a free slot or for a message
  statement,
};
inline constexpr std::size_t phase_count = 3;  ///< without `statement`

/// A stretch of time of one device, for a trace.
struct Span {
  std::int64_t begin_ns = 0;
  std::int64_t end_ns = 0;
  std::uint32_t row = 0;
  Phase phase = Phase::statement;
};

/// The last spans of a device.
class SpanRing {
 public:
  SpanRing() = default;
  explicit SpanRing(std::size_t capacity) : spans_(capacity) {}

  [[nodiscard]] bool is_on() const { return !spans_.empty(); }
  void add(Span const& span) { spans_[count_++ % spans_.size()] = span; }
  [[nodiscard]] std::uint64_t overwritten() const {
    return count_ > spans_.size() ? count_ - spans_.size() : 0;
  }
  /// Calls visit(span), oldest first.
  template <class Visit>
  void visit(Visit const& visit) const {
    for (auto i = overwritten(); i < count_; ++i) visit(spans_[i % spans_.size()]);
  }

 private:
  std::vector<Span> spans_;
  std::uint64_t count_ = 0;
};

/// The timer of one device. It divides a statement's time into phases: `end_of` assigns the time
/// since the last call to a phase.
///
/// Threads: the device's; others while it is idle.
class PhaseTimer {
 public:
  using Times = std::array<std::int64_t, phase_count>;  ///< nanoseconds by Phase

  PhaseTimer(std::size_t rows, std::size_t spans) : times_(rows), ring_(spans) {}

  void begin(std::size_t row) {
    row_ = row;
    began_ = last_ = now();
  }
  void end_of(Phase phase) { add(phase, now()); }
  /// Two kernels have run in turn since `begin`, that of this row for so long: the rest of the time
  /// is that of the other row's. Ends both, as if one had followed the other.
  void end_of_two_kernels(std::size_t other, std::int64_t first_ns) {
    auto const time = now();
    for (auto const until : {last_ + first_ns, time}) {
      add(Phase::kernel, until);
      end();
      row_ = other;
      began_ = until;
    }
  }
  void end() {
    if (ring_.is_on())
      ring_.add({began_, last_, static_cast<std::uint32_t>(row_), Phase::statement});
  }

  [[nodiscard]] Times const& times(std::size_t row) const { return times_[row]; }
  [[nodiscard]] SpanRing const& ring() const { return ring_; }

  /// Nanoseconds of a clock that only goes forward.
  [[nodiscard]] static std::int64_t now() {
    return std::chrono::duration_cast<std::chrono::nanoseconds>(
               std::chrono::steady_clock::now().time_since_epoch())
        .count();
  }

 private:
  void add(Phase phase, std::int64_t until) {
    times_[row_][static_cast<std::size_t>(phase)] += until - last_;
    if (ring_.is_on()) ring_.add({last_, until, static_cast<std::uint32_t>(row_), phase});
    last_ = until;
  }

  std::vector<Times> times_;
  SpanRing ring_;
  std::size_t row_ = 0;
  std::int64_t began_ = 0;
  std::int64_t last_ = 0;
};

}  // namespace tessera
