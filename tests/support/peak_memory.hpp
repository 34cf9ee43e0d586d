#pragma once
/// @file
/// How much memory something takes at most.

#include <cstdint>
#include <fstream>
#include <optional>
#include <string>

namespace tessera::test {

/// A line of /proc/self/status, in bytes; nothing if there is none.
[[nodiscard]] inline std::optional<std::int64_t> status_bytes(std::string const& name) {
  std::ifstream file("/proc/self/status");
  for (std::string line; std::getline(file, line);)
    if (line.rfind(name + ":", 0) == 0) return std::stoll(line.substr(name.size() + 1)) * 1024;
  return std::nullopt;
}

/// By how many bytes the memory of this process grows at most while `f` runs. Nothing where the
/// system does not say.
template <class F>
[[nodiscard]] std::optional<std::int64_t> peak_growth(F const& f) {
  std::ofstream reset("/proc/self/clear_refs");
  reset << "5" << std::flush;  // the highest mark becomes what there is
  bool const is_reset = reset.good();
  auto const before = status_bytes("VmRSS");
  f();
  auto const peak = status_bytes("VmHWM");
  if (!is_reset || !before || !peak) return std::nullopt;
  return *peak - *before;
}

}  // namespace tessera::test
