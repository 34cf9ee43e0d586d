#include "src/base/siphash.hpp"

#include <bit>
#include <cstring>

namespace tessera {
namespace {

constexpr std::size_t word_bytes = 8;

// Machines of both byte orders make the same code.
std::uint64_t little_endian(std::uint64_t word) {
  if constexpr (std::endian::native == std::endian::big) return __builtin_bswap64(word);
  return word;
}

}  // namespace

SipHash::SipHash(MacKey const& key)
    : v_{key.low ^ 0x736f6d6570736575U, key.high ^ 0x646f72616e646f6dU ^ 0xeeU,
         key.low ^ 0x6c7967656e657261U, key.high ^ 0x7465646279746573U} {}

void SipHash::round() {
  v_[0] += v_[1];
  v_[1] = std::rotl(v_[1], 13) ^ v_[0];
  v_[0] = std::rotl(v_[0], 32);
  v_[2] += v_[3];
  v_[3] = std::rotl(v_[3], 16) ^ v_[2];
  v_[0] += v_[3];
  v_[3] = std::rotl(v_[3], 21) ^ v_[0];
  v_[2] += v_[1];
  v_[1] = std::rotl(v_[1], 17) ^ v_[2];
  v_[2] = std::rotl(v_[2], 32);
}

void SipHash::take_word(std::uint64_t word) {
  v_[3] ^= word;
  round();
  round();
  v_[0] ^= word;
}

void SipHash::add(std::span<std::byte const> bytes) {
  for (; !bytes.empty() && bytes_ % word_bytes != 0; bytes = bytes.subspan(1)) {
    word_ |= std::to_integer<std::uint64_t>(bytes.front()) << 8 * (bytes_ % word_bytes);
    if (++bytes_ % word_bytes == 0) {
      take_word(word_);
      word_ = 0;
    }
  }
  for (; bytes.size() >= word_bytes; bytes = bytes.subspan(word_bytes)) {
    std::uint64_t word = 0;
    std::memcpy(&word, bytes.data(), word_bytes);
    take_word(little_endian(word));
    bytes_ += word_bytes;
  }
  for (auto const byte : bytes)
    word_ |= std::to_integer<std::uint64_t>(byte) << 8 * (bytes_++ % word_bytes);
}

Mac SipHash::finish() {
  take_word(word_ | bytes_ << 56U);
  Mac result;
  v_[2] ^= 0xeeU;
  for (auto* const half : {&result.low, &result.high}) {
    for (int i = 0; i < 4; ++i) round();
    *half = v_[0] ^ v_[1] ^ v_[2] ^ v_[3];
    v_[1] ^= 0xddU;
  }
  return result;
}

}  // namespace tessera
