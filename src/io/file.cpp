#include "src/io/file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <chrono>
#include <climits>
#include <cstdio>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <thread>

#include <fcntl.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tessera/base/error.hpp"

#include "src/base/detail.hpp"
#include "src/base/log.hpp"
#include "src/base/text.hpp"
#include "src/job/job.hpp"
#include "src/runtime/current_runtime.hpp"
#include "src/runtime/over_processes.hpp"

namespace tessera::detail {
namespace {

constexpr mode_t for_everybody = 0666;
constexpr mode_t all_permissions = 07777;

[[noreturn]] void fail(std::string const& path, char const* what) {
  throw Error(text(printable(path), " cannot be ", what, ": ", std::strerror(errno)));
}

int opened(std::string const& path, int flags, char const* what, mode_t permissions = 0) {
  int const descriptor = ::open(path.c_str(), flags | O_CLOEXEC, permissions);
  if (descriptor < 0) fail(path, what);
  return descriptor;
}

// The folder that a path names a file in.
std::string folder_of(std::string const& path) {
  auto const slash = path.rfind('/');
  if (slash == std::string::npos) return ".";
  return slash == 0 ? "/" : path.substr(0, slash);
}

// Follows links, as opening a file does; a name that is no link is returned unchanged.
std::string behind_links(std::string path) {
  constexpr int most_links = 40;  // as the system follows
  std::array<char, PATH_MAX> to{};
  for (int i = 0; i < most_links; ++i) {
    auto const length = ::readlink(path.c_str(), to.data(), to.size());
    if (length <= 0) break;
    std::string const target(to.data(), static_cast<std::size_t>(length));
    path = target.front() == '/' ? target : folder_of(path) + '/' + target;
  }
  return path;
}

// The names of files that are not complete: those of their paths, this, and a number.
constexpr char const* part_mark = ".part-";
constexpr std::size_t part_digits = 16;

// True if the path leads to the open file. On some file systems a file that was removed while
// somebody has it open keeps a name, so its number of links says nothing.
bool is_at(std::string const& path, int descriptor) {
  struct stat open {};
  struct stat there {};
  return ::fstat(descriptor, &open) == 0 && ::lstat(path.c_str(), &there) == 0 &&
         open.st_ino == there.st_ino && open.st_dev == there.st_dev;
}

// Removes a file of this user, or of the owner that such a file was to have, that no process has
// locked. On some file systems only a file that is open for writing can be locked; a file may also
// forbid its owner to read it.
void remove_if_unlocked(std::string const& path, std::optional<uid_t> owner) {
  constexpr int flags = O_NONBLOCK | O_NOFOLLOW | O_CLOEXEC;
  int descriptor = -1;
  for (int const access : {O_RDWR, O_WRONLY, O_RDONLY})
    if (descriptor < 0) descriptor = ::open(path.c_str(), access | flags);
  if (descriptor < 0) return;
  struct stat about {};
  // While it is locked, nobody who follows this rule replaces it.
  bool const is_abandoned = ::fstat(descriptor, &about) == 0 && S_ISREG(about.st_mode) &&
                            (about.st_uid == ::geteuid() || about.st_uid == owner) &&
                            ::flock(descriptor, LOCK_EX | LOCK_NB) == 0 && is_at(path, descriptor);
  if (is_abandoned) (void)::unlink(path.c_str());
  ::close(descriptor);
}

// Waits until the folder, and so the name, is on the disk. If that is impossible, the file itself
// is still complete.
void sync_folder(std::string const& folder) {
  int const descriptor = ::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC);
  if (descriptor < 0) return;
  (void)::fsync(descriptor);
  ::close(descriptor);
}

// The smallest number that any process passes; numbers below 2^31. Determined bit by bit: if some
// candidate has a 0, those with a 1 are eliminated.
std::int64_t least_over_processes(std::int64_t number) {
  bool is_candidate = true;
  std::int64_t least = 0;
  for (int bit = 30; bit >= 0; --bit) {
    bool const has_one = ((number >> bit) & 1) != 0;
    std::byte has_zero{static_cast<unsigned char>(is_candidate && !has_one ? 1 : 0)};
    or_over_processes({&has_zero, 1}, {}, {"which reads or writes a file"});
    if (has_zero == std::byte{0})
      least |= std::int64_t{1} << bit;
    else if (has_one)
      is_candidate = false;
  }
  return least;
}

}  // namespace

File::File(std::string path, int descriptor) : path_(std::move(path)), descriptor_(descriptor) {}

File::~File() {
  if (descriptor_ >= 0) ::close(descriptor_);
}

