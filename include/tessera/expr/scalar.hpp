#pragma once
/// @file
/// The value of a reduction, before anybody has to wait for it.

#include <array>
#include <cstring>
#include <memory>

#include "tessera/array/view.hpp"
#include "tessera/base/source.hpp"
#include "tessera/exchange/engine.hpp"
#include "tessera/exchange/scalar_state.hpp"

namespace tessera {

/// One value that is the same on every process of the job, also off the array's mesh.
///
/// Usable in expressions, where nobody waits for it; converting it to T waits. So
/// `if (sum(r) < tolerance)` takes the same branch everywhere.
template <Element T>
class Scalar : public ExpressionBase {
  static_assert(sizeof(T) <= ScalarState::most_bytes);

 public:
  using value_type = T;
  static constexpr std::size_t rank = 0;

  explicit Scalar(std::shared_ptr<ScalarState> state) : state_(std::move(state)) {}

  /// Waits for the value. Ranks: local.
  [[nodiscard]] T value() const {
    engine().synchronize();
    T result;
    std::memcpy(&result, state_->value(0), sizeof result);
    return result;
  }
  operator T() const { return value(); }  // NOLINT: a scalar is its value

  [[nodiscard]] std::array<std::int64_t, 0> extents() const { return {}; }
  /// None: where it was made is not where it is used.
  [[nodiscard]] Place place() const { return {}; }
  [[nodiscard]] std::shared_ptr<ScalarState> const& state() const { return state_; }

 private:
  std::shared_ptr<ScalarState> state_;
};

}  // namespace tessera
