#pragma once
/// @file
/// How an array lies on a mesh, before its shape is known.

#include <cstdint>
#include <functional>
#include <memory>
#include <ostream>
#include <vector>

#include "tessera/index/index.hpp"
#include "tessera/layout/cut.hpp"
#include "tessera/mesh/mesh.hpp"
#include "tessera/mesh/partition_spec.hpp"

namespace tessera {

/// A mesh, a partition spec and a cut per dimension. Along mesh axes that the spec does not name,
/// devices hold copies; along its partial axes, partial results.
///
/// Threads: immutable; copies share.
class NamedSharding {
 public:
  /// One cut for all dimensions that are cut.
  /// Throws: ShardingError if the spec names an axis the mesh does not have or one twice, partial
  ///         ones among them, or has more than eight entries.
  NamedSharding(Mesh mesh, PartitionSpec spec, Cut cut = Cut::balanced());
  /// One cut per dimension. Throws: as above, and if their number is not the spec's.
  NamedSharding(Mesh mesh, PartitionSpec spec, std::vector<Cut> cuts);

  [[nodiscard]] Mesh const& mesh() const;
  [[nodiscard]] PartitionSpec const& spec() const;
  [[nodiscard]] std::size_t rank() const { return spec().rank(); }
  /// How dimension `d` is cut. Throws: ShapeError if there is no such dimension.
  [[nodiscard]] Cut const& cut(std::size_t d) const;
  /// How many pieces dimension `d` is cut into: the product of its axes' sizes.
  /// Throws: ShapeError if there is no such dimension.
  [[nodiscard]] std::int64_t ways(std::size_t d) const;
  /// How many devices hold the same cells.
  [[nodiscard]] std::int64_t replicas() const;
  /// True if devices hold partial results along some axes of the mesh.
  [[nodiscard]] bool is_partial() const { return spec().is_partial(); }
  /// The sharding of the sum of the partial results: each device that held one of them holds a copy
  /// of the sum.
  [[nodiscard]] NamedSharding without_partial() const;

  /// Throws: ShapeError or ShardingError, naming dimension, extent and axes, if an array of this
  ///         shape cannot have this sharding: "array dimension 0 (10 cells) is cut 4 ways by mesh
  ///         axis 'x': …".
  void check(Shape const& shape) const;
  /// True if every device holds exactly one box of an array of `shape`, which may be empty: always,
  /// except under cuts that give a way several pieces.
  [[nodiscard]] bool is_single_box(Shape const& shape) const;
  /// The cells of an array of `shape` that `device` holds; empty where it holds none or is not of
  /// the mesh. The shape must have passed `check`.
  /// Throws: ShapeError if its rank is another; ShardingError if devices hold several boxes.
  [[nodiscard]] Box box_of(DeviceId device, Shape const& shape) const;
  /// The boxes of an array of `shape` that `device` holds, in row-major order of the pieces; some
  /// may be empty, and there are none where it is not of the mesh. The shape must have passed
  /// `check`. Throws: ShapeError if its rank is another.
  [[nodiscard]] std::vector<Box> boxes_of(DeviceId device, Shape const& shape) const;
  /// The box of the given pieces, one piece number per dimension.
  [[nodiscard]] Box piece_box(Index const& pieces, Shape const& shape) const;
  /// The extents of the largest shard, the boxes of a device laid together. Throws: as `check`.
  [[nodiscard]] Shape shard_shape(Shape const& shape) const;

  /// The number of the piece that a position of the mesh holds along each dimension. If there are
  /// several, the first; the others follow at intervals of `ways`.
  [[nodiscard]] Index pieces_at(std::int64_t position) const;
  /// Which of the copies a position of the mesh holds: 0 … replicas() - 1, row-major over the mesh
  /// axes that the spec does not name.
  [[nodiscard]] std::int64_t replica_at(std::int64_t position) const;
  /// The position that holds these pieces, first ones or others, as this copy: the inverse of the
  /// two functions above.
  [[nodiscard]] std::int64_t position_holding(Index const& pieces, std::int64_t replica) const;

  [[nodiscard]] std::uint64_t fingerprint() const;
  friend bool operator==(NamedSharding const& a, NamedSharding const& b);
  /// NamedSharding(Mesh(x=2, y=4), P("x", none)), and the cut where it is not balanced.
  friend std::ostream& operator<<(std::ostream& out, NamedSharding const& sharding);

 private:
  struct State;
  std::shared_ptr<State const> state_;
};

}  // namespace tessera

template <>
struct std::hash<tessera::NamedSharding> {
  std::size_t operator()(tessera::NamedSharding const& sharding) const noexcept {
    return sharding.fingerprint();
  }
};
