#include "tessera/detail/array/erased/handle.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <deque>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include "tessera/base/error.hpp"
#include "tessera/detail/base/assert.hpp"
#include "tessera/detail/runtime/submit.hpp"
#include "tessera/runtime/runtime.hpp"

#include "src/base/detail.hpp"
#include "src/base/host_room.hpp"
#include "src/base/log.hpp"
#include "src/base/text.hpp"
#include "src/device/strided.hpp"
#include "src/execution/storage/array_state.hpp"
#include "src/index/affine_map.hpp"
#include "src/index/index.hpp"
#include "src/plan/access.hpp"
#include "src/runtime/allocation.hpp"
#include "src/runtime/listener.hpp"
#include "src/runtime/over_processes.hpp"
#include "src/runtime/submission.hpp"

namespace tessera::detail {
namespace {

RawShard raw(Shard& shard, std::size_t number, std::int64_t element_bytes) {
  RawShard result{shard.device, number, shard.own, nullptr, shard.padded_layout.strides};
  if (!shard.own.empty())
    result.cells = shard.cells() + shard.padded_layout.offset_of(shard.own.lo) * element_bytes;
  return result;
}

StridedBlock block_of(RawShard const& shard, std::int64_t element_bytes) {
  return strided_block(shard.box, shard.box.lo, shard.strides, element_bytes);
}

// The same box inside a dense row-major array of `shape`.
StridedBlock block_in_whole(Box const& box, Shape const& shape, std::int64_t element_bytes) {
  return strided_block(box, Index(box.rank(), 0), row_major_strides(shape), element_bytes);
}

// Some cells of a shard in host memory: in place, or as a dense copy of a GPU's cells. Only these
// cells are copied, since memory between rows may belong to others.
class HostCells {
 public:
  HostCells(Shard& shard, Box const& cells, std::int64_t element_bytes)
      : shard_(shard), cells_(cells), element_bytes_(element_bytes) {
    if (shard.queue->traits().host_reaches_memory || cells.empty()) return;
    auto const bytes = cells.cells() * element_bytes;
    on_gpu_ = DeviceMemory(bytes, shard.queue);
    here_ = HostMemory(bytes);
  }
  // Unfinished work may still read the copy.
  ~HostCells() {
    try {
      if (is_copy()) wait_for(*shard_.queue);
    } catch (DeviceError const&) {
      return;
    }
  }
  HostCells(HostCells const&) = delete;
  HostCells& operator=(HostCells const&) = delete;

  void fetch() {
    if (!is_copy()) return;
    shard_.queue->pack(shard_.cells(), block(), 0, on_gpu_.data(), on_gpu_.size_bytes());
    shard_.queue->copy(here_.data(), on_gpu_.data(), on_gpu_.size_bytes());
    wait_for(*shard_.queue);
  }
  void put_back() {
    if (!is_copy()) return;
    shard_.queue->copy(on_gpu_.data(), here_.data(), on_gpu_.size_bytes());
    shard_.queue->unpack(shard_.cells(), block(), 0, on_gpu_.data(), on_gpu_.size_bytes());
    wait_for(*shard_.queue);
  }
  // The shard as it would be on the host; for a copy, as if the shard had no other cells.
  [[nodiscard]] RawShard raw(std::size_t number) {
    auto result = detail::raw(shard_, number, element_bytes_);
    if (!is_copy()) return result;
    result.box = cells_;
    result.cells = here_.data();
    result.strides = row_major_strides(cells_.extents());
    return result;
  }

 private:
  [[nodiscard]] bool is_copy() const { return here_.data() != nullptr; }
  [[nodiscard]] StridedBlock block() const {
    return normalized(shard_.padded_layout.block_of(cells_, element_bytes_));
  }

