#pragma once
/// @file
/// Shardings of weights by name, as pure values: a strategy gives a NamedSharding for any mesh and
/// shape. The names are those of MAX, whose weights are stored as [out, in]: `rowwise` cuts the
/// outputs, `columnwise` the inputs.

#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <vector>

#include "tessera/index/index.hpp"
#include "tessera/layout/named_sharding.hpp"
#include "tessera/mesh/mesh.hpp"
#include "tessera/mesh/partition_spec.hpp"

namespace tessera {

struct NamedStrategy;

/// How a weight is cut over the devices along some axes of a mesh, or how each weight of a module
/// is. The functions of namespace `strategy` make them.
///
/// Threads: immutable; copies share.
/// Example: auto const qkv = strategy::stacked_qkv({.heads = 32, .kv_heads = 8, .head_dim = 128});
///          auto w = zeros<float>({6144, 4096}, qkv.on(mesh, "model", {6144, 4096}));
class Strategy {
 public:
  struct State;  ///< the library's own

  /// The sharding of a weight of `shape` over the devices along `axes`. Devices that differ only
  /// along other axes of the mesh hold copies.
  ///
  /// Ranks:   pure.
  /// Throws:  ShardingError, with the numbers and a remedy, if the mesh lacks one of the axes, the
  ///          number of devices is not the one asked for, the heads or segments do not fit the
  ///          shape, or it is the strategy of a module. ShapeError if the shape lacks the dimension
  ///          that is cut.
  [[nodiscard]] NamedSharding on(Mesh const& mesh, SpecEntry const& axes, Shape const& shape) const;

  /// The dimension that is cut, as it was given: negative numbers count from the end. None where
  /// every device holds the whole weight, and for modules.
  [[nodiscard]] std::optional<std::int64_t> axis() const;
  /// The number of devices that was asked for; none if any number will do.
  [[nodiscard]] std::optional<std::int64_t> num_devices() const;

  [[nodiscard]] bool is_rowwise() const;
  [[nodiscard]] bool is_colwise() const;
  [[nodiscard]] bool is_replicate() const;
  [[nodiscard]] bool is_gate_up() const;
  [[nodiscard]] bool is_stacked_qkv() const;
  [[nodiscard]] bool is_head_aware_colwise() const;
  [[nodiscard]] bool is_tensor_parallel() const;
  [[nodiscard]] bool is_expert_parallel() const;

  /// The strategy of one weight of a module, or of a module inside it.
  /// Throws: ShardingError, listing the names there are.
  [[nodiscard]] Strategy operator[](std::string_view weight) const;
  /// The weights of a module in their order; none for the strategy of one weight.
  /// Lifetime: valid while this strategy or a copy of it exists.
  [[nodiscard]] std::vector<NamedStrategy> const& weights() const;

  friend bool operator==(Strategy const& a, Strategy const& b);
  /// "rowwise(num_devices=4)", "stacked_qkv(heads=32, kv_heads=8, head_dim=128)"
  friend std::ostream& operator<<(std::ostream& out, Strategy const& strategy);

 private:
  explicit Strategy(State state);

