#include "tessera/io/npy.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <map>
#include <optional>
#include <random>
#include <vector>

#include <unistd.h>

#include "tessera/base/error.hpp"

#include "src/base/detail.hpp"
#include "src/base/text.hpp"
#include "src/device/strided.hpp"
#include "src/execution/storage/array_state.hpp"
#include "src/io/file.hpp"
#include "src/io/npy_header.hpp"
#include "src/job/job.hpp"
#include "src/runtime/current_runtime.hpp"

namespace tessera::detail {
namespace {

constexpr std::int64_t buffer_bytes = 4 << 20;  // whole elements of any size
constexpr std::int64_t window_bytes = 256 << 10;
constexpr std::int64_t most_gaps = 8;  // a window is read where at least a share of 1 / 8 is used

// ---- Where cells lie.

/// The cells of a shard, in the order in which the file has them: in memory and in the file.
struct Route {
  StridedBlock memory;
  StridedBlock file;
};

Route route_of(RawShard const& shard, NpyHeader const& header) {
  auto const rank = shard.box.rank();
  Route route;
  route.memory.element_bytes = route.file.element_bytes = header.item_bytes;
  route.file.offset_bytes = header.first_cell;
  // In Fortran order the first index runs fastest: such a file is that of the transposed array.
  InlineVector<std::int64_t, max_rank> strides(rank, 0);
  std::int64_t stride = header.item_bytes;
  for (std::size_t i = rank; i-- > 0;) {
    auto const d = header.is_fortran_order ? rank - 1 - i : i;
    strides[d] = stride;
    stride *= header.extents[d];  // 0 without dimensions, where nothing follows
  }
  for (std::size_t i = 0; i < rank; ++i) {
    auto const d = header.is_fortran_order ? rank - 1 - i : i;
    route.memory.extents.push_back(shard.box.extent(d));
    route.memory.strides_bytes.push_back(shard.strides[d] * header.item_bytes);
    route.file.extents.push_back(shard.box.extent(d));
    route.file.strides_bytes.push_back(strides[d]);
    route.file.offset_bytes += shard.box.lo[d] * strides[d];
  }
  return route;
}

/// Part of a block that lies together in the file.
struct Run {
  std::int64_t offset;
  std::int64_t bytes;
};

/// Walks a block of the file from its first byte to its last.
class Runs {
 public:
  explicit Runs(StridedBlock const& block)
      : block_(normalized(block)), at_(block_.extents.size(), 0), offset_(block_.offset_bytes) {}

  /// The next run, of at most that many bytes.
  Run next(std::int64_t most_bytes) {
    Run const run{offset_ + done_, std::min(most_bytes, block_.element_bytes - done_)};
    done_ += run.bytes;
    if (done_ == block_.element_bytes) step();
    return run;
  }
  /// True if the gaps between runs are short.
  [[nodiscard]] bool are_dense() const {
    return !block_.extents.empty() && block_.element_bytes < window_bytes / 2 &&
           block_.strides_bytes.back() <= most_gaps * block_.element_bytes;
  }
  /// The byte behind the last run.
  [[nodiscard]] std::int64_t end() const {
    auto last = block_.offset_bytes + block_.element_bytes;
    for (std::size_t d = 0; d < block_.extents.size(); ++d)
      last += (block_.extents[d] - 1) * block_.strides_bytes[d];
    return last;
  }

 private:
  void step() {
    done_ = 0;
    for (std::size_t d = at_.size(); d-- > 0;) {
      offset_ += block_.strides_bytes[d];
      if (++at_[d] < block_.extents[d]) return;
      offset_ -= block_.extents[d] * block_.strides_bytes[d];
      at_[d] = 0;
    }
  }

  StridedBlock block_;
  std::vector<std::int64_t> at_;
  std::int64_t offset_;
  std::int64_t done_ = 0;  // of the run
};

// ---- Writing.

void write_cells(File const& file, RawShard const& shard, NpyHeader const& header) {
  if (shard.box.empty()) return;
  auto const route = route_of(shard, header);
  auto const total = stream_bytes(route.memory);
  std::vector<std::byte> buffer(static_cast<std::size_t>(std::min(total, buffer_bytes)));
  Runs runs(route.file);
  for (std::int64_t done = 0; done < total;) {
    auto const filled = pack(shard.cells, route.memory, done, buffer);
    for (std::int64_t at = 0; at < filled;) {
      auto const run = runs.next(filled - at);
      file.write_at(run.offset,
                    std::span<std::byte const>(buffer).subspan(
                        static_cast<std::size_t>(at), static_cast<std::size_t>(run.bytes)));
      at += run.bytes;
    }
    done += filled;
  }
}

NpyHeader header_of(NpyType const& type, Shape const& shape, std::size_t header_bytes) {
  NpyHeader header;
  header.kind = type.kind;
  header.item_bytes = type.bytes;
  header.rank = static_cast<std::int64_t>(shape.size());
  std::copy(shape.begin(), shape.end(), header.extents);
  header.first_cell = static_cast<std::int64_t>(header_bytes);
  return header;
}

// A number that differs between two jobs that write the same file.
std::uint64_t number_of_job() {
  std::random_device source;
  std::uint64_t number =
      (std::uint64_t{source()} << 32U) ^ source() ^ static_cast<std::uint64_t>(::getpid());
  share_from_first(std::as_writable_bytes(std::span(&number, 1)));
  return number;
}

// ---- Reading.

/// Reads runs; runs that are close together are read by one window over several of them.
class RunReader {
 public:
  RunReader(File const& file, Runs const& runs) : file_(file), end_(runs.end()) {
    if (runs.are_dense()) window_.resize(static_cast<std::size_t>(window_bytes));
  }

