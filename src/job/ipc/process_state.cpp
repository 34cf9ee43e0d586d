#include "src/job/ipc/process_state.hpp"

#include <cerrno>
#include <fstream>
#include <sstream>
#include <string>

#include <sys/stat.h>

#include "src/base/text.hpp"

namespace tessera {

std::optional<ProcessState> process_state(std::int64_t pid) {
  std::ifstream file(text("/proc/", pid, "/stat"));
  // Only the error "no such process" proves that it has ended.
  if (!file && errno != ENOENT && errno != ESRCH) return ProcessState{};
  std::string line;
  if (!std::getline(file, line)) return std::nullopt;
  // pid (name) state ...: the name may hold anything, so what follows the last parenthesis counts.
  auto const name_end = line.rfind(')');
  if (name_end == std::string::npos) return std::nullopt;
  std::istringstream fields(line.substr(name_end + 1));
  ProcessState found;
  fields >> found.letter;
  constexpr int started_at = 22;
  constexpr int next_field = 4;
  std::string skipped;
  for (int field = next_field; field < started_at; ++field) fields >> skipped;
  fields >> found.started;
  return found;
}

std::int64_t pid_namespace() {
  struct stat status {};
  if (::stat("/proc/self/ns/pid", &status) != 0) return 0;
  return static_cast<std::int64_t>(status.st_ino);
}

}  // namespace tessera
