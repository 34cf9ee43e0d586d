#pragma once
/// @file
/// What may stand on the right of an assignment.

#include <concepts>

namespace tessera {

/// The root of everything that can stand on the right of an assignment.
struct ExpressionBase {};

/// Anything that may stand on the right of an assignment: arrays, slices, and expressions of them.
template <class E>
concept Expression = std::derived_from<E, ExpressionBase>;

/// An expression of bools, cell by cell: u(mask) = value.
template <class E>
concept Mask = Expression<E> && std::same_as<typename E::value_type, bool>;

}  // namespace tessera
