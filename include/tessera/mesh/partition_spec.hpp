#pragma once
/// @file
/// Which mesh axes cut which dimensions of an array.

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <ostream>
#include <string>
#include <utility>
#include <vector>

#include "tessera/index/index.hpp"
#include "tessera/index/range.hpp"

namespace tessera {

/// The mesh axes that cut one dimension: none (`none`: every device holds all of it), one, or
/// several, the major one first.
class SpecEntry {
 public:
  SpecEntry(None) {}                                       // NOLINT: by design
  SpecEntry(char const* axis) : axes_{axis} {}             // NOLINT: by design
  SpecEntry(std::string axis) : axes_{std::move(axis)} {}  // NOLINT: by design
  SpecEntry(std::initializer_list<char const*> axes) : axes_(axes.begin(), axes.end()) {}
  explicit SpecEntry(std::vector<std::string> axes) : axes_(std::move(axes)) {}
  SpecEntry(std::nullptr_t) = delete;  // keeps P(0) from compiling

  [[nodiscard]] std::vector<std::string> const& axes() const { return axes_; }
  friend bool operator==(SpecEntry const&, SpecEntry const&) = default;
  /// "x", none or ("model", "x")
  friend std::ostream& operator<<(std::ostream& out, SpecEntry const& entry);

 private:
  std::vector<std::string> axes_;
};

/// The operation that combines partial results into one value; avg is their sum, divided once.
enum class ReduceOp : std::uint8_t { sum, prod, min, max, avg };
/// "sum"
std::ostream& operator<<(std::ostream& out, ReduceOp op);

/// One entry per dimension of an array, and the axes along which devices hold partial results.
class PartitionSpec {
 public:
  PartitionSpec() = default;
  explicit PartitionSpec(std::vector<SpecEntry> entries) : entries_(std::move(entries)) {}

  [[nodiscard]] std::size_t rank() const { return entries_.size(); }
  [[nodiscard]] SpecEntry const& operator[](std::size_t d) const { return entries_[d]; }
  [[nodiscard]] std::vector<SpecEntry> const& entries() const { return entries_; }

  /// The same spec, where each device along `axes` holds a partial result of the cells instead of a
  /// copy.
  /// Example: P("x").partial("y"), P(none).partial({"y", "z"}, ReduceOp::max)
  [[nodiscard]] PartitionSpec partial(SpecEntry axes, ReduceOp op = ReduceOp::sum) const;
  /// The axes along which devices hold partial results; none for most arrays.
  [[nodiscard]] SpecEntry const& partial_axes() const { return partial_axes_; }
  [[nodiscard]] ReduceOp partial_op() const { return op_; }
  [[nodiscard]] bool is_partial() const { return !partial_axes_.axes().empty(); }

  friend bool operator==(PartitionSpec const&, PartitionSpec const&) = default;
  /// P("data", none, ("model", "x")), P("x").partial("y", max)
  friend std::ostream& operator<<(std::ostream& out, PartitionSpec const& spec);

 private:
  std::vector<SpecEntry> entries_;
  SpecEntry partial_axes_ = none;
  ReduceOp op_ = ReduceOp::sum;  ///< of partial results; sum if there are none
};

/// The spec of an array with as many dimensions as there are arguments.
///
/// Example: P("data", none, {"model", "x"}): dimension 0 is cut by "data", dimension 1 is whole on
/// every device, dimension 2 is cut by "model" and each of those pieces by "x".
[[nodiscard]] PartitionSpec P();
[[nodiscard]] PartitionSpec P(SpecEntry d0);
[[nodiscard]] PartitionSpec P(SpecEntry d0, SpecEntry d1);
[[nodiscard]] PartitionSpec P(SpecEntry d0, SpecEntry d1, SpecEntry d2);
[[nodiscard]] PartitionSpec P(SpecEntry d0, SpecEntry d1, SpecEntry d2, SpecEntry d3);
[[nodiscard]] PartitionSpec P(SpecEntry d0, SpecEntry d1, SpecEntry d2, SpecEntry d3, SpecEntry d4);
[[nodiscard]] PartitionSpec P(SpecEntry d0, SpecEntry d1, SpecEntry d2, SpecEntry d3, SpecEntry d4,
                              SpecEntry d5);
[[nodiscard]] PartitionSpec P(SpecEntry d0, SpecEntry d1, SpecEntry d2, SpecEntry d3, SpecEntry d4,
                              SpecEntry d5, SpecEntry d6);
[[nodiscard]] PartitionSpec P(SpecEntry d0, SpecEntry d1, SpecEntry d2, SpecEntry d3, SpecEntry d4,
                              SpecEntry d5, SpecEntry d6, SpecEntry d7);

}  // namespace tessera
