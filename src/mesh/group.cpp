#include "tessera/mesh/group.hpp"

#include <algorithm>
#include <string>
#include <utility>

#include "tessera/base/error.hpp"

#include "src/base/detail.hpp"
#include "src/base/text.hpp"
#include "src/index/index.hpp"
#include "src/mesh/axes.hpp"

namespace tessera {

struct Group::State {
  Mesh mesh;
  SpecEntry member_axes;
  SpecEntry list_axes;
  std::int64_t size;
  std::int64_t count;
  bool is_listed;  ///< by devices, not by axes of a mesh
};

namespace {

constexpr auto member_axis = "member";
constexpr auto list_axis = "list";
constexpr std::size_t most_printed = 16;  // devices that are printed one by one

// Throws: ShardingError unless the lists are equally long and not empty.
void check_lists(std::vector<std::vector<std::int64_t>> const& lists) {
  if (lists.empty())
    throw ShardingError("a group has no list of devices; Group::lists({{0, 1}, {2, 3}}) has two");
  for (std::size_t k = 0; k < lists.size(); ++k) {
    if (lists[k].empty())
      throw ShardingError(text("list ", k, " of a group has no devices; give one or more"));
    if (lists[k].size() != lists[0].size())
      throw ShardingError(text("list ", k, " of a group has ",
                               counted(std::ssize(lists[k]), "device"), " but list 0 has ",
                               lists[0].size(), "; lists of a group are equally long"));
  }
}

Mesh mesh_of(std::vector<std::vector<std::int64_t>> const& lists) {
  check_lists(lists);
  std::vector<std::int64_t> devices;
  for (auto const& list : lists) devices.insert(devices.end(), list.begin(), list.end());
  return {
      std::move(devices), Shape{std::ssize(lists), std::ssize(lists[0])}, {list_axis, member_axis}};
}

// The axes of a mesh that are not among `axes`, in their order.
AxisNames other_axes(Mesh const& mesh, SpecEntry const& axes) {
  AxisNames names;
  for (auto const& axis : mesh.axes()) names.push_back(axis.name);
  return without(names, axes.axes());
}

// Throws: ShardingError if no axis is named, one twice, or one that the mesh lacks.
void check_axes(Mesh const& mesh, SpecEntry const& axes) {
  if (axes.axes().empty())
    throw ShardingError(text("a group along no axis of ", mesh, "; name one or more"));
  for (auto name = axes.axes().begin(); name != axes.axes().end(); ++name) {
    (void)mesh.axis(*name);
    if (std::find(axes.axes().begin(), name, *name) != name)
      throw ShardingError(text("a group names mesh axis '", *name, "' twice"));
  }
}

// Sets the coordinates along some axes to those of a number.
void set_along(Mesh const& mesh, SpecEntry const& axes, std::int64_t number, Index& coordinates) {
  auto const& names = axes.axes();
  for (auto name = names.rbegin(); name != names.rend(); ++name) {
    auto const d = mesh.axis(*name);
    coordinates[d] = number % mesh.axes()[d].size;
    number /= mesh.axes()[d].size;
  }
}

}  // namespace

Group::Group(std::initializer_list<std::int64_t> devices)
    : Group(std::vector<std::int64_t>(devices)) {}
Group::Group(std::vector<std::int64_t> devices) : Group(lists({std::move(devices)})) {}

Group Group::lists(std::vector<std::vector<std::int64_t>> const& lists) {
  Group result(mesh_of(lists), member_axis);
  auto state = *result.state_;
  state.is_listed = true;
  result.state_ = std::make_shared<State const>(std::move(state));
  return result;
}

Group::Group(Mesh mesh, SpecEntry const& axes) {
  check_axes(mesh, axes);
  auto const others = other_axes(mesh, axes);
  auto const size = devices_along(mesh, axes.axes());
  auto const count = devices_along(mesh, others);
  state_ = std::make_shared<State const>(
      State{std::move(mesh), axes, SpecEntry(others), size, count, false});
}

Group Mesh::group(SpecEntry const& axes) const {
  return {*this, axes};
}

std::int64_t Group::size() const {
  return state_->size;
}
std::int64_t Group::count() const {
  return state_->count;
}

DeviceId Group::device(std::int64_t rank, std::int64_t group) const {
  if (rank < 0 || rank >= size())
    throw IndexError(text("there is no rank ", rank, " in ", *this,
                          ", whose members have ranks 0 to ", size() - 1));
  if (group < 0 || group >= count())
    throw IndexError(
        text("there is no list ", group, " in ", *this, ", which has 0 to ", count() - 1));
  auto const& mesh = state_->mesh;
  Index coordinates(mesh.rank(), 0);
  set_along(mesh, state_->member_axes, rank, coordinates);
  set_along(mesh, state_->list_axes, group, coordinates);
  return mesh.device_at(mesh.position(coordinates));
}

std::optional<Member> Group::member(DeviceId device) const {
  auto const& mesh = state_->mesh;
  auto const position = mesh.position_of(device);
  if (!position) return std::nullopt;
  auto const coordinates = mesh.coordinates(*position);
  return Member{number_along(mesh, state_->member_axes.axes(), coordinates),
                number_along(mesh, state_->list_axes.axes(), coordinates), device};
}

Mesh const& Group::mesh() const {
  return state_->mesh;
}
SpecEntry const& Group::member_axes() const {
  return state_->member_axes;
}
SpecEntry const& Group::list_axes() const {
  return state_->list_axes;
}

bool operator==(Group const& a, Group const& b) {
  auto const &one = *a.state_, &other = *b.state_;
  if (&one == &other || (one.mesh == other.mesh && one.member_axes == other.member_axes))
    return true;
  if (one.size != other.size || one.count != other.count) return false;
  for (std::int64_t list = 0; list < one.count; ++list)
    for (std::int64_t rank = 0; rank < one.size; ++rank)
      if (!(a.device(rank, list) == b.device(rank, list))) return false;
  return true;
}

std::ostream& operator<<(std::ostream& out, Group const& group) {
  auto const& state = *group.state_;
  if (!state.is_listed) return out << "Group(" << state.mesh << ", " << state.member_axes << ')';
  std::vector<std::string> lists;
  std::size_t listed = 0;
  for (std::int64_t k = 0; k < state.count && listed < most_printed; ++k) {
    std::vector<std::int64_t> devices;
    for (std::int64_t r = 0; r < state.size && listed < most_printed; ++r, ++listed)
      devices.push_back(group.device(r, k).value());
    bool const is_whole = std::ssize(devices) == state.size;
    auto words = join(devices);
    if (!is_whole) words += ", ...";
    lists.push_back(state.count == 1 ? words : text('(', words, ')'));
  }
  auto const is_cut = state.count > 1 && std::ssize(lists) < state.count;
  return out << "Group(" << join(lists) << (is_cut ? ", ..." : "") << ')';
}

}  // namespace tessera
