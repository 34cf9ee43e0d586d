#include "src/job/ipc/process_state.hpp"

#include <cerrno>
#include <charconv>
#include <string_view>

#include <sys/stat.h>

#include "src/base/file_bytes.hpp"
#include "src/base/text.hpp"

namespace tessera {

std::optional<ProcessState> process_state(std::int64_t pid) {
  auto const line = bytes_of_file(text("/proc/", pid, "/stat"));
  // Only the error "no such process" proves that it has ended.
  if (!line && errno != ENOENT && errno != ESRCH) return ProcessState{};
  if (!line) return std::nullopt;
  // pid (name) state ...: the name may hold anything, so what follows the last parenthesis counts.
  auto const name_end = line->rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  auto fields = std::string_view(*line).substr(name_end + 1);
  ProcessState found;
  if (auto const letter = take_word(fields); !letter.empty()) found.letter = letter.front();
  auto const parent = take_word(fields);
  std::from_chars(parent.data(), parent.data() + parent.size(), found.parent);
  constexpr int started_at = 22;
  constexpr int next_field = 5;
  for (int field = next_field; field < started_at; ++field) (void)take_word(fields);
  auto const started = take_word(fields);
  std::from_chars(started.data(), started.data() + started.size(), found.started);
  return found;
}

std::int64_t pid_namespace() {
  struct stat status {};
  if (::stat("/proc/self/ns/pid", &status) != 0) return 0;
  return static_cast<std::int64_t>(status.st_ino);
}

}  // namespace tessera
