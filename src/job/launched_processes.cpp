#include "src/job/launched_processes.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <filesystem>
#include <map>
#include <string>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/types.h>
#include <unistd.h>

#include "src/base/file_bytes.hpp"
#include "src/base/text.hpp"

namespace tessera {
namespace {

namespace files = std::filesystem;

constexpr char const* mark_name = "tessera-start";
constexpr int mark_seals =
    F_SEAL_SHRINK | F_SEAL_GROW;  // only files of memfd_create can carry them

/// Calls `f(entry)` for every entry of a folder that can be read.
template <class F>
void for_each_in(files::path const& folder, F const& f) {
  std::error_code error;
  for (files::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error))
    f(*entry);
}

/// The lookup of variables in the text of /proc/<pid>/environ.
EnvironmentLookup lookup_in(std::string_view variables) {
  return [variables](std::string_view name) -> std::optional<std::string> {
    for (auto rest = variables; !rest.empty();) {
      auto const line = rest.substr(0, rest.find('\0'));
      rest.remove_prefix(std::min(rest.size(), line.size() + 1));
      if (line.size() > name.size() + 1 && line.starts_with(name) && line[name.size()] == '=')
        return std::string(line.substr(name.size() + 1));
    }
    return std::nullopt;
  };
}

/// True if this process acts as its user in all ways, and that is this one's. Root can read the
/// variables of all users, and anybody can name a job and a rank in their own, also to a program
/// that starts with the rights of its owner.
bool is_of_same_user(std::int64_t pid) {
  auto const status = bytes_if_readable(text("/proc/", pid, "/status"));
  constexpr std::string_view mark = "\nUid:";
  auto const found = status.find(mark);
  if (found == std::string::npos) return false;
  auto rest = std::string_view(status).substr(found + mark.size());
  auto const own = text(::geteuid());
  auto const real = take_word(rest);
  auto const effective = take_word(rest);
  auto const saved = take_word(rest);
  return real == own && effective == own && saved == own;
}

/// Reads what a ProgressMark shows. Opens nothing that is not a regular file, since opening a pipe
/// can wait for ever, and reads nothing that another program could cut short meanwhile.
std::optional<Progress> progress_in(files::path const& path) {
  Descriptor const place(::open(path.c_str(), O_PATH | O_CLOEXEC));
  struct stat about {};
  if (place.get() < 0 || ::fstat(place.get(), &about) != 0 || !S_ISREG(about.st_mode))
    return std::nullopt;
  Descriptor const memory(
      ::open(text("/proc/self/fd/", place.get()).c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  if (memory.get() < 0) return std::nullopt;
  auto const seals = ::fcntl(memory.get(), F_GET_SEALS);
  if (seals < 0 || (seals & mark_seals) != mark_seals) return std::nullopt;
  Progress progress;
  if (::pread(memory.get(), &progress, sizeof progress, 0) != sizeof progress) return std::nullopt;
  return progress;
}

/// True if the process belongs to the job; PMI alone names no job, but has one parent for all.
bool is_of_job(LaunchFacts const& facts, ProcessState const& state, LaunchFacts const& own) {
  if (facts.launcher != own.launcher || facts.job != own.job || !facts.process) return false;
  return !own.job.empty() || state.parent == ::getppid();
}

/// The one of several processes of a number that takes part; nothing if that is not clear.
std::optional<LaunchedProcess> member(std::vector<LaunchedProcess> const& all) {
  auto const marked =
      std::find_if(all.begin(), all.end(), [](auto const& process) { return process.progress; });
  if (marked != all.end()) return *marked;
  std::vector<LaunchedProcess> innermost;
  std::copy_if(all.begin(), all.end(), std::back_inserter(innermost), [&](auto const& process) {
    return std::none_of(all.begin(), all.end(),
                        [&](auto const& other) { return other.state.parent == process.pid; });
  });
  return innermost.size() == 1 ? std::optional(innermost.front()) : std::nullopt;
}

}  // namespace

ProgressMark::ProgressMark() : memory_(::memfd_create(mark_name, MFD_CLOEXEC | MFD_ALLOW_SEALING)) {
  if (memory_.get() < 0) return;
  bool const is_made = ::ftruncate(memory_.get(), sizeof(Progress)) == 0 &&
                       ::fcntl(memory_.get(), F_ADD_SEALS, mark_seals) == 0;
  if (!is_made) memory_ = Descriptor();
}

void ProgressMark::show(Progress const& progress) const {
  if (memory_.get() >= 0) (void)!::pwrite(memory_.get(), &progress, sizeof progress, 0);
}

std::optional<Progress> progress_of(std::int64_t pid) {
  std::optional<Progress> found;
  for_each_in(text("/proc/", pid, "/fd"), [&](files::directory_entry const& entry) {
    std::error_code error;
    auto const target = files::read_symlink(entry.path(), error).string();
    if (error || !target.starts_with(text("/memfd:", mark_name))) return;
    if (auto const progress = progress_in(entry.path())) found = progress;
  });
  return found;
}

std::vector<LaunchedProcess> launched_processes(LaunchFacts const& own) {
  if (!own.process) return {};
  std::map<std::int64_t, std::vector<LaunchedProcess>> by_number;
  for_each_in("/proc", [&](files::directory_entry const& entry) {
    auto const name = entry.path().filename().string();
    std::int64_t pid = 0;
    auto const [stop, error] = std::from_chars(name.data(), name.data() + name.size(), pid);
    if (error != std::errc{} || stop != name.data() + name.size()) return;
    if (!is_of_same_user(pid)) return;
    auto const variables = bytes_of_file(text("/proc/", pid, "/environ"));
    if (!variables || variables->empty()) return;  // dead, or not to be read
    auto const facts = launch_facts(lookup_in(*variables));
    auto const state = process_state(pid);
    if (!state || state->is_dead() || !is_of_job(facts, *state, own)) return;
    by_number[*facts.process].push_back({*facts.process, pid, *state, progress_of(pid)});
  });
  std::vector<LaunchedProcess> found;
  for (auto const& [number, all] : by_number)
    if (auto const process = member(all)) found.push_back(*process);
  return found;
}

}  // namespace tessera
