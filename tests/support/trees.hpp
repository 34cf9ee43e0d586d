#pragma once
/// @file
/// Random expressions, and the same as trees whose values are computed one fused step after
/// another: the oracle of contract.

#include <array>
#include <cmath>
#include <complex>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "tessera/array/operators.hpp"
#include "tessera/detail/base/hash.hpp"

namespace tessera::test {

enum class Branch : std::uint8_t {
  leaf,
  scaled,
  sum,
  difference,
  product,
  negative,
  chosen,
  count
};

/// One node of a random tree: a function of the seed, so that types can be made of it.
struct TreeNode {
  std::uint64_t seed;
  int depth;

  [[nodiscard]] constexpr std::uint64_t draw(std::uint64_t from, std::uint64_t salt) const {
    return detail::mix(seed, salt) % from;
  }
  [[nodiscard]] constexpr Branch branch() const {
    if (depth == 0) return draw(3, 7) == 0 ? Branch::scaled : Branch::leaf;
    // Sums and products most of all.
    constexpr std::array choices{
        Branch::sum,     Branch::sum,     Branch::difference, Branch::difference, Branch::product,
        Branch::product, Branch::product, Branch::negative,   Branch::chosen,     Branch::leaf};
    return choices[draw(choices.size(), 1)];
  }
  [[nodiscard]] constexpr std::size_t array() const { return draw(3, 2); }
  [[nodiscard]] constexpr TreeNode child(std::uint64_t number) const {
    return {detail::mix(seed, 16 + number), depth - 1};
  }
};

/// A tree at run time.
struct Tree {
  Branch branch;
  std::size_t array;
  std::vector<Tree> children;

  [[nodiscard]] static Tree of(TreeNode const& node) {
    Tree tree{node.branch(), node.array(), {}};
    auto const binary = tree.branch == Branch::sum || tree.branch == Branch::difference ||
                        tree.branch == Branch::product || tree.branch == Branch::chosen;
    auto const children = binary ? 2U : tree.branch == Branch::negative ? 1U : 0U;
    for (std::uint64_t k = 0; k < children; ++k) tree.children.push_back(of(node.child(k)));
    return tree;
  }
  [[nodiscard]] static Tree random(std::uint64_t seed) { return of({seed, 4}); }
};

/// The expression of the same seed, of three arrays. What is chosen between is decided by the
/// first.
template <std::uint64_t seed, int depth = 4, class Arrays>
[[nodiscard]] auto expression_of(Arrays const& u) {
  constexpr TreeNode node{seed, depth};
  constexpr auto branch = node.branch();
  using T = typename Arrays::value_type::value_type;
  auto const child = [&]<std::uint64_t number>() {
    return expression_of<node.child(number).seed, depth - 1>(u);
  };
  if constexpr (branch == Branch::leaf)
    return u[node.array()].view({});
  else if constexpr (branch == Branch::scaled)
    return T(3) * u[node.array()];
  else if constexpr (branch == Branch::sum)
    return child.template operator()<0>() + child.template operator()<1>();
  else if constexpr (branch == Branch::difference)
    return child.template operator()<0>() - child.template operator()<1>();
  else if constexpr (branch == Branch::product)
    return child.template operator()<0>() * child.template operator()<1>();
  else if constexpr (branch == Branch::negative)
    return -child.template operator()<0>();
  else
    return where(real(u[0]) > 0, child.template operator()<0>(), child.template operator()<1>());
}

// One step on numbers. Integers wrap around; the others have a fused step.

template <class T>
[[nodiscard]] T fused_step(T a, T b, T c) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(static_cast<std::uint32_t>(a) * static_cast<std::uint32_t>(b) +
                          static_cast<std::uint32_t>(c));
  else if constexpr (sizeof(T) == 2)
    return std::fma(float{a}, float{b}, float{c});
  else
    return std::fma(a, b, c);
}
template <class R>
[[nodiscard]] std::complex<R> fused_step(std::complex<R> a, std::complex<R> b, std::complex<R> c) {
  auto const real = std::fma(-a.imag(), b.imag(), c.real());
  auto const imaginary = std::fma(a.imag(), b.real(), c.imag());
  return {std::fma(a.real(), b.real(), real), std::fma(a.real(), b.imag(), imaginary)};
}
template <class T>
[[nodiscard]] T rounded_product(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return fused_step(a, b, T{0});
  else
    return a * b;
}
template <class R>
[[nodiscard]] std::complex<R> rounded_product(std::complex<R> a, std::complex<R> b) {
  R const imaginary_parts = a.imag() * b.imag();
  R const mixed_parts = a.imag() * b.real();
  return {std::fma(a.real(), b.real(), -imaginary_parts),
          std::fma(a.real(), b.imag(), mixed_parts)};
}
template <class T>
[[nodiscard]] T plain_sum(T a, T b) {
  if constexpr (std::is_integral_v<T>)
    return fused_step(a, T{1}, b);
  else
    return a + b;
}
template <class T>
[[nodiscard]] T negative(T a) {
  if constexpr (std::is_integral_v<T>)
    return static_cast<T>(0U - static_cast<std::uint32_t>(a));
  else
    return -a;
}

/// The value of a tree in which every product below a sum is fused, of two the left one.
template <class T>
class FusedTree {
 public:
  explicit FusedTree(std::array<T, 3> const& cells) : cells_(cells) {}

  [[nodiscard]] T value(Tree const& tree) const {
    switch (tree.branch) {
      case Branch::leaf:
        return cells_[tree.array];
      case Branch::scaled:
      case Branch::product: {
        auto const [a, b] = factors(tree);
        return rounded_product(a, b);
      }
      case Branch::sum:
        return sum(tree.children[0], tree.children[1], false);
      case Branch::difference:
        return sum(tree.children[0], tree.children[1], true);
      case Branch::negative:
        return negative(value(tree.children[0]));
      default:
        return value(tree.children[is_positive(cells_[0]) ? 0 : 1]);
    }
  }

 private:
  struct TwoFactors {
    T a;
    T b;
  };

  template <class S>
  static bool is_positive(S x) {
    return x > S(0);
  }
  template <class R>
  static bool is_positive(std::complex<R> x) {
    return x.real() > 0;
  }
  static bool is_product(Tree const& tree) {
    if (tree.branch == Branch::negative) return is_product(tree.children[0]);
    return tree.branch == Branch::product || tree.branch == Branch::scaled;
  }
  TwoFactors factors(Tree const& tree) const {
    if (tree.branch == Branch::scaled) return {T(3), cells_[tree.array]};
    if (tree.branch == Branch::product) return {value(tree.children[0]), value(tree.children[1])};
    auto const [a, b] = factors(tree.children[0]);
    return {negative(a), b};
  }
  T sum(Tree const& left, Tree const& right, bool subtracts) const {
    if (is_product(left)) {
      auto const [a, b] = factors(left);
      auto const c = value(right);
      return fused_step(a, b, subtracts ? negative(c) : c);
    }
    auto const c = value(left);
    if (is_product(right)) {
      auto const [a, b] = factors(right);
      return fused_step(subtracts ? negative(a) : a, b, c);
    }
    auto const other = value(right);
    return plain_sum(c, subtracts ? negative(other) : other);
  }

  std::array<T, 3> const& cells_;
};

template <class T>
[[nodiscard]] T fused_value(Tree const& tree, std::array<T, 3> const& cells) {
  return FusedTree<T>(cells).value(tree);
}

}  // namespace tessera::test
