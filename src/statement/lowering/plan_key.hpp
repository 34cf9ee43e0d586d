#pragma once
/// @file
/// What a plan depends on.

#include <cstdint>
#include <vector>

#include "src/index/affine_map.hpp"
#include "src/statement/statement.hpp"

namespace tessera {

/// Everything a plan depends on, as numbers: two statements with equal keys have equal plans.
class PlanKey {
 public:
  PlanKey() { words_.reserve(1024); }

  /// Describes the current statement: layouts, maps, boxes, which operands are one array, ghost
  /// widths, and halo validity.
  void describe(Statement const& statement);

  [[nodiscard]] std::vector<std::uint64_t> const& words() const { return words_; }
  [[nodiscard]] std::uint64_t hash() const { return hash_; }

 private:
  void add(std::uint64_t word) { words_.push_back(word); }
  void add(std::int64_t word) { words_.push_back(static_cast<std::uint64_t>(word)); }
  void add(Index const& index);
  void add(AffineMap const& map);
  void add_operand(Statement const& statement, std::size_t operand);
  void hash_words();

  std::vector<std::uint64_t> words_;
  std::uint64_t hash_ = 0;
};

}  // namespace tessera
