#pragma once
/// @file
/// Statements that copy cells unchanged, whatever their type.

#include <cstdint>

#include "tessera/base/source.hpp"

#include "src/index/affine_map.hpp"
#include "src/plan/access.hpp"
#include "src/statement/statement.hpp"

namespace tessera {

/// Copies operand 0; elements are bytes.
struct CopyKernel {
  std::int64_t element_bytes;
};

/// The functions behind a CopyKernel.
[[nodiscard]] KernelForms copy_forms();

/// A statement that writes cell map(i) of `to` with cell from_map(i) of `from`, for all indices i
/// of a shape. The program asks for it, so it is no surprising gather. `kind`: as Statement::kind.
/// Lifetime: the statement refers to the kernel of this object and to `to`.
class CopyStatement {
 public:
  CopyStatement(detail::StatePtr const& to, AffineMap const& map, detail::StatePtr const& from,
                AffineMap const& from_map, Shape const& shape, SourceLocation const& location,
                char const* kind = "copy");
  /// to = from, cell by cell; equal shapes.
  CopyStatement(detail::StatePtr const& to, detail::StatePtr const& from,
                SourceLocation const& location, char const* kind = "copy");
  CopyStatement(CopyStatement const&) = delete;
  CopyStatement& operator=(CopyStatement const&) = delete;

  [[nodiscard]] Statement const& statement() const { return statement_; }

 private:
  CopyKernel kernel_;
  Statement statement_;
};

}  // namespace tessera