  void read(Run const& run, std::span<std::byte> into) {
    if (window_.empty()) return file_.read_at(run.offset, into);
    if (run.offset < first_ || run.offset + run.bytes > last_) fill(run);
    std::memcpy(into.data(), window_.data() + (run.offset - first_), into.size());
  }

 private:
  void fill(Run const& run) {
    first_ = run.offset;
    last_ = std::min(end_, first_ + window_bytes);
    file_.read_at(first_, std::span(window_).first(static_cast<std::size_t>(last_ - first_)));
  }

  File const& file_;
  std::int64_t end_;
  std::vector<std::byte> window_;
  std::int64_t first_ = 0;  // of the window, in the file
  std::int64_t last_ = 0;
};

// To this machine's byte order, number by number.
void turn_around(std::span<std::byte> cells, NpyHeader const& header) {
  auto const bytes = header.kind == 'c' ? header.item_bytes / 2 : header.item_bytes;
  bool const is_other = header.is_big_endian != (std::endian::native == std::endian::big);
  if (bytes == 1 || !is_other) return;
  for (auto* at = cells.data(); at != cells.data() + cells.size(); at += bytes)
    std::reverse(at, at + bytes);
}

// A bool is 0 or 1, whatever the file has.
void make_bools(std::span<std::byte> cells) {
  for (auto& cell : cells) cell = cell == std::byte{0} ? std::byte{0} : std::byte{1};
}

void read_cells(File const& file, RawShard const& shard, NpyHeader const& header) {
  if (shard.box.empty()) return;
  auto const route = route_of(shard, header);
  auto const total = stream_bytes(route.memory);
  std::vector<std::byte> buffer(static_cast<std::size_t>(std::min(total, buffer_bytes)));
  Runs runs(route.file);
  RunReader reader(file, runs);
  for (std::int64_t done = 0; done < total;) {
    auto const count = std::min(total - done, buffer_bytes);
    auto const piece = std::span(buffer).first(static_cast<std::size_t>(count));
    for (std::int64_t at = 0; at < count;) {
      auto const run = runs.next(count - at);
      reader.read(run,
                  piece.subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(run.bytes)));
      at += run.bytes;
    }
    turn_around(piece, header);
    if (header.kind == 'b') make_bools(piece);
    (void)unpack(shard.cells, route.memory, done, piece);
    done += count;
  }
}

NpyHeader header_in(File const& file, std::string const& path) try {
  auto const size = file.size_bytes();
  std::vector<std::byte> bytes(npy_prefix_bytes);
  if (size < static_cast<std::int64_t>(bytes.size()))
    throw Error(text("is not a NumPy file: it has only ", counted(size, "byte")));
  file.read_at(0, bytes);
  auto const header_bytes = npy_header_bytes(bytes);
  if (size < header_bytes)
    throw Error(text("is cut short: its header should end at byte ", header_bytes,
                     ", but the file has ", counted(size, "byte")));
  bytes.resize(static_cast<std::size_t>(header_bytes));
  file.read_at(0, bytes);
  auto const header = parse_npy_header({reinterpret_cast<char const*>(bytes.data()), bytes.size()});
  auto const cells = header.cells();
  if (header.kind != 0 && size - header_bytes < cells * header.item_bytes)
    throw Error(text("is cut short: ", counted(cells, "cell"), " of ", excerpt(header.dtype),
                     " take ", counted(cells * header.item_bytes, "byte"), ", but only ",
                     size - header_bytes, " follow the header"));
  return header;
} catch (Error const& error) {
  std::string const words = error.what();
  auto const name = printable(path);
  throw Error(words.starts_with(name) ? words : name + ' ' + words);
}

/// "float32 ('<f4')", as NumPy says it.
std::string name_of(NpyHeader const& header) {
  static std::map<char, std::string> const kinds{
      {'b', "bool"}, {'i', "int"}, {'u', "uint"}, {'f', "float"}, {'c', "complex"}};
  auto const kind = kinds.find(header.kind);
  if (header.kind == 'V' && header.item_bytes == 2)
    return text("bfloat16 ('", excerpt(header.dtype), "')");
  if (kind == kinds.end()) return text("elements of the type ", excerpt(header.dtype));
  auto const bits = header.kind == 'b' ? std::string() : std::to_string(8 * header.item_bytes);
  return text(kind->second, bits, " ('", excerpt(header.dtype), "')");
}

bool can_be_loaded(NpyHeader const& header) {
  auto const bytes = header.item_bytes;
  switch (header.kind) {
    case 'b':
      return bytes == 1;
    case 'i':
    case 'u':
      return bytes == 1 || bytes == 2 || bytes == 4 || bytes == 8;
    case 'f':
      return bytes == 2 || bytes == 4 || bytes == 8;
    case 'c':
      return bytes == 8 || bytes == 16;
    default:
      return header.kind == 'V' && bytes == 2;
  }
}

void check_type(std::string const& path, NpyHeader const& header, NpyType const& type) {
  if (header.kind == type.kind && header.item_bytes == type.bytes) return;
  auto const remedy = can_be_loaded(header)
                          ? "load it as that type and cast the array"
                          : "no array here has such elements: write the file with another dtype";
  throw UsageError(text(printable(path), " holds ", name_of(header),
                        ", but load_npy was asked for ", type.name, "; ", remedy));
}

void check_rank(std::string const& path, NpyHeader const& header, std::size_t rank) {
  if (header.rank == static_cast<std::int64_t>(rank)) return;
  std::span const extents(header.extents, static_cast<std::size_t>(header.rank));
  throw ShapeError(text(printable(path), " holds an array of shape ",
                        join(extents, "(", header.rank == 1 ? ",)" : ")"), " with ",
                        counted(header.rank, "dimension"), ", but load_npy was asked for ", rank));
}

}  // namespace

