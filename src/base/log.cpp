#include "src/base/log.hpp"

#include <atomic>
#include <cstdint>
#include <cstdio>
#include <mutex>
#include <set>
#include <string>

#include "src/base/text.hpp"

namespace tessera {
namespace {

constexpr std::size_t most_in_line = 16 * 1024;

std::atomic<std::int64_t> log_process{-1};

void write_line(char const* kind, std::string_view line) {
  auto const process = log_process.load(std::memory_order_relaxed);
  // Of an exception of the program's, nobody has made the text printable before.
  auto const words = excerpt(line, most_in_line, "\n\t");
  auto const whole = process < 0 ? text("tessera: ", kind, words, '\n')
                                 : text("tessera[", process, "]: ", kind, words, '\n');
  std::fwrite(whole.data(), 1, whole.size(), stderr);
  std::fflush(stderr);
}

}  // namespace

void set_log_process(ProcessId process) {
  log_process.store(process.value(), std::memory_order_relaxed);
}

void log_warning(std::string_view line) {
  write_line("warning: ", line);
}

void log_warning_once(std::string_view line) {
  static std::mutex mutex;
  static std::set<std::string, std::less<>> seen;
  {
    std::lock_guard const guard(mutex);
    if (!seen.emplace(line).second) return;
  }
  log_warning(line);
}

void log_error(std::string_view line) {
  write_line("error: ", line);
}

}  // namespace tessera