  std::shared_ptr<State const> state_;
};

/// A weight of a module, or a module inside it, and its strategy.
struct NamedStrategy {
  std::string weight;
  Strategy strategy;
  friend bool operator==(NamedStrategy const&, NamedStrategy const&) = default;
};

/// The strategies. Each takes the number of devices, if it is to be checked; nothing else depends
/// on it.
namespace strategy {

/// How numbers are packed into the cells of a weight: `values` of them lie in `cells` cells.
/// Example: {2, 1}: two numbers of 4 bits in a byte; {4, 3}: four of 6 bits in three bytes.
struct Packed {
  std::int64_t values = 1;
  std::int64_t cells = 1;
  friend bool operator==(Packed const&, Packed const&) = default;
};

/// Whether devices may get different numbers of heads.
enum class Uneven : std::uint8_t { allowed, refused };
/// Devices get the same number of heads, or `on` throws.
inline constexpr auto refused = Uneven::refused;

/// The heads of an attention layer. They are dealt in whole groups, a key/value head with its
/// queries, and the first devices get one group more where they do not divide. So all weights of
/// the layer agree, whichever strategy cuts them: the device with a query head has its key/value
/// head, too.
///
/// With more devices than key/value heads, `on` throws, unless its first axes have one device for
/// each key/value head. Then the devices along the other axes hold copies of it, and each has a
/// part of its queries. `Mesh::split` makes such axes.
struct Heads {
  std::int64_t heads = 0;                     ///< of queries
  std::optional<std::int64_t> kv_heads = {};  ///< of keys, and of values; as `heads` unless given
  std::int64_t head_dim = 0;                  ///< values of one head
  std::optional<std::int64_t> axis = {};      ///< the dimension that holds the heads
  Packed packed = {};                         ///< along that dimension
  Uneven uneven = Uneven::allowed;
  std::optional<std::int64_t> num_devices = {};
  friend bool operator==(Heads const&, Heads const&) = default;
};

/// A part of a dimension: `count` units of `unit` values each, which stay whole.
/// Example: {24, 256}: 24 heads of 256 values; {18432}: values that may be cut anywhere.
struct Segment {
  std::int64_t count = 0;
  std::int64_t unit = 1;
  friend bool operator==(Segment const&, Segment const&) = default;
};

/// The parts of a dimension, in order.
struct Segmented {
  std::vector<Segment> segments = {};
  std::int64_t axis = 0;
  Packed packed = {};  ///< along that dimension
  std::optional<std::int64_t> num_devices = {};
};

/// A weight that holds a gate and, behind it, an up projection.
struct GateUp {
  std::int64_t axis = 0;  ///< the dimension along which they lie
  std::optional<std::int64_t> num_devices = {};
};

/// The weights of a layer of experts, by name.
struct Experts {
  std::vector<std::string> experts = {};  ///< dimension 0 is the number of the expert
  std::vector<std::string> copied = {};   ///< the router, and experts that all devices share
  std::optional<std::int64_t> num_devices = {};
};

/// Cuts dimension 0, the outputs of a weight [out, in], into balanced pieces.
/// Throws: ShardingError, as all of these functions, if `num_devices` is less than 1.
[[nodiscard]] Strategy rowwise(std::optional<std::int64_t> num_devices = {});
/// Cuts dimension 1, the inputs of a weight [out, in], into balanced pieces.
[[nodiscard]] Strategy columnwise(std::optional<std::int64_t> num_devices = {});
/// Cuts dimension `axis`, negative from the end, into balanced pieces.
[[nodiscard]] Strategy axiswise(std::int64_t axis, std::optional<std::int64_t> num_devices = {});
/// Every device holds the whole weight.
[[nodiscard]] Strategy replicate(std::optional<std::int64_t> num_devices = {});
/// Cuts the gate and the up projection separately: a device has the same rows of both.
/// Throws: as `rowwise`; `on`, if the extent is odd.
[[nodiscard]] Strategy gate_up(GateUp const& options = {});
/// Cuts queries, keys and values that lie behind each other in dimension 0, or `axis`: a device has
/// whole heads of each.
/// Throws: ShardingError if a number of `heads` is less than 1, `kv_heads` does not divide `heads`,
///         or a packed head does not fill whole cells. `on`, also where devices would hold copies
///         of key/value heads, since a cell of the queries has one owner.
[[nodiscard]] Strategy stacked_qkv(Heads const& heads);
/// Cuts the query heads in dimension 0, or `axis`. Throws: as `stacked_qkv`, but for copies.
[[nodiscard]] Strategy heads(Heads const& heads);
/// Cuts the key heads, or the value heads, in dimension 0, or `axis`. Throws: as `heads`.
[[nodiscard]] Strategy kv_heads(Heads const& heads);
/// Cuts the query heads in dimension 1, or `axis`: the inputs of the output projection.
/// Throws: as `heads`.
[[nodiscard]] Strategy head_aware_columnwise(Heads const& heads);
/// Cuts each segment of a dimension separately, in whole units; a device with few units may have
/// none of a segment.
/// Throws:  ShardingError if there is no segment, a count is negative, a unit is less than 1, or
///          packed units do not fill whole cells. `on`, if the segments do not cover the dimension.
/// Example: segmented({.segments = {{24, 256}, {18432}}, .axis = 1})
[[nodiscard]] Strategy segmented(Segmented const& options);

/// A module whose weights are cut by the strategies given.
/// Throws:  ShardingError if there is no weight, a name is empty or repeated, or a weight asks for
///          another number of devices.
/// Example: tensor_parallel({{"up", rowwise()}, {"down", columnwise()}})["up"].on(mesh, "x", shape)
[[nodiscard]] Strategy tensor_parallel(std::vector<NamedStrategy> weights,
                                       std::optional<std::int64_t> num_devices = {});
/// A layer of experts: a device has whole experts and copies of the other weights.
/// Throws: as `tensor_parallel`.
[[nodiscard]] Strategy expert_parallel(Experts const& layer);

}  // namespace strategy
}  // namespace tessera
