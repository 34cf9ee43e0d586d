#include "wire.hpp"

#include <algorithm>
#include <array>
#include <chrono>

namespace info {
namespace {

using Clock = std::chrono::steady_clock;

constexpr std::int64_t warm_up = 3;
constexpr double sample_seconds = 0.01;

template <class Operation>
double seconds_of(std::int64_t count, Operation const& operation) {
  auto const start = Clock::now();
  for (std::int64_t i = 0; i < count; ++i) operation();
  return std::chrono::duration<double>(Clock::now() - start).count();
}

/// Seconds of one operation. The leader tells the other process how many fit into a sample.
template <class Operation>
double median_seconds(Wire& wire, bool leads, Operation const& operation) {
  auto const one = seconds_of(warm_up, operation) / warm_up;
  auto const fit = std::clamp<std::int64_t>(
      static_cast<std::int64_t>(sample_seconds / std::max(one, 1e-9)), 1, 100'000);
  auto const count = wire.round_trip(leads ? fit : 0);
  std::array<double, 5> samples{};
  for (auto& sample : samples) sample = seconds_of(count, operation) / static_cast<double>(count);
  std::sort(samples.begin(), samples.end());
  return samples[samples.size() / 2];
}

}  // namespace

Timing measure(Wire& wire, bool leads) {
  auto const round_trip = median_seconds(wire, leads, [&] { (void)wire.round_trip(1); });
  auto const stream = median_seconds(wire, leads, [&] { wire.stream(); });
  // The answer is half a round trip, and not part of the stream.
  auto const one_way = std::max(stream - round_trip / 2, stream / 10);
  return {1e6 * round_trip, 1e-9 * static_cast<double>(Wire::stream_bytes) / one_way};
}

}  // namespace info
