#pragma once
/// @file
/// A file of this process, and failures of some processes reported to all.

#include <array>
#include <cstddef>
#include <cstdint>
#include <mutex>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include <sys/types.h>

#include "tessera/base/ids.hpp"

namespace tessera::detail {

/// An open file, read and written at offsets.
///
/// Threads: reading and writing, any at once.
/// Throws:  Error with the path and what the system says.
class File {
 public:
  [[nodiscard]] static File open_to_read(std::string const& path);
  [[nodiscard]] static File open_to_write(std::string const& path);
  /// Makes a file that is not there yet, with these permissions less the process's umask.
  [[nodiscard]] static File create(std::string const& path, mode_t permissions);
  File(File&& other) noexcept
      : path_(std::move(other.path_)), descriptor_(std::exchange(other.descriptor_, -1)) {}
  File& operator=(File&&) = delete;
  ~File();

  [[nodiscard]] std::int64_t size_bytes() const;
  /// Fills `into`. Throws: also where the file ends before.
  void read_at(std::int64_t offset, std::span<std::byte> into) const;
  void write_at(std::int64_t offset, std::span<std::byte const> bytes) const;
  void resize(std::int64_t bytes) const;
  /// Locks the file for as long as it is open, where its file system has locks. False if somebody
  /// has removed it.
  /// Throws: also where somebody else keeps it locked for a second.
  [[nodiscard]] bool lock() const;
  /// Sets who owns the file and who may read and write it.
  void belong_to(uid_t owner, gid_t group, mode_t permissions) const;
  /// Waits until what was written is on the disk.
  void sync() const;

 private:
  File(std::string path, int descriptor);

  std::string path_;
  int descriptor_;
};

/// A file that is written under a temporary name and gets its real name when it is complete. Until
/// then the destructor removes it.
///
/// The process that makes it keeps it locked. A file that nobody locks was left by a process that
/// was killed; whoever makes the next one for the same path removes it.
class FileAside {
 public:
  /// Names it in the folder of `path`, or of its link target; `number` distinguishes it from
  /// others.
  FileAside(std::string path, std::uint64_t number);
  FileAside(FileAside const&) = delete;
  FileAside& operator=(FileAside const&) = delete;
  ~FileAside();

  [[nodiscard]] std::string const& path() const { return aside_; }
  /// Makes the file, and keeps it open too. A file that will replace another one gets that one's
  /// owner, group and permissions.
  /// Throws: Error if the other one is no regular file, as a folder or a device; if this user may
  ///         not write it; and if its owner and group cannot be kept.
  [[nodiscard]] File const& create();
  /// Replaces an older file atomically.
  void take_place();

 private:
  struct Attributes {
    uid_t owner;
    gid_t group;
    mode_t permissions;
  };
  [[nodiscard]] std::optional<Attributes> replaced() const;
  void remove_abandoned(std::optional<uid_t> owner) const;

  std::string path_;
  std::string aside_;
  std::optional<File> file_;  ///< while this is to remove it
};

/// What one process has to say to all.
struct Spoken {
  std::string words;  ///< cut short after 1 kB
  ProcessId process;
};

/// The words of the first process that passes any, on all; nothing if none does. Ranks: collective.
[[nodiscard]] std::optional<Spoken> first_to_speak(std::string const& own);

/// Keeps the first failure of this process in a part of a collective call. All processes throw it.
class SharedFailure {
 public:
  /// Calls `body` and keeps what it throws. Threads: any.
  template <class Body>
  void guard(Body const& body) noexcept {
    try {
      body();
    } catch (std::exception const& error) {
      std::lock_guard const lock(mutex_);
      if (first_.empty()) first_ = error.what();
    }
  }
  /// Throws: Error on every process if one of them has failed: the failure of the first such
  /// process. Ranks: collective.
  void throw_alike();

 private:
  std::mutex mutex_;
  std::string first_;
};

/// Throws: UsageError on every process unless all pass the same text. Ranks: collective.
void check_same_everywhere(std::string const& path, char const* caller);

/// What tells a file from another one of the same path, and where it was seen.
struct FileFacts {
  std::int64_t size_bytes = 0;
  std::uint64_t header_hash = 0;
  std::array<char, 65> host{};  ///< its name, with a 0 behind
};
[[nodiscard]] FileFacts facts_of(File const& file, std::int64_t header_bytes);

/// Where hosts have files of their own under one path, the header of one would cut up the cells of
/// another. `own`: what this process sees; empty if it reads nothing.
/// Ranks:  collective.
/// Throws: Mismatch on every process unless all read what process 0 has seen.
void check_same_file(std::string const& path, FileFacts const& firsts,
                     std::optional<FileFacts> const& own, char const* caller);

/// The bytes of process 0 on all. Ranks: collective.
void share_from_first(std::span<std::byte> bytes);

}  // namespace tessera::detail
