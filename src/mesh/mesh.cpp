#include "tessera/mesh/mesh.hpp"

#include <algorithm>
#include <numeric>
#include <utility>

#include "tessera/base/error.hpp"

#include "src/base/detail.hpp"
#include "src/base/text.hpp"
#include "src/index/index.hpp"

namespace tessera {

struct Mesh::State {
  std::vector<MeshAxis> axes;
  Index strides;  ///< positions between neighbours along each axis
  std::int64_t size = 1;
  std::int64_t first = 0;               ///< the device at position 0, where ids are consecutive
  std::vector<std::int64_t> devices;    ///< by position; empty where ids are consecutive
  std::vector<std::int64_t> by_device;  ///< the positions, sorted by their device
  std::uint64_t fingerprint = 0;

  explicit State(std::vector<MeshAxis> list);
  void list_devices(std::vector<std::int64_t> list);
  void sort_by_device();
  void hash();
};

namespace {

constexpr std::int64_t most_devices = std::int64_t{1} << 62;
constexpr std::size_t most_listed = 16;  // devices that are printed one by one

// parse_mesh and parse_sharding read back what is printed.
void check_name(std::string_view name) {
  constexpr std::size_t longest = 256;
  bool const is_readable = name.size() <= longest && printable(name) == name &&
                           name.find_first_of("\"=,()") == std::string_view::npos &&
                           name.front() != ' ' && name.back() != ' ' &&
                           !name.starts_with("devices ");
  if (!is_readable)
    throw ShardingError(text("the name of a mesh axis '", excerpt(name),
                             "' could not be read back from text: a name has at most ", longest,
                             " bytes, none of \" = , ( ) or control characters, no blank at either "
                             "end, and does not begin with 'devices '"));
}

void check_axes(std::vector<MeshAxis> const& axes) {
  if (axes.empty())
    throw ShardingError("a mesh needs at least one axis; for one device use Mesh({{\"x\", 1}})");
  if (axes.size() > max_rank)
    throw ShardingError(
        text("a mesh of ", axes.size(), " axes is asked for; it may have at most ", max_rank));
  std::int64_t devices = 1;
  for (auto axis = axes.begin(); axis != axes.end(); ++axis) {
    if (axis->name.empty())
      throw ShardingError(text("axis ", axis - axes.begin(), " of a mesh has an empty name"));
    check_name(axis->name);
    if (axis->size < 1)
      throw ShardingError(text("mesh axis '", excerpt(axis->name), "' has size ", axis->size,
                               "; sizes are 1 or more"));
    if (std::any_of(axes.begin(), axis, [&](auto const& a) { return a.name == axis->name; }))
      throw ShardingError(text("mesh axis '", excerpt(axis->name), "' is listed twice in (",
                               excerpt(join(axes)), "); names must differ"));
    if (devices > most_devices / axis->size)
      throw ShardingError(text("a mesh of (", excerpt(join(axes)), ") has more than 2^62 devices"));
    devices *= axis->size;
  }
}

std::vector<MeshAxis> named(Shape const& shape, std::vector<std::string> names) {
  if (names.size() != shape.size())
    throw ShardingError(text("the mesh shape ", shape, " has ",
                             counted(static_cast<std::int64_t>(shape.size()), "dimension"),
                             " but its axis names are ", excerpt(join(names, "(", ")")),
                             "; give one name per dimension"));
  std::vector<MeshAxis> axes;
  for (std::size_t d = 0; d < shape.size(); ++d) axes.push_back({std::move(names[d]), shape[d]});
  return axes;
}

bool is_consecutive(std::vector<std::int64_t> const& list) {
  for (std::size_t i = 1; i < list.size(); ++i)
    if (list[i] != list[0] + static_cast<std::int64_t>(i)) return false;
  return true;
}

}  // namespace

Mesh::State::State(std::vector<MeshAxis> list) : axes(std::move(list)) {
  check_axes(axes);
  Shape shape;
  for (auto const& axis : axes) shape.push_back(axis.size);
  strides = row_major_strides(shape);
  size = cells_of(shape);
  hash();
}

void Mesh::State::list_devices(std::vector<std::int64_t> list) {
  if (static_cast<std::int64_t>(list.size()) != size)
    throw ShardingError(text(list.size(), list.size() == 1 ? " device is" : " devices are",
                             " listed for a mesh of (", excerpt(join(axes)), "), which has ",
                             counted(size, "place")));
  auto const negative = std::find_if(list.begin(), list.end(), [](auto id) { return id < 0; });
  if (negative != list.end())
    throw ShardingError(text("device ", *negative, " is listed at position ",
                             negative - list.begin(), "; device ids are 0 or more"));
  if (is_consecutive(list)) {
    first = list.front();
  } else {
    devices = std::move(list);
    sort_by_device();
  }
  hash();
}

void Mesh::State::sort_by_device() {
  auto const device_of = [this](std::int64_t p) { return devices[static_cast<std::size_t>(p)]; };
  by_device.resize(devices.size());
  std::iota(by_device.begin(), by_device.end(), 0);
  std::sort(by_device.begin(), by_device.end(), [&](auto a, auto b) {
    return std::pair(device_of(a), a) < std::pair(device_of(b), b);
  });
  auto const twice = std::adjacent_find(by_device.begin(), by_device.end(), [&](auto a, auto b) {
    return device_of(a) == device_of(b);
  });
  if (twice != by_device.end())
    throw ShardingError(text("device ", device_of(*twice), " is listed twice, at positions ",
                             *twice, " and ", *(twice + 1), "; a device has one place in a mesh"));
}

void Mesh::State::hash() {
  fingerprint = hash_text("Mesh");
  for (auto const& axis : axes)
    fingerprint = mix(mix(fingerprint, hash_text(axis.name)), bits_of(axis.size));
  fingerprint = mix(fingerprint, bits_of(first));
  for (auto const device : devices) fingerprint = mix(fingerprint, bits_of(device));
}

Mesh::Mesh(std::initializer_list<MeshAxis> axes) : Mesh(std::vector<MeshAxis>(axes)) {}

Mesh::Mesh(std::vector<MeshAxis> axes) : state_(std::make_shared<State const>(std::move(axes))) {}

Mesh::Mesh(std::vector<std::int64_t> devices, Shape const& shape, std::vector<std::string> names) {
  auto state = std::make_shared<State>(named(shape, std::move(names)));
  state->list_devices(std::move(devices));
  state_ = std::move(state);
}

Mesh::Mesh(std::shared_ptr<State const> state) : state_(std::move(state)) {}

std::vector<MeshAxis> const& Mesh::axes() const {
  return state_->axes;
}

std::int64_t Mesh::size() const {
  return state_->size;
}

std::size_t Mesh::axis(std::string_view name) const {
  auto const& axes = state_->axes;
  for (std::size_t a = 0; a < axes.size(); ++a)
    if (axes[a].name == name) return a;
  std::vector<std::string_view> names;
  for (auto const& axis : axes) names.emplace_back(axis.name);
  throw ShardingError(
      text("there is no mesh axis '", excerpt(name), "'; the mesh has ", excerpt(join(names))));
}

Mesh Mesh::split(std::string_view name, std::vector<MeshAxis> const& parts) const {
  auto axes = state_->axes;
  auto const at = axes.begin() + static_cast<std::ptrdiff_t>(axis(name));
  auto const whole = *at;
  axes.insert(axes.erase(at), parts.begin(), parts.end());
  if (parts.empty())
    throw ShardingError(text("mesh axis '", excerpt(whole.name),
                             "' is split into no axes; give a name and a size for each"));
  auto state = std::make_shared<State>(std::move(axes));
  if (state->size != size())
    throw ShardingError(text("mesh axis '", excerpt(whole.name), "' has size ", whole.size,
                             " but is split into (", excerpt(join(parts)), "), which makes ",
                             state->size / (size() / whole.size), "; give sizes that multiply to ",
                             whole.size));
  state->first = state_->first;
  state->devices = state_->devices;
  state->by_device = state_->by_device;
  state->hash();
  return Mesh(std::move(state));
}

DeviceId Mesh::device_at(std::int64_t position) const {
  if (position < 0 || position >= size())
    throw IndexError(text("position ", position, " is outside ", *this, ", which has ",
                          counted(size(), "place")));
  if (state_->devices.empty()) return DeviceId{state_->first + position};
  return DeviceId{state_->devices[static_cast<std::size_t>(position)]};
}

std::optional<std::int64_t> Mesh::position_of(DeviceId device) const {
  auto const& s = *state_;
  if (s.devices.empty()) {
    auto const position = device.value() - s.first;
    return position >= 0 && position < s.size ? std::optional(position) : std::nullopt;
  }
  auto const device_of = [&s](std::int64_t p) { return s.devices[static_cast<std::size_t>(p)]; };
  auto const found =
      std::lower_bound(s.by_device.begin(), s.by_device.end(), device.value(),
                       [&](std::int64_t p, std::int64_t id) { return device_of(p) < id; });
  if (found == s.by_device.end() || device_of(*found) != device.value()) return std::nullopt;
  return *found;
}

Index Mesh::coordinates(std::int64_t position) const {
  if (position < 0 || position >= size())
    throw IndexError(text("position ", position, " is outside ", *this, ", which has ",
                          counted(size(), "place")));
  Index result;
  for (std::size_t a = 0; a < rank(); ++a)
    result.push_back(position / state_->strides[a] % state_->axes[a].size);
  return result;
}

std::int64_t Mesh::position(Index const& coordinates) const {
  if (coordinates.size() != rank())
    throw IndexError(text("the coordinates ", coordinates, " do not fit ", *this, ", which has ",
                          rank(), rank() == 1 ? " axis" : " axes"));
  std::int64_t position = 0;
  for (std::size_t a = 0; a < rank(); ++a) {
    auto const& axis = state_->axes[a];
    if (coordinates[a] < 0 || coordinates[a] >= axis.size)
      throw IndexError(text("the coordinates ", coordinates, " lie outside ", *this,
                            ": mesh axis '", excerpt(axis.name), "' has size ", axis.size));
    position += coordinates[a] * state_->strides[a];
  }
  return position;
}

DeviceId Mesh::last_device() const {
  if (state_->devices.empty()) return DeviceId{state_->first + state_->size - 1};
  return device_at(state_->by_device.back());
}

std::uint64_t Mesh::fingerprint() const {
  return state_->fingerprint;
}

bool operator==(Mesh const& a, Mesh const& b) {
  if (a.state_ == b.state_) return true;
  auto const& x = *a.state_;
  auto const& y = *b.state_;
  return x.fingerprint == y.fingerprint && x.first == y.first && x.axes == y.axes &&
         x.devices == y.devices;
}

// Whole pieces of text, so that parse_mesh can read it whatever the locale of the stream.
std::ostream& operator<<(std::ostream& out, Mesh const& mesh) {
  auto const& s = *mesh.state_;
  out << "Mesh(" << join(s.axes);
  if (s.devices.empty()) {
    if (s.first == 0) return out << ')';
    out << text(", devices ", s.first);
    if (s.size > 1) out << text(" to ", mesh.last_device());
    return out << ')';
  }
  auto const shown = std::min(s.devices.size(), most_listed);
  std::vector<std::int64_t> const head(s.devices.data(), s.devices.data() + shown);
  return out << ", devices " << join(head) << (shown < s.devices.size() ? ", ...)" : ")");
}

}  // namespace tessera
