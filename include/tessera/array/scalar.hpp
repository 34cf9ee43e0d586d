#pragma once
/// @file
/// The value of a reduction, or of an expression of such values, which is awaited only when it is
/// needed.

#include <array>
#include <cstdint>
#include <span>
#include <utility>

#include "tessera/array/element.hpp"
#include "tessera/base/source.hpp"
#include "tessera/detail/runtime/submit.hpp"

namespace tessera {

/// One value that is the same on every process of the job, including processes outside the array's
/// mesh.
///
/// Can be used in expressions without waiting; converting it to T waits. The value is equal
/// everywhere, so `if (sum(r) < tolerance)` takes the same branch on every process.
template <Element T>
class Scalar : public ExpressionBase {
  static_assert(sizeof(T) <= detail::most_scalar_bytes);

 public:
  using value_type = T;
  static constexpr std::size_t rank = 0;

  explicit Scalar(detail::ScalarPtr state) : state_(std::move(state)) {}
  /// The value of an expression without dimensions, as a statement of its own. Does not wait. Of
  /// scalars and numbers alone every device computes it by itself, and nothing is sent. `auto`
  /// keeps the expression, which each statement that reads it computes anew; this suits loops
  /// better. Implicit for operations; explicit for cells and for scalars of another type.
  ///
  /// Ranks:   collective, also where `c ? rr : rr / 2` makes a Scalar of its second half.
  /// Cost:    a value up and down a tree of the devices where it reads an array.
  /// Example: Scalar<double> alpha = rr / sum(d * q);
  template <Expression E>
  requires(E::rank == 0) explicit(!requires(E const& e) { e.a; }) Scalar(E const& e);  // NOLINT
  /// Waits for the value. Ranks: local.
  [[nodiscard]] T value() const {
    T result;
    detail::read_scalar(state_, std::as_writable_bytes(std::span(&result, 1)));
    return result;
  }
  operator T() const { return value(); }  // NOLINT: a scalar is its value

  [[nodiscard]] std::array<std::int64_t, 0> extents() const { return {}; }
  /// None: a scalar may be used far from the place where it was made.
  [[nodiscard]] SourceLocation location() const { return {}; }
  [[nodiscard]] detail::ScalarPtr const& state() const { return state_; }

 private:
  detail::ScalarPtr state_;
};

}  // namespace tessera
