#pragma once
/// @file
/// A grid of device ids with named axes. A mesh needs no running job: it consists only of numbers.

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/base/ids.hpp"
#include "tessera/index/index.hpp"

namespace tessera {

class Group;
class SpecEntry;

/// A named axis of a mesh and how many devices lie along it.
struct MeshAxis {
  std::string name;
  std::int64_t size = 1;
  friend bool operator==(MeshAxis const&, MeshAxis const&) = default;
  friend std::ostream& operator<<(std::ostream& out, MeshAxis const& axis) {
    return out << axis.name << '=' << axis.size;
  }
};

/// Devices in an N-D grid, row-major over the axis list: the last axis varies fastest.
///
/// Threads: immutable; copies share.
/// Cost:    a mesh over a range of devices is O(axes); one over a listed order costs the list.
class Mesh {
 public:
  /// Devices 0, 1, … in row-major order.
  /// Throws:  ShardingError if there is no axis or more than eight, a size is below 1, a name is
  ///          empty, repeated or one that parse_mesh could not read back, such as one with a comma
  ///          or a quote, or the sizes multiply to more than 2^62.
  /// Example: in Mesh({{"x", 2}, {"y", 4}}), device 5 is at (1, 1).
  Mesh(std::initializer_list<MeshAxis> axes);
  explicit Mesh(std::vector<MeshAxis> axes);

  /// The devices listed, in row-major order over `shape`: any order, any subset of the job's.
  /// Throws:  ShardingError as above, and if the names do not fit the shape, or the list does not
  ///          fill it, repeats a device or names a negative one.
  Mesh(std::vector<std::int64_t> devices, Shape const& shape, std::vector<std::string> names);

  [[nodiscard]] std::vector<MeshAxis> const& axes() const;
  [[nodiscard]] std::int64_t size() const;  ///< how many devices
  [[nodiscard]] std::size_t rank() const { return axes().size(); }
  /// The place of an axis in the list. Throws: ShardingError, listing the axes there are.
  [[nodiscard]] std::size_t axis(std::string_view name) const;

  /// The same devices in the same places, with several axes where `axis` is, the major one first.
  /// Throws:  ShardingError if there is no such axis, the sizes do not multiply to its size, or as
  ///          the constructors.
  /// Example: Mesh({{"data", 2}, {"model", 8}}).split("model", {{"kv", 4}, {"rep", 2}}) is
  ///          Mesh({{"data", 2}, {"kv", 4}, {"rep", 2}}).
  [[nodiscard]] Mesh split(std::string_view axis, std::vector<MeshAxis> const& parts) const;

  /// The devices along some axes, the major one first, as a group of each place along the others:
  /// Group(*this, axes). Throws: ShardingError as that.
  [[nodiscard]] Group group(SpecEntry const& axes) const;

  /// The device at a row-major position. Throws: IndexError unless 0 <= position < size().
  [[nodiscard]] DeviceId device_at(std::int64_t position) const;
  /// Where a device lies; nothing if it is not of this mesh.
  /// Cost: O(1) for ranges, O(log size) for lists.
  [[nodiscard]] std::optional<std::int64_t> position_of(DeviceId device) const;
  /// The coordinates of a position, one per axis, and back.
  /// Throws: IndexError if the position or a coordinate is outside the mesh.
  [[nodiscard]] Index coordinates(std::int64_t position) const;
  /// The position of a device with these coordinates. Throws: IndexError as `coordinates`.
  [[nodiscard]] std::int64_t position(Index const& coordinates) const;
  /// The largest device id of the mesh.
  [[nodiscard]] DeviceId last_device() const;
  /// Equal for equal meshes, on every process.
  [[nodiscard]] std::uint64_t fingerprint() const;

  friend bool operator==(Mesh const& a, Mesh const& b);
  /// "Mesh(x=2, y=4)", with the first devices if they are not 0, 1, …
  friend std::ostream& operator<<(std::ostream& out, Mesh const& mesh);

 private:
  struct State;
  explicit Mesh(std::shared_ptr<State const> state);
  std::shared_ptr<State const> state_;
};

}  // namespace tessera
