#include <set>

#include <doctest/doctest.h>

#include "src/base/detail.hpp"

using namespace tessera;

TEST_SUITE_BEGIN("base/hash");

// Programs compare hashes of different processes, and users those of different runs: the values are
// part of the interface.

TEST_CASE("the scrambler gives the first numbers of SplitMix64") {
  // The published generator adds its constant before each finaliser: seed 0 gives these.
  CHECK(scramble(0) == 0xe220a8397b1dcdafULL);
  CHECK(scramble(0x9e3779b97f4a7c15ULL) == 0x6e789e6aa1b965f4ULL);
}

TEST_CASE("the hash of text is FNV-1a") {
  CHECK(hash_text("") == 0xcbf29ce484222325ULL);
  CHECK(hash_text("a") == 0xaf63dc4c8601ec8cULL);
  CHECK(hash_text("foobar") == 0x85944171f73967e8ULL);
}

TEST_CASE("the hash of a pair depends on the order") {
  CHECK(mix(1, 2) == mix(1, 2));
  CHECK(mix(1, 2) != mix(2, 1));
  CHECK(mix(mix(0, 1), 2) == 0xd97d4205fdab0823ULL);
}

TEST_CASE("different numbers stay different") {
  std::set<std::uint64_t> seen;
  for (std::uint64_t x = 0; x < 10'000; ++x) seen.insert(scramble(x));

  CHECK(seen.size() == 10'000);
}

TEST_CASE("the bits of a value are its bytes, padded with zeros") {
  CHECK(bits_of(1.0) == 0x3ff0000000000000ULL);
  CHECK(bits_of(1.0F) == 0x3f800000ULL);
  CHECK(bits_of(std::int8_t{-1}) == 0xffULL);
  CHECK(bits_of(-0.0) != bits_of(0.0));
}

TEST_SUITE_END();
