#pragma once
/// @file
/// Another user that a test acts as.

#include <unistd.h>

namespace tessera::test {

inline constexpr uid_t nobody = 65534;

/// While it lives, this process, which is root's, acts as another user.
class AsUser {
 public:
  explicit AsUser(uid_t user) { (void)::seteuid(user); }
  ~AsUser() { (void)::seteuid(0); }
  AsUser(AsUser const&) = delete;
  AsUser& operator=(AsUser const&) = delete;
};

}  // namespace tessera::test
