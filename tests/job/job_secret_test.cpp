#include "src/job/job_secret.hpp"

#include <set>
#include <utility>

#include <doctest/doctest.h>

#include "support/fake_job.hpp"
#include "support/secrets.hpp"

using namespace tessera;
using namespace tessera::test;

TEST_SUITE_BEGIN("job/job_secret");

namespace {

constexpr ProcessId zero{0};
constexpr ProcessId one{1};

}  // namespace

TEST_CASE("all processes of a job have the secret of the first, and the next job has another") {
  FakeJob job(3);
  FakeJob next(1);
  auto const key_of = [](Bootstrap& bootstrap) {
    return JobSecret::drawn(bootstrap).key(KeyPurpose::request, zero, one);
  };
  auto const first = key_of(job[0]);

  CHECK(key_of(job[1]) == first);
  CHECK(key_of(job[2]) == first);
  bool const is_same = key_of(next[0]) == first;
  CHECK_FALSE(is_same);
}

TEST_CASE("each purpose, direction and pair has a key of its own") {
  auto const secret = own_secret();
  std::set<std::pair<std::uint64_t, std::uint64_t>> keys;
  int made = 0;
  auto const add = [&](MacKey const& key) {
    keys.insert({key.low, key.high});
    ++made;
  };
  for (int purpose = 0; purpose <= static_cast<int>(KeyPurpose::heartbeat); ++purpose)
    for (std::int64_t from = 0; from < 4; ++from)
      for (std::int64_t to = 0; to < 4; ++to)
        add(secret.key(static_cast<KeyPurpose>(purpose), ProcessId(from), ProcessId(to)));
  add(secret_of_another_job().key(KeyPurpose::request, zero, one));

  CHECK(static_cast<int>(keys.size()) == made);
}

TEST_CASE("random bits do not repeat") {
  bool const are_equal = random_bits() == random_bits();
  CHECK_FALSE(are_equal);
}

TEST_SUITE_END();
