// Whole NumPy files, loaded onto boxes of several forms. The cells are compared with those that
// this file finds in the bytes by itself.
#include <algorithm>
#include <array>
#include <cstdlib>
#include <cstring>
#include <string>
#include <string_view>
#include <vector>

#include <sys/mman.h>
#include <unistd.h>

#include "tessera/io/npy.hpp"
#include "tessera/runtime/runtime.hpp"

#include "src/base/text.hpp"
#include "src/execution/storage/array_state.hpp"
#include "src/io/npy_header.hpp"

#include "target.hpp"

namespace tessera::fuzz {
namespace {

using detail::NpyHeader;
using detail::NpyType;

constexpr std::int64_t most_cells = 1 << 16;  // without bytes, a file can have any number of them

// A file without a name in a folder.
class MemoryFile {
 public:
  explicit MemoryFile(std::span<std::byte const> bytes) : descriptor_(::memfd_create("fuzz", 0)) {
    require(::write(descriptor_, bytes.data(), bytes.size()) == std::ssize(bytes), "a memory file");
  }
  ~MemoryFile() { ::close(descriptor_); }
  MemoryFile(MemoryFile const&) = delete;
  MemoryFile& operator=(MemoryFile const&) = delete;

  [[nodiscard]] std::string path() const { return text("/proc/self/fd/", descriptor_); }

 private:
  int descriptor_;
};

// One device, whose cells the caller's thread reads: threads would take turns, and each run another
// one.
Runtime& one_device() {
  static auto& runtime = *new Runtime({.devices = 1, .kind = DeviceKind::cpu});  // never ends
  return runtime;
}

// The device has one box, or several along one dimension.
NamedSharding sharding_for(NpyHeader const& header, std::size_t rank, std::size_t choice) {
  Mesh const mesh({{"x", 1}});
  std::vector<SpecEntry> entries(rank, none);
  if (rank == 0 || choice == 0) return {mesh, PartitionSpec(entries)};
  auto const d = choice % rank;
  entries[d] = SpecEntry("x");
  auto const extent = header.extents[d];
  auto const front = extent / 3;
  if (front == 0) return {mesh, PartitionSpec(entries)};
  return {mesh, PartitionSpec(entries), Cut::segments({front, front, extent - 2 * front})};
}

// Where byte `i` of a cell is in the file.
std::size_t byte_in_file(NpyHeader const& header, Index const& cell, std::int64_t i) {
  std::int64_t number = 0;
  for (std::size_t n = 0; n < cell.size(); ++n) {
    auto const d = header.is_fortran_order ? cell.size() - 1 - n : n;
    number = number * header.extents[d] + cell[d];
  }
  auto const part = header.kind == 'c' ? header.item_bytes / 2 : header.item_bytes;
  auto const in_part = header.is_big_endian ? part - 1 - i % part : i % part;
  return static_cast<std::size_t>(header.first_cell + number * header.item_bytes + i / part * part +
                                  in_part);
}

void check_cell(std::byte const* found, NpyHeader const& header, Index const& cell,
                std::span<std::byte const> file) {
  for (std::int64_t i = 0; i < header.item_bytes; ++i) {
    auto const there = file[byte_in_file(header, cell, i)];
    auto const expected = header.kind != 'b' ? there : there == std::byte{0} ? there : std::byte{1};
    require(found[i] == expected, "a cell that the file does not have");
  }
}

void check_shard(Shard& shard, NpyHeader const& header, std::span<std::byte const> file) {
  auto const& box = shard.own;
  auto cell = box.lo;
  for (std::int64_t k = 0; k < box.cells(); ++k) {
    auto const at = shard.padded_layout.offset_of(cell) * header.item_bytes;
    // An array of no dimensions is kept as one of one.
    check_cell(shard.cells() + at, header, header.rank == 0 ? Index{} : cell, file);
    for (std::size_t d = cell.size(); d-- > 0;) {
      if (++cell[d] < box.hi[d]) break;
      cell[d] = box.lo[d];
    }
  }
}

// True for a type that arrays can have.
bool is_of_arrays(NpyType const& type) {
  constexpr std::array<std::string_view, 15> types{"b1", "i1", "i2", "i4", "i8", "u1",  "u2", "u4",
                                                   "u8", "f2", "f4", "f8", "c8", "c16", "V2"};
  return std::ranges::find(types, text(type.kind, type.bytes)) != types.end();
}

// What the file says about itself; nothing if it cannot be read, which `load_npy` has to find, too.
NpyHeader header_in(std::span<std::byte const> file) {
  NpyHeader header;
  (void)refuses([&] {
    if (file.size() < detail::npy_prefix_bytes) return;
    auto const size = detail::npy_header_bytes(file.first(detail::npy_prefix_bytes));
    if (size <= std::ssize(file))
      header = detail::parse_npy_header(as_text(file.first(static_cast<std::size_t>(size))));
  });
  return header;
}

}  // namespace

void attack(std::span<std::byte const> bytes) {
  (void)one_device();
  Input in(bytes);
  auto const choice = in.below(8);
  auto const other = in.below(16);  // once in a while another type or rank is asked for
  auto const file_bytes = in.rest();
  auto const header = header_in(file_bytes);
  if (header.item_bytes > 0 && header.cells() > most_cells) return;
  NpyType type{header.kind, header.item_bytes, "number"};
  if (other == 1 || !is_of_arrays(type)) type = {'f', 8, "float64"};
  auto rank = static_cast<std::size_t>(header.rank);
  if (other == 2) rank = (rank + 1) % (max_rank + 1);
  if (rank > max_rank) return;  // there is no such type of array
  MemoryFile const file(file_bytes);
  auto const state = detail::load_npy(file.path(), sharding_for(header, rank, choice), type, rank);
  require(header.kind == type.kind && header.rank == static_cast<std::int64_t>(rank),
          "a file was loaded as another type");
  for (auto& shard : storage_of(*state).shards()) check_shard(shard, header, file_bytes);
}

}  // namespace tessera::fuzz
