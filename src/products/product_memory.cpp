#include <cstddef>
#include <memory>
#include <new>

#include "src/products/multiplier.hpp"

namespace tessera {
namespace {

constexpr std::align_val_t line{64};

struct Release {
  void operator()(std::byte* memory) const { ::operator delete[](memory, line); }
};

}  // namespace

std::byte* product_memory(std::size_t bytes) {
  thread_local std::unique_ptr<std::byte[], Release> memory;
  thread_local std::size_t size = 0;
  if (size < bytes) {
    memory.reset(static_cast<std::byte*>(::operator new[](bytes, line)));
    size = bytes;
  }
  return memory.get();
}

}  // namespace tessera
