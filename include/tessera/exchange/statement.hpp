#pragma once
/// @file
/// A statement as the expression layer hands it over: what is written, what is read through which
/// maps, and the compiled kernel.

#include <cstdint>
#include <memory>

#include "tessera/base/source.hpp"
#include "tessera/exchange/array_state.hpp"
#include "tessera/exchange/kernel.hpp"
#include "tessera/exchange/scalar_state.hpp"
#include "tessera/plan/access.hpp"
#include "tessera/plan/ghost.hpp"

namespace tessera {

/// One array that a statement reads.
struct LeafRequest {
  std::shared_ptr<ArrayState> array;
  Access access;
  /// Bytes from the start of the kernel to its constants past the edges: two elements per dimension
  /// of the array, below and above. Negative where the access has none.
  std::int64_t constants_offset = -1;
};

/// How the devices' parts of a reduction become one value. All functions are stateless.
struct Reduction {
  std::int64_t accumulator_bytes = 0;
  void (*start)(void* accumulator) = nullptr;
  void (*combine)(void* into, void const* from) = nullptr;
  /// Writes the value, of `value_bytes`.
  void (*finish)(void const* accumulator, double parameter, void* value) = nullptr;
  std::int64_t value_bytes = 0;
  double parameter = 0;  ///< for `finish`: what a mean divides by
};

/// A statement on arrays. Lives in the runtime's builder, so that making one allocates nothing.
struct Statement {
  char const* kind = "";  ///< for people: "assignment", "sum"
  Place place;
  std::uint64_t type_hash = 0;         ///< of the expression's type, equal on all processes
  WorkPlace work;                      ///< where each index is computed
  std::shared_ptr<ArrayState> target;  ///< written at cell work.map(i); null for a reduction
  InlineVector<LeafRequest, max_leaves> leaves;  ///< each array access once
  InlineVector<std::shared_ptr<ScalarState>, max_scalars> scalars;
  /// Many indices write one cell of the target, so the kernel takes a whole box at a time.
  bool folds = false;
  /// Of a target that takes each device's part: dimension 0 counts the devices' slabs, and
  /// `slab_map` gives the other dimensions of the cell; `work.map` then says only where the work is
  /// done.
  bool writes_slabs = false;
  AffineMap slab_map;
  KernelForms forms;
  void const* kernel = nullptr;  ///< copied; trivially copyable
  std::int64_t kernel_bytes = 0;
  /// Of a kernel: a hash of the numbers that stand in it. Null where none do.
  std::uint64_t (*hash_of_numbers)(void const* kernel) = nullptr;
  bool uses_step = false;
  std::int64_t step = 0;                ///< of the loop that it stands in, for a kernel that asks
  std::shared_ptr<ScalarState> result;  ///< of a reduction
  Reduction reduction;
  /// The kernel writes the cell of the only leaf unchanged, so what arrives may be put where it
  /// belongs at once.
  bool copies = false;
  /// Of an element, where `copies`; else 0.
  [[nodiscard]] std::int64_t copied_bytes() const {
    return copies && target != nullptr ? target->element_bytes() : 0;
  }
  /// The program asks for cells to be moved, as reshard does: a gather here surprises nobody.
  bool is_transfer = false;
  /// A reduction counts cells of copy 0 only.
  [[nodiscard]] bool is_reduction() const { return result != nullptr; }

  /// Empties everything that holds a reference.
  void clear();
  /// The slot of an access among the leaves; adds it if it is not there.
  /// Throws: UsageError if there are more than `max_leaves`.
  std::size_t add_leaf(LeafRequest leaf);
  /// The slot of a scalar; adds it if it is not there. Throws: UsageError beyond `max_scalars`.
  std::size_t add_scalar(std::shared_ptr<ScalarState> const& scalar);
};

}  // namespace tessera
