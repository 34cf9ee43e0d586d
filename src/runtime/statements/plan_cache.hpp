#pragma once
/// @file
/// Plans by what they depend on. A hit allocates nothing.

#include <cstddef>
#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "src/execution/compiled_operation.hpp"
#include "src/execution/compiled_statement.hpp"
#include "src/statement/lowering/plan_key.hpp"

namespace tessera {

/// The last plans: at most 256, and not more than 64 MiB of them, as far as estimates tell; the
/// least recently used ones make room. One plan may be larger, and is then the only one.
///
/// Ranks: all processes make plans together, so all keep the same ones.
class PlanCache {
 public:
  static constexpr std::size_t most_entries = 256;
  static constexpr std::int64_t most_bytes = std::int64_t{64} << 20;

  /// `devices`: the most that one process of the job drives.
  explicit PlanCache(std::int64_t devices) : devices_(devices) { entries_.reserve(most_entries); }

  /// The plan of a statement, or of an operation; null if it is not there.
  [[nodiscard]] std::shared_ptr<CompiledStatement> const* find(PlanKey const& key);
  [[nodiscard]] CompiledOperation const* find_operation(PlanKey const& key);
  /// Keeps a plan that is not there.
  std::shared_ptr<CompiledStatement> const& insert(PlanKey const& key,
                                                   std::shared_ptr<CompiledStatement> plan);
  CompiledOperation const& insert(PlanKey const& key, std::unique_ptr<CompiledOperation> plan);

 private:
  struct Entry {
    std::uint64_t hash = 0;
    std::vector<std::uint64_t> words;
    std::shared_ptr<CompiledStatement> plan;
    std::unique_ptr<CompiledOperation> operation;  ///< in place of the plan of a statement
    std::int64_t bytes = 0;
    std::uint64_t used = 0;
  };

  [[nodiscard]] Entry* entry_of(PlanKey const& key);
  Entry& new_entry(PlanKey const& key, std::int64_t device_bytes);
  void make_room(std::int64_t bytes);
  void drop(std::size_t place);

  std::int64_t devices_;
  std::vector<Entry> entries_;
  std::unordered_map<std::uint64_t, std::size_t> by_hash_;
  std::int64_t bytes_ = 0;
  std::uint64_t clock_ = 0;
};

}  // namespace tessera
