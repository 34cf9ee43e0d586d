#include "src/runtime/tree_collectives.hpp"

#include <algorithm>
#include <array>
#include <cstdint>
#include <limits>

#include "src/base/detail.hpp"
#include "src/base/text.hpp"
#include "src/runtime/listener.hpp"

namespace tessera {

void TreeCollectives::or_over_processes(std::span<std::byte> bytes, SourceLocation const& location,
                                        Collective const& collective) {
  note_host_access();
  tools_.failures.guarded([&] { combine(bytes, or_bytes, collective, location); });
}

void TreeCollectives::synchronize() {
  note_host_access();
  tools_.failures.guarded([&] { tools_.devices.synchronize(); });
}

void TreeCollectives::guarded(std::function<void()> const& f) {
  tools_.failures.guarded(f);
}

double TreeCollectives::rendezvous_seconds() {
  tools_.failures.guarded([&] {
    if (!rendezvous_seconds_) rendezvous_seconds_ = measured_seconds();
  });
  return *rendezvous_seconds_;
}

double TreeCollectives::measured_seconds() {
  if (tools_.job.process_count() == 1) return 0;
  constexpr int rounds = 4;  // the first one opens channels
  Collective const collective{"where the time of a message is measured"};
  std::array<std::int64_t, 1> least{std::numeric_limits<std::int64_t>::max()};
  for (int round = 0; round < rounds; ++round) {
    std::array<std::int64_t, 1> nothing{0};
    auto const begin = PhaseTimer::now();
    combine(std::as_writable_bytes(std::span(nothing)), max_numbers, collective);
    if (round > 0) least[0] = std::min(least[0], PhaseTimer::now() - begin);
  }
  combine(std::as_writable_bytes(std::span(least)), max_numbers, collective);
  return static_cast<double>(least[0]) * 1e-9;
}

Caches TreeCollectives::least_caches() {
  tools_.failures.guarded([&] {
    if (!caches_) caches_ = compared_caches();
  });
  return *caches_;
}

Caches TreeCollectives::compared_caches() {
  auto const here = core_caches();
  if (tools_.job.process_count() == 1) return here;
  std::array<std::int64_t, 2> negative{-here.nearest, -here.second};
  combine(std::as_writable_bytes(std::span(negative)), max_numbers,
          {"where the sizes of caches are compared"});
  return {-negative[0], -negative[1]};
}

void TreeCollectives::combine(std::span<std::byte> bytes, CombineBytes how,
                              Collective const& collective, SourceLocation const& location) {
  std::function<void(DeviceTask&)> const call = [&](DeviceTask& task) {
    combine_along_tree(task, bytes, how);
  };
  tools_.devices.finish_messages();
  auto const hash = mix(hash_text(collective.purpose), mix(collective.array, collective.details));
  auto const tag = tools_.log.begin(mix(hash, bytes.size()), location);
  tools_.log.compare(tag, [collective, size = static_cast<std::int64_t>(bytes.size())] {
    return text(collective.purpose,
                collective.array == 0 ? "" : text(" of array ", collective.array), ", ",
                counted(size, "byte"));
  });
  tools_.trees.open(tag);
  // The call and the bytes may end with this function, so no worker may use them after a failure.
  tools_.failures.guarded([&] {
    tools_.dispatcher.post_to_first(call, tag);
    tools_.devices.finish_messages();
  });
}

}  // namespace tessera
