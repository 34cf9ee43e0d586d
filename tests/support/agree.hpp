#pragma once
/// @file
/// Checks that come out alike on every process, so that a test that fails on one does not leave the
/// others waiting.

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <exception>
#include <span>
#include <string>

#include <doctest/doctest.h>

#include "tessera/runtime/runtime.hpp"

#include "src/runtime/engine.hpp"
#include "src/runtime/over_processes.hpp"

namespace tessera::test {

/// True if it is true on every process. Ranks: collective.
[[nodiscard]] inline bool agree(bool here) {
  if (engine().job().process_count() == 1) return here;
  std::byte wrong{static_cast<unsigned char>(here ? 0 : 1)};
  detail::or_over_processes({&wrong, 1}, {}, {"where a test compares"});
  return wrong == std::byte{0};
}

/// The sum of everybody's numbers. Ranks: collective. At most 64 processes.
[[nodiscard]] inline std::int64_t total_over_processes(std::int64_t here) {
  constexpr std::size_t most = 64;
  auto const& job = engine().job();
  std::int64_t all[most] = {};
  all[static_cast<std::size_t>(job.self().value())] = here;
  detail::or_over_processes(std::as_writable_bytes(std::span(all)), {}, {"where a test compares"});
  std::int64_t total = 0;
  for (auto const number : all) total += number;
  return total;
}

/// What the statements of `body` sent, over all processes, without routes. Ranks: collective.
template <class Body>
[[nodiscard]] Counters sent_by(Body const& body) {
  auto const before = counters();
  body();
  auto const here = counters() - before;
  return {total_over_processes(here.statements), total_over_processes(here.messages),
          total_over_processes(here.bytes), total_over_processes(here.plans_made)};
}

}  // namespace tessera::test

/// A check that holds only if it holds on every process. Ranks: collective.
#define CHECK_ALL(...) CHECK(::tessera::test::agree(static_cast<bool>(__VA_ARGS__)))
/// `statement` throws `Class` on every process.
#define CHECK_ALL_THROW(statement, Class)              \
  do {                                                 \
    bool threw_as_expected = false;                    \
    std::string what = "nothing";                      \
    try {                                              \
      statement;                                       \
    } catch (Class const& error) {                     \
      threw_as_expected = true;                        \
    } catch (std::exception const& error) {            \
      what = error.what();                             \
    }                                                  \
    INFO(#statement " throws " #Class ", not ", what); \
    CHECK_ALL(threw_as_expected);                      \
  } while (false)
