#pragma once
/// @file
/// Ordered devices that take part in a collective.

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <optional>
#include <ostream>
#include <vector>

#include "tessera/base/ids.hpp"
#include "tessera/mesh/mesh.hpp"
#include "tessera/mesh/partition_spec.hpp"

namespace tessera {

/// A device's place in a group.
struct Member {
  std::int64_t rank = 0;   ///< its number among the members, from 0
  std::int64_t group = 0;  ///< the number of its list, where there are several
  DeviceId device;
  friend bool operator==(Member const&, Member const&) = default;
  /// "rank 1 of list 0, device 3"
  friend std::ostream& operator<<(std::ostream& out, Member const& member) {
    return out << "rank " << member.rank << " of list " << member.group << ", device "
               << member.device;
  }
};

/// An ordered list of devices, or several lists of the same length that do not share devices: then
/// a collective works in all of them at once, and their values do not mix. A group needs no running
/// job: it consists only of numbers.
///
/// Threads: immutable; copies share.
/// Cost:    along axes of a mesh O(axes); of lists the cost of the lists.
/// Example: Group({3, 1}): device 3 has rank 0, device 1 rank 1.
class Group {
 public:
  /// One list.
  /// Throws: ShardingError if it is empty, repeats a device or names a negative one.
  Group(std::initializer_list<std::int64_t> devices);
  explicit Group(std::vector<std::int64_t> devices);
  /// Several lists.
  /// Throws: ShardingError if there are none, one is empty, two have different lengths, or as
  /// above.
  [[nodiscard]] static Group lists(std::vector<std::vector<std::int64_t>> const& lists);
  /// The devices along some axes of a mesh, the major axis first: one list for each place along the
  /// other axes, in row-major order of these. Mesh::group calls this.
  /// Throws: ShardingError if no axis is named, one is named twice or the mesh lacks one.
  Group(Mesh mesh, SpecEntry const& axes);

  [[nodiscard]] std::int64_t size() const;   ///< members of each list
  [[nodiscard]] std::int64_t count() const;  ///< lists
  /// The device with a rank in a list. Throws: IndexError if there is no such rank or list.
  [[nodiscard]] DeviceId device(std::int64_t rank, std::int64_t group = 0) const;
  /// The place of a device; nothing if it is no member.
  [[nodiscard]] std::optional<Member> member(DeviceId device) const;

  /// The mesh of all members. The axes along which members lie, and those along which lists do.
  [[nodiscard]] Mesh const& mesh() const;
  [[nodiscard]] SpecEntry const& member_axes() const;
  [[nodiscard]] SpecEntry const& list_axes() const;

  /// True if the same devices have the same ranks in the same lists. Cost: of groups that were made
  /// in different ways, that of all members.
  friend bool operator==(Group const& a, Group const& b);
  /// Group(3, 1), Group((0, 1), (2, 3)), Group(Mesh(data=2, model=4), "model")
  friend std::ostream& operator<<(std::ostream& out, Group const& group);

 private:
  struct State;
  std::shared_ptr<State const> state_;
};

}  // namespace tessera
