#include "src/base/siphash.hpp"

#include <algorithm>
#include <cstddef>
#include <cstdint>
#include <vector>

#include <doctest/doctest.h>

using namespace tessera;

TEST_SUITE_BEGIN("base/siphash");

namespace {

constexpr MacKey key{0x0706050403020100, 0x0f0e0d0c0b0a0908};

// 0, 1, 2, ...
std::vector<std::byte> counting(std::size_t size) {
  std::vector<std::byte> bytes(size);
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<std::byte>(i);
  return bytes;
}

Mac mac_of(std::span<std::byte const> bytes, MacKey const& by = key) {
  SipHash hash(by);
  hash.add(bytes);
  return hash.finish();
}

}  // namespace

TEST_CASE("codes are those that the authors of SipHash publish for 128 bits") {
  // The first and last ones were compared with those that OpenSSL computes.
  CHECK(mac_of(counting(0)) == Mac{0xe6a825ba047f81a3, 0x930255c71472f66d});
  CHECK(mac_of(counting(1)) == Mac{0x44af996bd8c187da, 0x45fc229b11597634});
  CHECK(mac_of(counting(2)) == Mac{0xc75da4a48d227781, 0xe4ff0af6de8ba3fc});
  CHECK(mac_of(counting(8)) == Mac{0x61f55862baa9623b, 0xb49714f364e2830f});
  CHECK(mac_of(counting(15)) == Mac{0x11a8b03399e99354, 0xd9c3cf970fec087e});
  CHECK(mac_of(counting(63)) == Mac{0x4a83502f77d15051, 0x7cbd3f979a063e50});
}

TEST_CASE("a code does not depend on the parts in which bytes are passed") {
  auto const bytes = counting(40);
  auto const whole = mac_of(bytes);
  for (std::size_t first = 0; first <= bytes.size(); ++first)
    for (std::size_t second = first; second <= bytes.size(); ++second) {
      SipHash hash(key);
      hash.add(std::span(bytes).first(first));
      hash.add(std::span(bytes).subspan(first, second - first));
      hash.add(std::span(bytes).subspan(second));
      CHECK(hash.finish() == whole);
    }
}

TEST_CASE("another key, another bit and another length make another code") {
  auto const bytes = counting(24);
  auto const right = mac_of(bytes);

  CHECK_FALSE(mac_of(bytes, {key.low ^ 1, key.high}) == right);
  CHECK_FALSE(mac_of(bytes, {key.low, key.high ^ 1}) == right);
  CHECK_FALSE(mac_of(std::span(bytes).first(23)) == right);
  for (std::size_t bit = 0; bit < 8 * bytes.size(); ++bit) {
    auto changed = bytes;
    changed[bit / 8] ^= std::byte{1} << bit % 8;
    CHECK_FALSE(mac_of(changed) == right);
  }
}

TEST_SUITE_END();
