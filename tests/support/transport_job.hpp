#pragma once
/// @file
/// The bootstrap of the job that the tests run in.

#include <cstdint>
#include <memory>

#include "src/base/environment.hpp"
#include "src/job/bootstrap.hpp"

namespace tessera::test {

namespace detail {
inline Bootstrap*& job_bootstrap() {
  static Bootstrap* bootstrap = nullptr;
  return bootstrap;
}
}  // namespace detail

/// Main says which job this is; else it is a job of one process.
inline void set_job_bootstrap(Bootstrap& bootstrap) {
  detail::job_bootstrap() = &bootstrap;
}
[[nodiscard]] inline Bootstrap& job_bootstrap() {
  static auto const single = make_single_bootstrap();
  auto* const set = detail::job_bootstrap();
  return set == nullptr ? *single : *set;
}

/// Devices of each process of the job, from TESSERA_DEVICES; one where nothing is said.
inline std::int64_t devices_per_process() {
  return environment_integer("TESSERA_DEVICES", 1).value_or(1);
}

}  // namespace tessera::test