File File::open_to_read(std::string const& path) {
  // Refuses a pipe without a writer by its type, instead of waiting for it.
  return {path, opened(path, O_RDONLY | O_NONBLOCK, "opened")};
}

File File::open_to_write(std::string const& path) {
  return {path, opened(path, O_WRONLY, "opened for writing")};
}

File File::create(std::string const& path, mode_t permissions) {
  return {path, opened(path, O_WRONLY | O_CREAT | O_EXCL, "made", permissions)};
}

std::int64_t File::size_bytes() const {
  struct stat about {};
  if (::fstat(descriptor_, &about) != 0) fail(path_, "looked at");
  if (!S_ISREG(about.st_mode)) throw Error(text(printable(path_), " is not a regular file"));
  return about.st_size;
}

void File::read_at(std::int64_t offset, std::span<std::byte> into) const {
  while (!into.empty()) {
    auto const n = ::pread(descriptor_, into.data(), into.size(), offset);
    if (n < 0 && errno == EINTR) continue;
    if (n < 0) fail(path_, "read");
    if (n == 0)
      throw Error(text(printable(path_), " ends at byte ", offset, ", before the last cell"));
    offset += n;
    into = into.subspan(static_cast<std::size_t>(n));
  }
}

void File::write_at(std::int64_t offset, std::span<std::byte const> bytes) const {
  while (!bytes.empty()) {
    auto const n = ::pwrite(descriptor_, bytes.data(), bytes.size(), offset);
    if (n < 0 && errno == EINTR) continue;
    if (n <= 0) fail(path_, "written");
    offset += n;
    bytes = bytes.subspan(static_cast<std::size_t>(n));
  }
}

void File::resize(std::int64_t bytes) const {
  if (::ftruncate(descriptor_, bytes) != 0) fail(path_, "made as large as the array");
}

void File::belong_to(uid_t owner, gid_t group, mode_t permissions) const {
  struct stat about {};
  if (::fstat(descriptor_, &about) != 0) fail(path_, "looked at");
  bool const does_already = about.st_uid == owner && about.st_gid == group;
  // Some mounts let nobody change an owner, not even to the same one. First the owner: a change of
  // it takes the permission to act as the owner away.
  if (!does_already && ::fchown(descriptor_, owner, group) != 0)
    throw Error(text(printable(path_), " cannot be given to user ", owner, " and group ", group,
                     ", whose file it is to replace: ", std::strerror(errno),
                     "; save under another name, or remove that file first"));
  if (::fchmod(descriptor_, permissions) != 0) fail(path_, "given the permissions of the old file");
}