  Shard& shard_;
  Box cells_;
  std::int64_t element_bytes_;
  DeviceMemory on_gpu_;
  HostMemory here_;
};

// The cells of a shard that the map reads, and their places in the dense result.
BlockPair blocks_read(RawShard const& shard, AffineMap const& map, Box const& indices,
                      Box const& part, std::int64_t element_bytes) {
  BlockPair pair;
  pair.to = block_in_whole(part.shifted([&] {
    Index back;
    for (auto const lo : indices.lo) back.push_back(-lo);
    return back;
  }()),
                           indices.extents(), element_bytes);
  pair.from.element_bytes = element_bytes;
  auto const first = map(part.lo);
  for (std::size_t d = 0; d < map.rank(); ++d)
    pair.from.offset_bytes += (first[d] - shard.box.lo[d]) * shard.strides[d] * element_bytes;
  for (std::size_t i = 0; i < part.rank(); ++i) {
    pair.from.extents.push_back(part.extent(i));
    std::int64_t stride = 0;
    for (std::size_t d = 0; d < map.rank(); ++d)
      if (map.axes[d].from == static_cast<int>(i)) stride = map.axes[d].stride * shard.strides[d];
    pair.from.strides_bytes.push_back(stride * element_bytes);
  }
  return pair;
}

// Copies a block's stream into another of the same length, whatever their extents.
void stream_cells(std::byte* to_base, StridedBlock const& to, std::byte const* from_base,
                  StridedBlock const& from) {
  constexpr std::int64_t most_bytes = 64 * 1024;
  auto const total = stream_bytes(from);
  std::vector<std::byte> piece(static_cast<std::size_t>(std::min(total, most_bytes)));
  for (std::int64_t done = 0; done < total;) {
    auto const n = pack(from_base, from, done, piece);
    (void)unpack(to_base, to, done, std::span(piece).first(static_cast<std::size_t>(n)));
    done += n;
  }
}

// All cells may have changed: ghost cells become invalid, and the second buffer differs.
void begin_write(ArrayState& state) {
  check_writable(state);
  check_closed(state, "a shard view");
  tessera::synchronize();
  state.halo_validity().clear();
  for (auto& shard : state.shards()) {
    shard.differing.clear();
    if (shard.has_second()) shard.differing.push_back(shard.own);
  }
}

std::vector<RawShard> raw_shards(ArrayState& state) {
  std::vector<RawShard> result;
  for (auto& shard : state.shards()) {
    bool const is_next = !result.empty() && result.back().device == shard.device;
    auto const number = is_next ? result.back().number + 1 : 0;
    result.push_back(raw(shard, number, state.element_bytes()));
  }
  return result;
}

// How a function uses the cells that it receives.
enum class Use : std::uint8_t { reads, sets, changes };

void visit_shards(StatePtr const& state, Use use, std::function<void(RawShard const&)> const& f) {
  run_on_local_devices([&](DeviceId device) {
    auto const shards = storage_of(*state).shards_of(device);
    for (std::size_t number = 0; number < shards.size(); ++number) {
      HostCells cells(shards[number], shards[number].own, state->element_bytes());
      if (use != Use::sets) cells.fetch();
      f(cells.raw(number));
      if (use != Use::reads) cells.put_back();
    }
  });
}

// 8 bytes that, repeated, are the element repeated.
std::optional<std::uint64_t> pattern_of(std::span<std::byte const> element) {
  std::array<std::byte, sizeof(std::uint64_t)> bytes;
  auto const size = element.size();
  if (size == 0 || std::max(size, bytes.size()) % std::min(size, bytes.size()) != 0)
    return std::nullopt;
  for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = element[i % size];
  for (std::size_t i = 0; i < size; ++i)
    if (element[i] != bytes[i % bytes.size()]) return std::nullopt;
  std::uint64_t pattern = 0;
  std::memcpy(&pattern, bytes.data(), sizeof pattern);
  return pattern;
}

}  // namespace

StatePtr make_state(NamedSharding const& sharding, Shape const& shape, std::int64_t element_bytes) {
  if (sharding.is_partial())
    throw ShardingError(text("an array on ", sharding,
                             " is partial: make it by to_partial(u, axes) or from_partials"));
  return make_state(recent_layout(sharding, shape), element_bytes);
}

StatePtr make_state(std::shared_ptr<Layout const> layout, std::int64_t element_bytes) {
  return make_array(std::move(layout), element_bytes);
}

StatePtr make_partial_state(NamedSharding const& sharding, Shape const& shape, Partials partials) {
  check_runtime(*partials.cells);
  auto const bytes = partials.cells->element_bytes();
  partials.cells->freeze();
  auto state = make_array(recent_layout(sharding, shape), bytes);
  storage_of(*state).set_partials(std::move(partials));
  return state;
}

std::int64_t extent_of(Shape const& shape, std::size_t d) {
  if (d >= shape.size())
    throw ShapeError(text("there is no dimension ", static_cast<std::int64_t>(d),
                          " in an array of ", counted(std::ssize(shape), "dimension"),
                          "; they are counted from 0"));
  return shape[d];
}

StatePtr const& readable(StatePtr const& state) {
  check_runtime(*state);
  auto* const partials = storage_of(*state).partials();
  if (partials == nullptr) return state;
  if (partials->value == nullptr) {
    auto const& layout = *state->layout();
    auto value =
        make_state(layout.sharding().without_partial(), layout.shape(), state->element_bytes());
    HeardAsOne const heard(KeptValue{storage_of(*state), value});
    partials->sum_partials(partials->cells, value, "add up", {});
    value->freeze();
    partials->value = std::move(value);
  }
  return partials->value;
}

std::shared_ptr<Layout const> const& layout_of(StatePtr const& state) {
  return state->layout();
}

void check_writable(StatePtr const& state) {
  check_runtime(*state);
  tessera::check_writable(*state);
}

void pin_cells(StatePtr const& state) {
  state->pin();
}

StatePtr copied(StatePtr const& state) {
  check_runtime(*state);
  if (storage_of(*state).partials() != nullptr) return state;
  auto const& layout = *state->layout();
  auto copy = make_state(layout.sharding(), layout.shape(), state->element_bytes());
  copy_cells(copy, state, {});
  return copy;
}

void write_shards(StatePtr const& state, std::function<void(RawShard const&)> const& f) {
  begin_write(storage_of(*state));
  visit_shards(state, Use::sets, f);
}

bool fill_shards(StatePtr const& state, std::span<std::byte const> element) {
  auto const pattern = pattern_of(element);
  if (device_traits().host_reaches_memory || !pattern) return false;
  begin_write(storage_of(*state));
  run_on_local_devices([&](DeviceId device) {
    for (auto& shard : storage_of(*state).shards_of(device)) {
      // Fills the whole buffer, since the surrounding ghost cells are invalid. GPUs allocate memory
      // in larger multiples.
      auto& memory = shard.memory[shard.current];
      if (memory.data() != nullptr)
        shard.queue->fill(memory.data(), *pattern, (memory.size_bytes() + 7) / 8 * 8);
    }
  });
  return true;
}

void note_cells_of_host() {
  if (device_traits().needs_native_kernels)
    log_warning_once(
        "from_index calls its function on the host and copies the cells to the GPUs; an expression "
        "over index(d) makes them there");
}

void change_shards(StatePtr const& state, std::function<void(RawShard const&)> const& f) {
  begin_write(storage_of(*state));
  visit_shards(state, Use::changes, f);
}

void read_shards(StatePtr const& state, std::function<void(RawShard const&)> const& f) {
  check_closed(*state, "a shard view");
  tessera::synchronize();
  visit_shards(state, Use::reads, f);
}

void visit_shards_together(std::span<StatePtr const> arrays, std::span<bool const> written,
                           std::function<void(std::span<RawShard const>)> const& f) {
  for (std::size_t a = 0; a < arrays.size(); ++a) {
    if (written[a]) begin_write(storage_of(*arrays[a]));
    check_closed(*arrays[a], "a shard view");
  }
  tessera::synchronize();
  run_on_local_devices([&](DeviceId device) {
    std::deque<HostCells> cells;
    std::vector<RawShard> shards;
    for (auto const& array : arrays)
      for (auto& shard : storage_of(*array).shards_of(device)) {
        cells.emplace_back(shard, shard.own, array->element_bytes()).fetch();
        shards.push_back(cells.back().raw(0));
      }
    if (shards.empty()) return;
    f(shards);
    for (std::size_t a = 0; a < arrays.size(); ++a)
      if (written[a]) cells[a].put_back();
  });
}

void copy_in_order(StatePtr const& to, StatePtr const& from) {
  auto const bytes = to->element_bytes();
  write_shards(to, [&](RawShard const& target) {
    if (target.box.empty()) return;
    auto const boxes = storage_of(*from).shards_of(target.device);
    TESSERA_ASSERT(target.number < boxes.size(), boxes.size(), " boxes to more of ", *to->layout());
    HostCells cells(boxes[target.number], boxes[target.number].own, bytes);
    cells.fetch();
    auto const source = cells.raw(target.number);
    TESSERA_ASSERT(source.box.cells() == target.box.cells(), source.box, " to ", target.box);
    stream_cells(target.cells, normalized(block_of(target, bytes)), source.cells,
                 normalized(block_of(source, bytes)));
  });
}

std::vector<RawShard> shards_to_read(StatePtr const& state) {
  check_closed(*state, "a shard view");
  tessera::synchronize();
  return raw_shards(storage_of(*state));
}

std::vector<RawShard> shards_to_write(StatePtr const& state) {
  begin_write(storage_of(*state));
  return raw_shards(storage_of(*state));
}

void make_room_for_all(StatePtr const& state, std::int64_t count, SourceLocation const& location,
                       std::function<void(std::size_t)> const& make) {
  constexpr std::int64_t worth_asking = 1 << 20;
  check_closed(*state, "a host read");
  auto const element_bytes = state->element_bytes();
  std::string lack;
  try {
    make_room(count, static_cast<std::size_t>(element_bytes), "to_host", make);
  } catch (Error const& error) {
    lack = error.what();
  }
  std::byte is_lacking{static_cast<unsigned char>(lack.empty() ? 0 : 1)};
  if (count >= worth_asking / element_bytes)
    or_over_processes({&is_lacking, 1}, location,
                      {"which makes room for to_host", 0, static_cast<std::uint64_t>(count)});
  if (is_lacking == std::byte{0}) return;
  throw Error(lack.empty() ? text("another process cannot have the memory for to_host: ", count,
                                  " times ", counted(element_bytes, "byte"), "; ask for less")
                           : lack);
}

void read_to_host(StatePtr const& state, AffineMap const& map, Box const& indices, std::byte* into,
                  SourceLocation const& location) {
  check_closed(*state, "a host read");
  auto const bytes = state->element_bytes();
  auto const size = static_cast<std::size_t>(indices.cells() * bytes);
  if (size == 0) return;
  std::memset(into, 0, size);
  tessera::synchronize();
  run_on_local_devices([&](DeviceId device) {
    auto const shards = storage_of(*state).shards_of(device);
    if (shards.empty() || state->layout()->replica_of(device) != 0) return;
    for (auto& shard : shards) {
      auto const part = map.preimage(shard.own, indices);
      if (part.empty() || shard.own.empty()) continue;
      HostCells cells(shard, map.image(part), bytes);
      cells.fetch();
      auto const from = cells.raw(0);
      auto const pair = blocks_read(from, map, indices, part, bytes);
      copy_block(into, pair.to, from.cells, pair.from);
    }
  });
  auto const cells = mix(state->layout()->fingerprint(), Access::plain(map).fingerprint());
  or_over_processes({into, size}, location, {"which reads cells", 0, cells});
}

}  // namespace tessera::detail
