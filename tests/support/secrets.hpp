#pragma once
/// @file
/// Secrets of jobs that tests make up.

#include "src/job/job_secret.hpp"

namespace tessera::test {

inline JobSecret own_secret() {
  return JobSecret({0x0123456789abcdef, 0xfedcba9876543210});
}
inline JobSecret secret_of_another_job() {
  return JobSecret({0x0123456789abcdef, 0xfedcba9876543211});
}

}  // namespace tessera::test
