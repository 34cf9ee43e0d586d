#pragma once
/// @file
/// The value of a reduction, which is awaited only when it is needed.

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
