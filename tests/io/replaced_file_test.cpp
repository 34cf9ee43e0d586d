// What becomes of a file that save_npy replaces: its owner, its permissions, and whether it may be
// replaced at all.
#include <cerrno>
#include <filesystem>
#include <string>

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tessera/io/npy.hpp"

#include "src/io/file.hpp"

#include "support/arrays.hpp"
#include "support/as_user.hpp"
#include "support/left_out.hpp"

#include "files.hpp"

using namespace tessera;
using test::AsUser;
using test::bytes_of_file;
using test::Folder;
using test::has;
using test::holds;
using test::message;
using test::nobody;
using test::over;

TEST_SUITE_BEGIN("io/replaced_file");

namespace {

struct stat status_of(std::string const& path) {
  struct stat about {};
  (void)::stat(path.c_str(), &about);
  return about;
}
mode_t permissions_of(std::string const& path) {
  return status_of(path).st_mode & 07777;
}

void change_permissions(std::string const& path, mode_t permissions) {
  if (process() == ProcessId(0)) (void)::chmod(path.c_str(), permissions);
  CHECK_ALL(true);
  CHECK_ALL(permissions_of(path) == permissions);
}

// True while no file may be given away, as on some mounts.
bool keeps_owners = false;

}  // namespace

// In place of the C library's.
extern "C" int fchown(int descriptor, uid_t owner, gid_t group) noexcept {
  if (!keeps_owners) return static_cast<int>(::syscall(SYS_fchown, descriptor, owner, group));
  errno = EPERM;
  return -1;
}

TEST_CASE("a file that is replaced keeps its permissions") {
  Folder const folder;
  auto const path = folder.put("u.npy", "old");
  auto const u = iota<double>({10}, over(8));
  for (mode_t const permissions : {0640U, 0600U, 0666U, 0755U}) {
    change_permissions(path, permissions);
    save_npy(path, u);
    CHECK_ALL(permissions_of(path) == permissions);
  }
  CHECK(holds(load_npy<double, 1>(path, over(8)), {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  CHECK_ALL(folder.count() == 1);
}

TEST_CASE("a new file has the permissions of any new file") {
  Folder const folder;
  auto const u = iota<double>({10}, over(8));
  auto const mask = ::umask(0);
  (void)::umask(mask);
  save_npy(folder / "u.npy", u);
  CHECK_ALL(permissions_of(folder / "u.npy") == (0666U & ~mask));
}

TEST_CASE("a file that is replaced keeps its owner and group") {
  if (test::left_out_if(::geteuid() != 0, "only root may give a file away")) return;
  Folder const folder;
  auto const path = folder.put("u.npy", "old");
  if (process() == ProcessId(0)) {
    (void)::chmod(path.c_str(), 0600);
    (void)::chown(path.c_str(), nobody, nobody);
  }
  CHECK_ALL(true);
  CHECK_ALL(status_of(path).st_uid == nobody);
  save_npy(path, iota<double>({10}, over(8)));
  CHECK_ALL(status_of(path).st_uid == nobody);
  CHECK_ALL(status_of(path).st_gid == nobody);
  CHECK_ALL(permissions_of(path) == 0600);
}

TEST_CASE("where no owner can be set, a file of the right one is replaced") {
  Folder const folder;
  auto const path = folder.put("u.npy", "old");
  change_permissions(path, 0640);
  keeps_owners = true;
  save_npy(path, iota<double>({10}, over(8)));
  keeps_owners = false;
  CHECK(holds(load_npy<double, 1>(path, over(8)), {0, 1, 2, 3, 4, 5, 6, 7, 8, 9}));
  CHECK_ALL(permissions_of(path) == 0640);
  CHECK_ALL(folder.count() == 1);
}

TEST_CASE("a file that this user may not write is left alone") {
  if (test::left_out_if(::geteuid() != 0, "it acts as another user")) return;
  Folder const folder;
  auto const path = folder.put("u.npy", "old");
  change_permissions(path, 0644);
  auto const u = iota<double>({10}, over(8));
  std::filesystem::permissions(std::filesystem::path(path).parent_path(),
                               std::filesystem::perms::all);
  CHECK_ALL(true);
  {
    AsUser const other(nobody);
    CHECK(has(message<Error>([&] { save_npy(path, u); }), "Permission denied"));
  }
  CHECK_ALL(bytes_of_file(path) == "old");
  CHECK_ALL(folder.count() == 1);
}

TEST_CASE("a file whose owner cannot be kept is left alone") {
  if (test::left_out_if(::geteuid() != 0, "it acts as another user")) return;
  Folder const folder;
  auto const path = folder.put("u.npy", "old");
  change_permissions(path, 0666);  // anybody may write into it, but only root can make one like it
  auto const u = iota<double>({10}, over(8));
  std::filesystem::permissions(std::filesystem::path(path).parent_path(),
                               std::filesystem::perms::all);
  CHECK_ALL(true);
  {
    AsUser const other(nobody);
    CHECK(has(message<Error>([&] { save_npy(path, u); }), "cannot be given to user 0"));
  }
  CHECK_ALL(bytes_of_file(path) == "old");
  CHECK_ALL(folder.count() == 1);
}

TEST_CASE("a link that leads to itself is left alone") {
  Folder const folder;
  auto const path = folder / "u.npy";
  if (process() == ProcessId(0)) std::filesystem::create_symlink("u.npy", path);
  CHECK_ALL(true);
  CHECK(has(message<Error>([&] { save_npy(path, iota<double>({10}, over(8))); }),
            "Too many levels of symbolic links"));
  CHECK_ALL(std::filesystem::is_symlink(path));
  CHECK_ALL(folder.count() == 1);
}

TEST_CASE("a file is locked while it is open, unless somebody has removed it") {
  Folder const folder;
  if (process().value() != 0) return;
  auto const path = folder / "file";
  auto const file = detail::File::create(path, 0600);
  CHECK(file.lock());
  CHECK_THROWS_WITH_AS((void)detail::File::open_to_write(path).lock(),
                       (path + " stays locked by another process").c_str(), Error);

  auto const removed = detail::File::create(folder / "removed", 0600);
  std::filesystem::remove(folder / "removed");
  CHECK_FALSE(removed.lock());
  auto const again = detail::File::create(folder / "removed", 0600);
  CHECK_FALSE(removed.lock());
  CHECK(again.lock());
}

TEST_SUITE_END();
