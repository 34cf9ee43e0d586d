#pragma once
/// @file
/// Plans by what they depend on. A hit allocates nothing.

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "src/execution/compiled_statement.hpp"
#include "src/statement/lowering/plan_key.hpp"

namespace tessera {

/// The last 256 plans; the least recently used one makes room.
class PlanCache {
 public:
  PlanCache() { entries_.reserve(most_entries); }

  [[nodiscard]] std::shared_ptr<CompiledStatement> const* find(PlanKey const& key);
  std::shared_ptr<CompiledStatement> const& insert(PlanKey const& key,
                                                   std::shared_ptr<CompiledStatement> plan);

 private:
  struct Entry {
    std::uint64_t hash = 0;
    std::vector<std::uint64_t> words;
    std::shared_ptr<CompiledStatement> plan;
    std::uint64_t used = 0;
  };
  static constexpr std::size_t most_entries = 256;

  [[nodiscard]] std::size_t room();

  std::vector<Entry> entries_;
  std::unordered_map<std::uint64_t, std::size_t> by_hash_;
  std::uint64_t clock_ = 0;
};

}  // namespace tessera
