#pragma once
/// @file
/// The numbers of the statements that a piece of a program runs, as the processes compare them
/// (TESSERA_CHECK=numbers).

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "src/base/detail.hpp"
#include "src/base/text.hpp"
#include "src/runtime/listener.hpp"
#include "src/statement/numbers.hpp"

#include "support/dirty_stack.hpp"

namespace tessera::test {

/// Notes the statements of this process during its lifetime.
class NotedNumbers final : public Listener {
 public:
  void note(Statement const& statement) override {
    hashes.push_back(hash_of_numbers(statement));
    lists.push_back(list_of_numbers(statement));
  }
  void note(Operation const& operation) override {
    for (auto const* statement : operation.statements) note(*statement);
  }
  void note(ReplayedSteps const&) override {}
  [[nodiscard]] bool note(KeptValue const&) override { return false; }
  void note_move(std::shared_ptr<ArrayModel> const&) noexcept override {}
  void note_host_access() override {}
  [[nodiscard]] std::string_view reason_to_run_bodies() const override {
    return "a test notes every number";
  }

  std::vector<std::uint64_t> hashes;
  std::vector<std::string> lists;
};

/// A hash of the numbers of all statements that `body` runs.
template <class Body>
[[nodiscard]] std::uint64_t hash_of(Body const& body) {
  NotedNumbers numbers;
  body();
  std::uint64_t hash = 0;
  for (auto const one : numbers.hashes) hash = mix(hash, one);
  return hash;
}
/// Their numbers, with bars between statements.
template <class Body>
[[nodiscard]] std::string list_of(Body const& body) {
  NotedNumbers numbers;
  body();
  return join(numbers.lists, "", "", " | ");
}

/// Checks that `body` has the same numbers again, whatever the stack held before.
template <class Body>
void check_is_steady(Body const& body) {
  dirty_stack(0x55);
  auto const one = hash_of(body);
  dirty_stack(0xaa);
  CHECK(hash_of(body) == one);
}

}  // namespace tessera::test
