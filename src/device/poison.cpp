#include <cstring>

#include "src/device/host_memory.hpp"

namespace tessera {

#ifdef TESSERA_POISON

void poison(std::byte* data, std::int64_t size_bytes) {
  constexpr std::int64_t word = sizeof poison_pattern;
  std::int64_t done = 0;
  for (; done + word <= size_bytes; done += word) std::memcpy(data + done, &poison_pattern, word);
  if (done < size_bytes)
    std::memcpy(data + done, &poison_pattern, static_cast<std::size_t>(size_bytes - done));
}

bool poisons_memory() {
  return true;
}

#else

void poison(std::byte* /*data*/, std::int64_t /*size_bytes*/) {}

bool poisons_memory() {
  return false;
}

#endif

}  // namespace tessera
