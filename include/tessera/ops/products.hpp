#pragma once
/// @file
/// Products of matrices, with the same bits for any number of devices.
///
/// The value of a cell does not depend on how the arrays are sharded. Its terms are taken in blocks
/// of 256, counted from 0. The sum of a block starts at +0 and takes a fused multiply-add for each
/// term; then it is added to the cell, which starts at +0. float16 and bfloat16 are multiplied
/// and added in float, and rounded once at the end. Complex numbers take fma(a.re, b.re, ·),
/// fma(-a.im, b.im, ·) for the real part, and fma(a.re, b.im, ·), fma(a.im, b.re, ·) for the
/// imaginary one. Integers keep their type and are exact modulo 2^bits. Only `.bits = ts::fast`
/// adds in another order.

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <source_location>
#include <utility>

#include "tessera/array/dist_array.hpp"
#include "tessera/array/operators.hpp"
#include "tessera/detail/ops/products/product_operand.hpp"
#include "tessera/ops/partial.hpp"
#include "tessera/ops/reductions.hpp"

namespace tessera {

/// The sharding that the result of an operation is to have; if none is given, the operation chooses
/// one.
class ResultSharding {
 public:
  ResultSharding() = default;
  ResultSharding(NamedSharding sharding) : sharding_(std::move(sharding)) {}  // NOLINT: it is one
  ResultSharding(Mesh const& mesh, PartitionSpec const& spec) : sharding_({mesh, spec}) {}

  /// The sharding, or choose().
  template <class Choose>
  [[nodiscard]] NamedSharding value_or(Choose const& choose) const {
    return sharding_ ? *sharding_ : choose();
  }
  /// Where one is given.
  [[nodiscard]] NamedSharding const& value() const { return *sharding_; }
  [[nodiscard]] bool is_given() const { return sharding_.has_value(); }
  [[nodiscard]] bool is_partial() const { return sharding_ && sharding_->is_partial(); }

 private:
  std::optional<NamedSharding> sharding_;
};

/// The default of `memory_bytes`: the bytes that a device may use for operand cells that it lacks.
inline constexpr std::int64_t product_memory_bytes = std::int64_t{64} * 1024 * 1024;

/// Whether a result has the same bits on any number of devices, as usual. The tag `fast` gives that
/// up for speed, or for partial results.
class Bits {
 public:
  constexpr Bits() = default;
  constexpr Bits(Fast) : are_fast_(true) {}  // NOLINT: the tag is one

  [[nodiscard]] constexpr bool are_fast() const { return are_fast_; }