bool File::lock() const {
  constexpr int most_looks = 1000;
  int looks = 0;
  while (::flock(descriptor_, LOCK_EX | LOCK_NB) != 0) {
    if (errno == EINTR) continue;
    if (errno != EWOULDBLOCK) break;  // no locks here
    if (++looks == most_looks)
      throw Error(text(printable(path_), " stays locked by another process"));
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return is_at(path_, descriptor_);
}

void File::sync() const {
  if (::fsync(descriptor_) != 0) fail(path_, "written to the disk");
}

FileAside::FileAside(std::string path, std::uint64_t number)
    : path_(behind_links(std::move(path))) {
  std::array<char, 20> digits{};
  std::snprintf(digits.data(), digits.size(), "%016llx", static_cast<unsigned long long>(number));
  aside_ = path_ + part_mark + digits.data();
}

FileAside::~FileAside() {
  if (file_ && ::unlink(aside_.c_str()) != 0)
    log_warning(text(printable(aside_), " cannot be removed: ", std::strerror(errno)));
}

std::optional<FileAside::Attributes> FileAside::replaced() const {
  if (path_.empty()) throw Error("the path of the file is empty; name one");
  struct stat about {};
  if (::stat(path_.c_str(), &about) != 0) {
    if (errno == ENOENT) return {};
    fail(path_, "looked at");
  }
  if (!S_ISREG(about.st_mode))
    throw Error(text(printable(path_), " is ",
                     S_ISDIR(about.st_mode) ? "a folder" : "not a regular file",
                     ", which a file cannot replace; name another"));
  // A folder's owner may replace any file in it. Writing the file itself takes more.
  if (::faccessat(AT_FDCWD, path_.c_str(), W_OK, AT_EACCESS) != 0) fail(path_, "replaced");
  return Attributes{about.st_uid, about.st_gid, about.st_mode & all_permissions};
}

File const& FileAside::create() {
  auto const old = replaced();
  remove_abandoned(old ? std::optional(old->owner) : std::nullopt);
  // Nobody else may open it before it belongs to whom it should. Another process that removes
  // abandoned files may take it for one before it is locked.
  do {
    file_.reset();
    file_.emplace(File::create(aside_, old ? S_IRUSR | S_IWUSR : for_everybody));
  } while (!file_->lock());
  if (old) file_->belong_to(old->owner, old->group, old->permissions);
  return *file_;
}

// Leaves alone what is not sure to be such a file.
void FileAside::remove_abandoned(std::optional<uid_t> owner) const {
  auto const folder = folder_of(path_);
  auto const begin = path_.substr(path_.rfind('/') + 1) + part_mark;
  std::error_code error;
  for (std::filesystem::directory_iterator entry(folder, error), end; !error && entry != end;
       entry.increment(error)) {
    auto const name = entry->path().filename().string();
    bool const is_part =
        name.size() == begin.size() + part_digits && name.starts_with(begin) &&
        name.find_first_not_of("0123456789abcdef", begin.size()) == std::string::npos;
    if (is_part) remove_if_unlocked(entry->path(), owner);
  }
}

void FileAside::take_place() {
  if (::rename(aside_.c_str(), path_.c_str()) != 0) fail(path_, "replaced by the new file");
  file_.reset();
  sync_folder(folder_of(path_));
}

std::optional<Spoken> first_to_speak(std::string const& own) {
  constexpr std::size_t most_shown = 1024;
  std::byte any{static_cast<unsigned char>(own.empty() ? 0 : 1)};
  or_over_processes({&any, 1}, {}, {"which reads or writes a file"});
  if (any == std::byte{0}) return std::nullopt;
  constexpr std::int64_t nobody = 0x7fff'ffff;
  auto const self = job().self().value();
  auto const speaker = least_over_processes(own.empty() ? nobody : self);
  std::array<char, most_shown> words{};
  if (speaker == self) own.copy(words.data(), words.size() - 1);
  or_over_processes(std::as_writable_bytes(std::span(words)), {}, {"which reads or writes a file"});
  return Spoken{words.data(), ProcessId(speaker)};
}

void SharedFailure::throw_alike() {
  auto const first = first_to_speak(first_);
  if (!first) return;
  auto const where =
      job().process_count() > 1 ? text(" (process ", first->process, ")") : std::string();
  throw Error(first->words + where);
}

FileFacts facts_of(File const& file, std::int64_t header_bytes) {
  FileFacts facts;
  facts.size_bytes = file.size_bytes();
  std::string header(static_cast<std::size_t>(std::min(facts.size_bytes, header_bytes)), '\0');
  file.read_at(0, std::as_writable_bytes(std::span(header)));
  facts.header_hash = hash_text(header);
  if (::gethostname(facts.host.data(), facts.host.size()) != 0) facts.host = {'?'};
  return facts;
}

void check_same_file(std::string const& path, FileFacts const& firsts,
                     std::optional<FileFacts> const& own, char const* caller) {
  auto const seen = [](FileFacts const& facts, ProcessId process) {
    return text(counted(facts.size_bytes, "byte"), " on ", printable(facts.host.data()),
                " (process ", process, ')');
  };
  std::string reason;
  bool const is_as_long = own && own->size_bytes == firsts.size_bytes;
  if (own && !(is_as_long && own->header_hash == firsts.header_hash))
    reason = text(excerpt(path), " is not the same file everywhere: ", seen(firsts, ProcessId{0}),
                  ", ", seen(*own, job().self()), is_as_long ? " with another header" : "",
                  firsts.host == own->host
                      ? "; do not replace it meanwhile, and start all processes in one folder"
                      : "; copy one file to every host, or name one that all of them see");
  if (auto const first = first_to_speak(reason)) throw Mismatch(text(caller, ": ", first->words));
}

void check_same_everywhere(std::string const& path, char const* caller) {
  auto const hash = hash_text(path);
  std::array<std::uint64_t, 2> both{hash, ~hash};
  or_over_processes(std::as_writable_bytes(std::span(both)), {}, {"which reads or writes a file"});
  if ((both[0] & both[1]) != 0)
    throw UsageError(text(caller, ": the processes name different files, this one ",
                          printable(path), "; pass the same path on every process"));
}

void share_from_first(std::span<std::byte> bytes) {
  if (job().self() != ProcessId{0}) std::fill(bytes.begin(), bytes.end(), std::byte{0});
  or_over_processes(bytes, {}, {"which reads or writes a file"});
}

}  // namespace tessera::detail
