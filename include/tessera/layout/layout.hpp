#pragma once
/// @file
/// Which cells of an array each device owns.

#include <cstdint>
#include <functional>
#include <ostream>
#include <vector>

#include "tessera/index/index.hpp"
#include "tessera/layout/named_sharding.hpp"

namespace tessera {

/// A sharding applied to a shape. Pure formulas: nothing here grows with the number of devices.
///
/// Threads: immutable.
class Layout {
 public:
  /// Throws: ShapeError, ShardingError as NamedSharding::check.
  Layout(NamedSharding sharding, Shape const& shape);

  [[nodiscard]] NamedSharding const& sharding() const { return sharding_; }
  [[nodiscard]] Mesh const& mesh() const { return sharding_.mesh(); }
  [[nodiscard]] Shape const& shape() const { return shape_; }
  [[nodiscard]] std::size_t rank() const { return shape_.size(); }
  [[nodiscard]] std::int64_t cells() const { return cells_; }

  /// True if every device holds exactly one box, which may be empty: always, except under cuts that
  /// give a way several pieces.
  [[nodiscard]] bool is_single_box() const { return is_single_box_; }
  /// The cells that `device` holds; empty where it holds none or is not of the mesh.
  /// Throws: ShardingError if devices hold several boxes.
  [[nodiscard]] Box box_of(DeviceId device) const;
  /// The boxes that `device` holds, in row-major order of the pieces; some may be empty, and there
  /// are none where it is not of the mesh.
  [[nodiscard]] std::vector<Box> boxes_of(DeviceId device) const;
  /// Calls `visit(number, box)` for each box of `device` that intersects `cells`, in order; the
  /// numbers are positions in `boxes_of`. Cost: O(boxes visited).
  void visit_boxes(DeviceId device, Box const& cells,
                   std::function<void(std::size_t, Box const&)> const& visit) const;
  /// The number of the box of `device` that holds a cell. The device holds it.
  [[nodiscard]] std::size_t box_holding(DeviceId device, Index const& cell) const;
  /// Which copy of its cells `device` holds, from 0. If each cell must count once (reductions,
  /// reading back), copy 0 is used. Throws: ShardingError if the device is not of the mesh.
  [[nodiscard]] std::int64_t replica_of(DeviceId device) const;

  /// Calls `visit(device, box)` for each box of one copy that intersects `cells`, with the device
  /// that holds it, in row-major order of the pieces. Empty pieces are skipped.
  /// Cost: O(boxes visited), whatever the size of the mesh.
  void visit_owners(Box const& cells, std::int64_t replica,
                    std::function<void(DeviceId, Box const&)> const& visit) const;
  /// Calls `visit(device)` once for each device of one copy that holds some of `cells`, and
  /// possibly for devices whose pieces there are empty. If `beside[d]` is a piece number, visits
  /// only devices of that piece's way along dimension d; -1 means any.
  /// Cost: O(devices visited), whatever the size of the mesh.
  void visit_devices(Box const& cells, std::int64_t replica, Index const& beside,
                     std::function<void(DeviceId)> const& visit) const;
  /// The copy from which a reader should take its cells: its own if it holds one (on this mesh);
  /// otherwise the readers are spread over the copies by their ids.
  [[nodiscard]] std::int64_t replica_for(DeviceId reader) const;

  /// Equal for equal layouts, on every process.
  [[nodiscard]] std::uint64_t fingerprint() const { return fingerprint_; }
  friend bool operator==(Layout const& a, Layout const& b) {
    return a.fingerprint_ == b.fingerprint_ && a.shape_ == b.shape_ && a.sharding_ == b.sharding_;
  }
  friend std::ostream& operator<<(std::ostream& out, Layout const& layout);

 private:
  [[nodiscard]] Piece pieces_intersecting(std::size_t d, Box const& cells) const;

  NamedSharding sharding_;
  Shape shape_;
  std::int64_t cells_;
  bool is_single_box_;
  std::uint64_t fingerprint_;
};

}  // namespace tessera
