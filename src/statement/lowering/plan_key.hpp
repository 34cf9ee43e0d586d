#pragma once
/// @file
/// What a plan depends on.

#include <cstdint>
#include <span>
#include <vector>

#include "src/index/affine_map.hpp"
#include "src/statement/statement.hpp"

namespace tessera {

/// Everything a plan depends on, as numbers: two statements with equal keys have equal plans.
class PlanKey {
 public:
  PlanKey() = default;
  PlanKey(PlanKey const&) = delete;
  PlanKey& operator=(PlanKey const&) = delete;

  /// Describes the current statement: layouts, maps, boxes, which operands are one array, ghost
  /// widths, and halo validity.
  void describe(Statement const& statement);
  /// Describes statements that run as one, divided into steps that read no ghost cells. `steps`: a
  /// hash of how they are divided.
  void describe(std::span<Statement const* const> statements, std::uint64_t steps);

  [[nodiscard]] std::span<std::uint64_t const> words() const { return {words_.data(), next_}; }
  [[nodiscard]] std::uint64_t hash() const { return hash_; }

 private:
  void make_room(std::size_t most);
  void add(std::uint64_t word) { *next_++ = word; }
  void add(std::int64_t word) { *next_++ = static_cast<std::uint64_t>(word); }
  void add(Index const& index);
  void add(AffineMap const& map);
  void add(Statement const& statement, bool reads_ghosts);
  void add_operand(Statement const& statement, std::size_t operand, bool reads_ghosts);
  void hash_words();

  std::vector<std::uint64_t> words_;  ///< room for those of the longest key so far
  std::uint64_t* next_ = words_.data();
  std::uint64_t hash_ = 0;
};

}  // namespace tessera
