#pragma once
/// @file
/// Plans by what they depend on. A hit allocates nothing.

#include <cstdint>
#include <memory>
#include <unordered_map>
#include <vector>

#include "tessera/exchange/compiled_statement.hpp"

namespace tessera {

/// Everything a plan depends on, as numbers: two statements with equal keys have equal plans.
class PlanKey {
 public:
  PlanKey() { words_.reserve(1024); }

  /// Describes the statement as it stands: layouts, maps, boxes, which leaves are one array, ghost
  /// widths, and what is fresh.
  void describe(Statement const& statement);

  [[nodiscard]] std::vector<std::uint64_t> const& words() const { return words_; }
  [[nodiscard]] std::uint64_t hash() const { return hash_; }

 private:
  void add(std::uint64_t word) { words_.push_back(word); }
  void add(std::int64_t word) { words_.push_back(static_cast<std::uint64_t>(word)); }
  void add(Index const& index);
  void add(AffineMap const& map);
  void add_leaf(Statement const& statement, std::size_t leaf);
  void hash_words();

  std::vector<std::uint64_t> words_;
  std::uint64_t hash_ = 0;
};

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