void save_npy(std::string const& path, StatePtr const& state, NpyType const& type,
              std::size_t rank) {
  check_same_everywhere(path, "save_npy");
  auto const& shape = state->layout()->shape();
  auto const text_in_front = npy_header_text(type, rank == 0 ? Shape{} : shape);
  auto const header = header_of(type, shape, text_in_front.size());
  FileAside aside(path, number_of_job());
  bool const is_first = job().self() == ProcessId{0};
  SharedFailure failure;
  if (is_first)
    failure.guard([&] {
      auto const& file = aside.create();
      file.resize(header.first_cell + cells_of(shape) * header.item_bytes);
      file.write_at(0, std::as_bytes(std::span(text_in_front)));
      file.sync();
    });
  failure.throw_alike();
  std::optional<File> file;
  if (!storage_of(*state).shards().empty())
    failure.guard([&] { file.emplace(File::open_to_write(aside.path())); });
  read_shards(state, [&](RawShard const& shard) {
    if (!file || state->layout()->replica_of(shard.device) != 0) return;
    failure.guard([&] { write_cells(*file, shard, header); });
  });
  if (file) failure.guard([&] { file->sync(); });
  failure.throw_alike();
  if (is_first) failure.guard([&] { aside.take_place(); });
  failure.throw_alike();
}

StatePtr load_npy(std::string const& path, NamedSharding const& sharding, NpyType const& type,
                  std::size_t rank) {
  check_same_everywhere(path, "load_npy");
  struct {
    NpyHeader header;
    FileFacts facts;
  } first;
  auto& header = first.header;
  std::optional<File> file;
  std::optional<FileFacts> facts;
  SharedFailure failure;
  if (job().self() == ProcessId{0})
    failure.guard([&] {
      file.emplace(File::open_to_read(path));
      header = header_in(*file, path);
      first.facts = facts_of(*file, header.first_cell);
    });
  failure.throw_alike();
  share_from_first(std::as_writable_bytes(std::span(&first, 1)));
  check_type(path, header, type);
  check_rank(path, header, rank);
  auto state = rank == 0 ? make_state(sharding_of_cell(sharding), {1}, type.bytes)
                         : make_state(sharding, header.shape(), type.bytes);
  if (!file && !storage_of(*state).shards().empty())
    failure.guard([&] {
      file.emplace(File::open_to_read(path));
      facts = facts_of(*file, header.first_cell);
    });
  failure.throw_alike();
  check_same_file(path, first.facts, facts, "load_npy");
  write_shards(state, [&](RawShard const& shard) {
    if (file) failure.guard([&] { read_cells(*file, shard, header); });
  });
  failure.throw_alike();
  return state;
}

}  // namespace tessera::detail
