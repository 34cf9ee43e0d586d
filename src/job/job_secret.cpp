#include "src/job/job_secret.hpp"

#include <array>
#include <bit>
#include <cerrno>
#include <cstring>
#include <limits>

#include <sys/random.h>

#include "tessera/base/error.hpp"

#include "src/base/text.hpp"

namespace tessera {

MacKey random_bits() {
  MacKey bits;
  // So few bytes come whole or not at all, and wait only while the system starts.
  while (::getrandom(&bits, sizeof bits, 0) != static_cast<ssize_t>(sizeof bits))
    if (errno != EINTR)
      throw TransportError(text("the system gives no random bits: ", std::strerror(errno)));
  return bits;
}

JobSecret JobSecret::drawn(Bootstrap& bootstrap) {
  // No number is less, so the maximum is what the first process has drawn.
  constexpr auto least = std::numeric_limits<std::int64_t>::min();
  std::array<std::int64_t, 2> numbers{least, least};
  if (bootstrap.self() == ProcessId{0}) {
    auto const bits = random_bits();
    numbers = {std::bit_cast<std::int64_t>(bits.low), std::bit_cast<std::int64_t>(bits.high)};
  }
  bootstrap.max_of_each(numbers);
  return JobSecret(
      {std::bit_cast<std::uint64_t>(numbers[0]), std::bit_cast<std::uint64_t>(numbers[1])});
}

MacKey JobSecret::key(KeyPurpose purpose, std::int64_t from, std::int64_t to) const {
  SipHash hash(bits_);
  hash.add_value(static_cast<std::uint64_t>(purpose));
  hash.add_value(from);
  hash.add_value(to);
  auto const made = hash.finish();
  return {made.low, made.high};
}

}  // namespace tessera
