#include "src/statement/lowering/plan_key.hpp"

#include <array>
#include <cstddef>
#include <span>

#include "tessera/detail/base/assert.hpp"

#include "src/base/detail.hpp"
#include "src/index/affine_map.hpp"
#include "src/statement/lowering/operand.hpp"
#include "src/statement/statement.hpp"

namespace tessera {
namespace {

// Where the cells of a pinned array lie is not known from its layout.
std::uint64_t packing_of(ArrayModel const& array) {
  return array.is_pinned() ? array.packing() : 0;
}

// The most words of an index, of a map, of what a statement has once, and of an operand.
constexpr std::size_t most_of_index = max_rank;
constexpr std::size_t most_of_map = 1 + 3 * max_rank;
constexpr std::size_t most_once = 5 + 4 * most_of_index + 2 * most_of_map;
constexpr std::size_t most_of_operand = 7 + 2 * most_of_index + most_of_map + 4 * max_rank;

std::size_t most_of(Statement const& statement) {
  return most_once + statement.operands.size() * most_of_operand;
}

__extension__ using Wide = unsigned __int128;

/// The two halves of a product, as one word.
std::uint64_t folded_product(std::uint64_t a, std::uint64_t b) {
  auto const product = static_cast<Wide>(a) * b;
  return static_cast<std::uint64_t>(product >> 64) ^ static_cast<std::uint64_t>(product);
}
/// Numbers with about as many ones as zeros: multiples of the golden ratio.
constexpr std::uint64_t seed_of(std::size_t chain) {
  return (chain + 1) * 0x9e37'79b9'7f4a'7c15ULL;
}

}  // namespace

void PlanKey::describe(Statement const& statement) {
  make_room(most_of(statement));
  add(statement, true);
  hash_words();
}

void PlanKey::describe(std::span<Statement const* const> statements, std::uint64_t steps) {
  std::size_t most = 2;
  for (auto const* statement : statements) most += most_of(*statement);
  make_room(most);
  add(~std::uint64_t{0});  // no statement begins so
  add(steps);
  for (auto const* statement : statements) add(*statement, false);
  hash_words();
}

void PlanKey::add(Statement const& statement, bool reads_ghosts) {
  add(static_cast<std::uint64_t>(statement.is_reduction()) +
      2 * static_cast<std::uint64_t>(statement.folds()) +
      4 * static_cast<std::uint64_t>(statement.copied_bytes != 0) +
      8 * static_cast<std::uint64_t>(statement.reduction.on_each));
  add(statement.work.layout->fingerprint());
  add(statement.work.map);
  add(statement.work.indices.lo);
  add(statement.work.indices.hi);
  if (statement.target != nullptr) {
    add(statement.target->element_bytes());
    add(statement.target->widths().below);
    add(statement.target->widths().above);
    add(packing_of(*statement.target));
  }
  if (statement.writes_slabs()) {
    add(statement.target->layout()->fingerprint());
    add(statement.slab_map);
  }
  for (std::size_t l = 0; l < statement.operands.size(); ++l)
    add_operand(statement, l, reads_ghosts);
  TESSERA_ASSERT(words().size() <= words_.size(), "a key fits into its room");
}

void PlanKey::make_room(std::size_t most) {
  if (words_.size() < most) words_.resize(most);
  next_ = words_.data();
}

// A key has dozens of words, and in one chain each would wait for the one before. Four independent
// chains let the processor work on them in parallel, and a product takes two words at a time.
// Vectors multiply words more slowly, so the loop is one that compilers do not turn into vectors.
void PlanKey::hash_words() {
  auto const words = this->words();
  std::array<std::uint64_t, 4> chains{words.size() + 1, seed_of(1), seed_of(2), seed_of(3)};
  constexpr std::size_t at_once = 2 * chains.size();
  std::size_t i = 0;
  for (; i + at_once <= words.size(); i += at_once)
    for (std::size_t c = 0; c < chains.size(); ++c)
      chains[c] = folded_product(chains[c] ^ words[i + 2 * c], seed_of(c) ^ words[i + 2 * c + 1]);
  for (; i < words.size(); ++i) chains[0] = fold(chains[0], words[i]);
  hash_ = fold(fold(chains[0], chains[1]), fold(chains[2], chains[3]));
}

void PlanKey::add_operand(Statement const& statement, std::size_t operand, bool reads_ghosts) {
  auto const& request = statement.operands[operand];
  auto const first = first_operand_of(statement, operand);
  add(static_cast<std::uint64_t>(first));
  add(static_cast<std::uint64_t>(request.array == statement.target));
  if (first == operand) {
    add(request.array->layout()->fingerprint());
    add(request.array->element_bytes());
    add(request.array->widths().below);
    add(request.array->widths().above);
    add(packing_of(*request.array));
    if (reads_ghosts) add(request.array->halo_validity().fingerprint());
  }
  add(request.constants_offset);
  add(request.access.map);
  for (auto const& boundary : request.access.boundaries) {
    add(static_cast<std::uint64_t>(boundary.below) * 8 +
        static_cast<std::uint64_t>(boundary.above));
    if (!boundary.any()) continue;
    add(boundary.first);
    add(boundary.count);
    add(static_cast<std::uint64_t>(boundary.dimension));
  }
}

void PlanKey::add(Index const& index) {
  for (auto const value : index) add(value);
}

void PlanKey::add(AffineMap const& map) {
  add(static_cast<std::uint64_t>(map.rank_in * 16 + map.rank()));
  for (auto const& axis : map.axes) {
    add(static_cast<std::int64_t>(axis.from));
    add(axis.offset);
    add(axis.stride);
  }
}

}  // namespace tessera
