#pragma once
/// @file
/// Memory for the programs written by hand.

#include <cstddef>
#include <cstdint>
#include <cstdlib>
#include <memory>
#include <new>

#include <sys/mman.h>

namespace raw {

inline constexpr std::int64_t line_doubles = 8;  // 64 bytes

/// n rounded up to whole cache lines of doubles.
[[nodiscard]] constexpr std::int64_t whole_lines(std::int64_t n) {
  return (n + line_doubles - 1) / line_doubles * line_doubles;
}

struct Free {
  void operator()(double* memory) const { std::free(memory); }
};
using Doubles = std::unique_ptr<double[], Free>;

/// So many bytes from the start of a cache line on; large blocks in huge pages, if the system has
/// them. Null if there is no memory.
[[nodiscard]] inline double* allocate(std::size_t size_bytes) {
  constexpr std::size_t huge_page = std::size_t{2} << 20;
  if (size_bytes < 2 * huge_page)
    return static_cast<double*>(std::aligned_alloc(line_doubles * sizeof(double), size_bytes));
  auto const whole_pages = (size_bytes + huge_page - 1) / huge_page * huge_page;
  void* const memory = std::aligned_alloc(huge_page, whole_pages);
  if (memory != nullptr) ::madvise(memory, whole_pages, MADV_HUGEPAGE);
  return static_cast<double*>(memory);
}

/// So many doubles, set to 0, from the start of a cache line on.
[[nodiscard]] inline Doubles make_doubles(std::int64_t n) {
  Doubles result(allocate(static_cast<std::size_t>(whole_lines(n)) * sizeof(double)));
  if (result == nullptr) throw std::bad_alloc();
  for (std::int64_t i = 0; i < n; ++i) result[static_cast<std::size_t>(i)] = 0;
  return result;
}

/// Where piece `p` of `pieces` of n cells begins: the first n mod pieces ones have one more.
[[nodiscard]] constexpr std::int64_t begin_of(std::int64_t n, std::int64_t pieces, std::int64_t p) {
  return n / pieces * p + (p < n % pieces ? p : n % pieces);
}

}  // namespace raw
