#pragma once
/// @file
/// Counts what this thread allocates. Replaces the global operator new: include it in one source
/// file of a test program only.

#include <cstdint>
#include <cstdlib>
#include <new>

namespace tessera::test {

inline thread_local std::int64_t allocations_of_thread = 0;
inline thread_local std::int64_t bytes_allocated_by_thread = 0;

/// The allocations of this thread since the object was made.
class CountAllocations {
 public:
  CountAllocations() : before_(allocations_of_thread), bytes_before_(bytes_allocated_by_thread) {}
  [[nodiscard]] std::int64_t count() const { return allocations_of_thread - before_; }
  /// What was allocated, also if it was freed since.
  [[nodiscard]] std::int64_t bytes() const { return bytes_allocated_by_thread - bytes_before_; }

 private:
  std::int64_t before_;
  std::int64_t bytes_before_;
};

}  // namespace tessera::test

// Algorithms that can do without memory, such as std::stable_sort, ask for it so.
void* operator new(std::size_t size_bytes, std::nothrow_t const&) noexcept {
  ++tessera::test::allocations_of_thread;
  tessera::test::bytes_allocated_by_thread += static_cast<std::int64_t>(size_bytes);
  return std::malloc(size_bytes == 0 ? 1 : size_bytes);
}
void* operator new(std::size_t size_bytes) {
  if (void* const memory = operator new(size_bytes, std::nothrow)) return memory;
  throw std::bad_alloc();
}
// GCC does not see that the memory comes from the malloc above.
#pragma GCC diagnostic push
#pragma GCC diagnostic ignored "-Wmismatched-new-delete"
void operator delete(void* memory) noexcept {
  std::free(memory);
}
void operator delete(void* memory, std::size_t) noexcept {
  std::free(memory);
}
#pragma GCC diagnostic pop
