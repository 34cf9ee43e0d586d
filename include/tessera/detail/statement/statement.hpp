#pragma once
/// @file
/// A statement as the expression layer passes it on: the target, the operands with their maps, and
/// the compiled kernel.

#include <cstdint>
#include <memory>
#include <optional>

#include "tessera/base/source.hpp"
#include "tessera/detail/base/inline_vector.hpp"
#include "tessera/detail/plan/access.hpp"
#include "tessera/detail/plan/compute_placement.hpp"
#include "tessera/detail/statement/array_ref.hpp"
#include "tessera/detail/statement/kernel.hpp"

namespace tessera {
struct PlanChoice;
}

namespace tessera::detail {

/// One array that a statement reads.
struct OperandRequest {
  StatePtr array;
  Access access;
  /// Bytes from the start of the kernel to its constants past the edges: two elements per dimension
  /// of the array, below and above. Negative if the access has none.
  std::int64_t constants_offset = -1;
};

/// An accumulator travels in one message, however short the messages are.
inline constexpr std::size_t most_accumulator_bytes = 128;

/// How the devices' parts of a reduction become one value. All functions are stateless.
struct Reduction {
  std::int64_t accumulator_bytes = 0;
  void (*start)(void* accumulator) = nullptr;
  void (*combine)(void* into, void const* from) = nullptr;
  /// Writes the value, of `value_bytes`.
  void (*finish)(void const* accumulator, double parameter, void* value) = nullptr;
  std::int64_t value_bytes = 0;
  double parameter = 0;           ///< for `finish`, such as the divisor of a mean
  bool depends_on_order = false;  ///< the last bits depend on the order in which rows are added
  bool on_each = false;           ///< each device computes the whole value, and nothing is sent
};

/// How many indices of a statement write one cell of its target, and where that cell lies.
enum class WriteMode : std::uint8_t {
  cells,      ///< each index writes a cell of its own
  fold,       ///< many indices write one cell, so the kernel takes a whole box at a time
  fold_slabs  ///< the same, each device in its own slab of the target
};

/// Why a statement moves cells between devices.
enum class Purpose : std::uint8_t {
  compute,  ///< because its kernel reads them: a gather of many is worth a warning
  transfer  ///< because the program asks for it, as reshard does
};

/// A statement on arrays. It lives on the caller's stack until `submit` returns; making one
/// allocates nothing. It names arrays that the expression keeps alive until then; what lives longer
/// keeps them itself.
struct Statement {
  // Not inline: each form of assignment and reduction in a user's program would compile them.
  Statement();
  ~Statement();
  Statement(Statement const&);
  Statement& operator=(Statement const&);
  Statement(Statement&&) noexcept;
  Statement& operator=(Statement&&) noexcept;

  char const* kind = "";  ///< for people: "assignment", "sum"
  SourceLocation location;
  std::uint64_t type_hash = 0;  ///< of the expression's type, equal on all processes
  ComputePlacement work;        ///< where each index is computed
  StatePtr target;              ///< written at cell work.map(i); null for a reduction
  StackList<OperandRequest, max_operands> operands;  ///< one for each distinct array access
  StackList<ScalarPtr, max_scalars> scalars;
  WriteMode mode = WriteMode::cells;
  /// For `fold_slabs`: dimension 0 of the target counts the devices' slabs, and the map gives the
  /// other dimensions of the cell; `work.map` then says only where the work is done.
  AffineMap slab_map;
  Purpose purpose = Purpose::compute;
  KernelForms forms;
  void const* kernel = nullptr;  ///< trivially copyable; copied by `submit`
  std::int64_t kernel_bytes = 0;
  /// Passes the numbers in a kernel to a visitor. Null if it contains none.
  void (*visit_numbers)(void const* kernel, NumberVisitor& visitor) = nullptr;
  /// Of an element, where the kernel writes the cell of the only operand unchanged, so that what
  /// arrives may be put where it belongs at once; else 0.
  std::int64_t copied_bytes = 0;
  std::optional<std::int64_t> step;  ///< of the enclosing loop, for a kernel that uses it
  ScalarPtr result;                  ///< of a reduction
  Reduction reduction;
  std::shared_ptr<PlanChoice const> choice;  ///< for `explain`; null where there was none

  /// A reduction counts cells of copy 0 only, unless each device computes its value.
  [[nodiscard]] bool is_reduction() const { return result != nullptr; }
  [[nodiscard]] bool folds() const { return mode != WriteMode::cells; }
  [[nodiscard]] bool writes_slabs() const { return mode == WriteMode::fold_slabs; }

  /// The slot of an access among the operands; adds it if it is missing. Arguments are those of an
  /// OperandRequest.
  /// Throws: UsageError if there are more than `max_operands`.
  std::size_t add_operand(StatePtr const& array, Access const& access,
                          std::int64_t constants_offset);
  /// The slot of a scalar; adds it if it is missing. Throws: UsageError beyond `max_scalars`.
  std::size_t add_scalar(ScalarPtr const& scalar);
};

}  // namespace tessera::detail