 private:
  bool are_fast_ = false;
};

/// Options of matmul.
struct MatmulOptions {
  ResultSharding sharding = {};  ///< may be partial if bits are fast
  /// Per device, for cells that it lacks; not kept to by partial results.
  std::int64_t memory_bytes = product_memory_bytes;
  Bits bits = {};
};
/// Options of matmul_into.
struct MatmulIntoOptions {
  bool adds = false;                                 ///< target += a b, instead of target = a b
  std::int64_t memory_bytes = product_memory_bytes;  ///< per device, for cells that it lacks
};

namespace detail {

/// The product as partial results, in this sharding.
template <class T, std::size_t N>
[[nodiscard]] ResultArray<T, N> partial_product(ProductOperands const& operands,
                                                Labels const& labels, Shape const& shape,
                                                PlannedParts const& parts, Bits bits) {
  if constexpr (N == 0) {
    throw ShardingError("matmul: a product of vectors is one number, which has no partial results");
  } else {
    auto const zero = [&](StatePtr const& layers) {
      assign_to_view(whole_view<T, N + 1>(layers, operands.location), T(), operands.location);
    };
    using Terms = typename PartialsOf<T, ReduceOp::sum>::type;
    return ResultArray<T, N>(
        multiply_to_partials(operands, labels, shape, parts.sharding,
                             {product_type_of<T>(), sizeof(T), bits.are_fast(), zero,
                              &sum_partials<T, N, Terms>, parts.choice}));
  }
}

}  // namespace detail

/// The product of matrices, by NumPy's rules: the last two dimensions are those of a matrix, and
/// the dimensions before them broadcast. A vector is a row on the left and a column on the right;
/// the result lacks the dimension that this adds.
///
/// Ranks:   collective.
/// Shapes:  (…, m, k) and (…, k, n) to (…, m, n). Types are promoted as by *; bool has no products.
/// Throws:  ShapeError if the inner extents differ or dimensions do not broadcast; ShardingError if
///          the result cannot have the sharding that was asked for, partial results are to be other
///          than sums, or a single number is to be partial; UsageError for partial results without
///          `.bits = ts::fast`.
/// Cost:    a device that computes cells receives the rows of a and columns of b that it lacks.
///          If the program gives no sharding, the result is cut along m as a, along n as b, and
///          along the others as a; a mesh axis that cuts a dimension of a cuts none of b's. An
///          operand that is an expression is computed to an array first.
///          With `.bits = ts::fast`, devices may add up the terms that each has, and then each
///          other's sums, where the same axes cut both operands along k alike and that is faster.
///          A sharding with partial axes, as P(none, none).partial("y"), takes `.bits = ts::fast`:
///          each place along "y" adds up the terms that it owns of a, or else of b, or else an
///          equal part; an operand whose terms are not cut so, as a slice along k, or into more
///          than 8 pieces on a device, is copied first, whatever `memory_bytes` says. Each partial
///          result is rounded to the result's type.
///          It can be added up by `reduce_scatter` or `all_reduce`, or when it is read.
/// Example: auto c = ts::matmul(a, b); auto d = ts::matmul(a, b, {.sharding = {mesh, P("x",
/// none)}});
template <Expression A, Expression B>
requires(A::rank > 0 && B::rank > 0)
    [[nodiscard]] auto matmul(A const& a, B const& b, MatmulOptions const& options = {},
                              std::source_location at = std::source_location::current()) {
  using T = detail::product_element<A, B>;
  using Names = detail::MatmulLabels<A::rank, B::rank>;
  detail::ProductOperands const operands{detail::product_operand<T>(a, Names::a()),
                                         detail::product_operand<T>(b, Names::b()), "matmul", at};
  auto const shape = detail::shape_of_product(operands, Names::result(), true);
  if (options.sharding.is_partial())
    return detail::partial_product<T, Names::rank>(
        operands, Names::result(), shape, {options.sharding.value(), nullptr}, options.bits);
  ResultArray<T, Names::rank> result(shape, options.sharding.value_or([&] {
    return detail::sharding_of_product(operands, Names::result(), shape);
  }));
  auto const into = detail::product_view(result.view(at), Names::result());
  constexpr auto type = detail::product_type_of<T>();
  detail::ProductOptions how{.adds = false, .memory_bytes = options.memory_bytes};
  if constexpr (Names::rank > 0) {
    how.adds_parts = options.bits.are_fast();
    auto const parts =
        how.adds_parts ? detail::planned_parts(operands, into, type, how) : std::nullopt;
    if (parts) {
      auto const sum = detail::partial_product<T, Names::rank>(operands, Names::result(), shape,
                                                               *parts, options.bits);
      detail::copy_value(result.storage(), sum.storage(), at, operands.kind);
      return result;
    }
    how.adds_parts = false;
  }
  if (!detail::multiply_views(operands, into, type, how)) result = T();
  return result;
}

/// Writes the product of matrices to an array or a slice, or adds it.
///
/// Shapes:  the target has the product's shape.
/// Throws:  ShapeError; UsageError if the target is partial.
/// Cost:    as matmul, into the target's layout. An operand in the target's array is copied first.
/// Example: ts::matmul_into(c(rows, cols), a, ts::transpose(b), {.adds = true});
template <class C, Expression A, Expression B>
requires(A::rank > 0 && B::rank > 0 && detail::ProductTarget<C>) void matmul_into(
    C&& target, A const& a, B const& b, MatmulIntoOptions const& options = {},
    std::source_location at = std::source_location::current()) {
  using T = typename std::remove_cvref_t<C>::value_type;
  using Names = detail::MatmulLabels<A::rank, B::rank>;
  static_assert(std::same_as<T, detail::product_element<A, B>>,
                "matmul_into: the target has another type than the product; convert an operand");
  static_assert(std::remove_cvref_t<C>::rank == Names::rank,
                "matmul_into: the target has another number of dimensions than the product");
  auto const into = target.view(at);
  detail::check_writable(into.storage());
  detail::ProductOperands const operands{detail::product_operand<T>(a, Names::a(), into.storage()),
                                         detail::product_operand<T>(b, Names::b(), into.storage()),
                                         "matmul_into", at};
  detail::check_target(into.shape(), detail::shape_of_product(operands, Names::result(), true),
                       "matmul_into");
  if (!detail::multiply_views(operands, detail::product_view(into, Names::result()),
                              detail::product_type_of<T>(),
                              {.adds = options.adds, .memory_bytes = options.memory_bytes}) &&
      !options.adds)
    into = T();
}

}  // namespace tessera
