#include "src/runtime/variables.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <limits>
#include <span>
#include <string>

#include "tessera/base/error.hpp"

#include "src/base/environment.hpp"
#include "src/base/text.hpp"
#include "src/device/drivers/drivers.hpp"
#include "src/device/emulated/peers.hpp"
#include "src/execution/gpu_channels/gpu_route_choice.hpp"
#include "src/layout/colors.hpp"
#include "src/plan/loop_variables.hpp"
#include "src/runtime/profiler/observer.hpp"
#include "src/transport/network_options.hpp"

namespace tessera {
namespace {

constexpr auto nothing = std::numeric_limits<std::int64_t>::min();

// Reads all variables as their users do, wherever those are.
void read_all(ProcessId self) {
  (void)environment_choice("TESSERA_DEVICE", device_words());
  (void)environment_integer("TESSERA_DEVICES", 1);
  (void)NetworkOptions::from_environment();
  (void)gpu_route_asked_for();
  (void)emulated::limit_of_peers();
  (void)LoopVariables::from_environment();
  (void)colors_asked_for();
  auto const observed = ObserverVariables::from_environment();
  if (observed.trace) check_trace_file(*observed.trace, self);
}

std::string mistake_of(ProcessId self) {
  try {
    read_all(self);
    return "";
  } catch (ConfigError const& error) {
    return error.what();
  }
}

// Returns the words of one process on all of them. `words` of the others count for nothing.
std::string spread(Bootstrap& bootstrap, std::string words, bool is_mine) {
  auto const bytes = bootstrap.max_of(is_mine ? std::ssize(words) : nothing);
  words.resize(static_cast<std::size_t>(bytes));
  std::array<std::int64_t, 64> piece{};
  for (std::size_t at = 0; at < words.size(); at += sizeof piece) {
    auto const count = std::min(words.size() - at, sizeof piece);
    if (is_mine)
      std::memcpy(piece.data(), words.data() + at, count);
    else
      piece.fill(nothing);
    bootstrap.max_of_each(piece);
    std::memcpy(words.data() + at, piece.data(), count);
  }
  return words;
}

}  // namespace

void check_variables(Bootstrap& bootstrap) {
  auto const self = bootstrap.self();
  auto const mistake = mistake_of(self);
  auto const first = bootstrap.max_of(mistake.empty() ? nothing : -self.value());
  if (first == nothing) return;
  if (bootstrap.process_count() == 1) throw ConfigError(mistake);
  auto const words = spread(bootstrap, mistake, first == -self.value());
  throw ConfigError(text(words, " (process ", -first, ')'));
}

}  // namespace tessera
