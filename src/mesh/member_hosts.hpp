#pragma once
/// @file
/// The hosts on which the members of a group run, such as the devices of a job.

#include <algorithm>
#include <cstdint>

namespace tessera {

/// Where the members of a group run: the first `per_host` on one host, the next ones on another;
/// the last host may have fewer. `per_host` is 1 or more.
struct MemberHosts {
  std::int64_t members = 1;
  std::int64_t per_host = 1;

  [[nodiscard]] std::int64_t count() const { return (members + per_host - 1) / per_host; }
  [[nodiscard]] std::int64_t host_of(std::int64_t member) const { return member / per_host; }
  [[nodiscard]] std::int64_t first(std::int64_t host) const { return host * per_host; }
  [[nodiscard]] std::int64_t size(std::int64_t host) const {
    return std::min(per_host, members - first(host));
  }
  friend bool operator==(MemberHosts const&, MemberHosts const&) = default;
};

}  // namespace tessera
