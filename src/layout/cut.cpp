#include "tessera/layout/cut.hpp"

#include <algorithm>
#include <array>
#include <string>

#include "tessera/base/error.hpp"

#include "src/base/detail.hpp"
#include "src/base/text.hpp"
#include "src/index/index.hpp"
#include "src/layout/cut_formula.hpp"
#include "src/layout/cut_lists.hpp"

namespace tessera {

namespace {

constexpr std::int64_t most_cells = std::int64_t{1} << 62;
constexpr std::int64_t most_listed = 16;  // sizes that are printed one by one

char const* name_of(Cut::Kind kind) {
  constexpr std::array names{"balanced",       "ceil",     "strict", "unit",
                             "explicit_sizes", "segments", "cyclic"};
  return names[static_cast<std::size_t>(kind)];
}

void check_block(char const* name, std::int64_t cells) {
  if (cells < 1 || cells > most_cells)
    throw ShardingError(
        text("Cut::", name, " has blocks of ", counted(cells, "cell"), "; a block has 1 to 2^62"));
}

}  // namespace

std::ostream& operator<<(std::ostream& out, Piece const& piece) {
  return out << '[' << piece.lo << ':' << piece.hi << ']';
}

Cut Cut::balanced() {
  return Cut(Kind::balanced);
}
Cut Cut::ceil() {
  return Cut(Kind::ceil);
}
Cut Cut::strict() {
  return Cut(Kind::strict);
}

Cut Cut::unit(std::int64_t cells) {
  check_block("unit", cells);
  Cut cut(Kind::unit);
  cut.unit_ = cells;
  return cut;
}

Cut Cut::explicit_sizes(std::vector<std::int64_t> sizes) {
  if (sizes.empty())
    throw ShardingError("Cut::explicit_sizes has an empty list; give one size per piece");
  auto lists = std::make_shared<Sizes>();
  lists->borders.reserve(sizes.size() + 1);
  lists->borders.push_back(0);
  lists->fingerprint = hash_text("explicit_sizes");
  for (std::size_t k = 0; k < sizes.size(); ++k) {
    auto const before = lists->borders.back();
    if (sizes[k] < 0)
      throw ShardingError(text("Cut::explicit_sizes has size ", sizes[k], " for piece ", k,
                               "; sizes are 0 or more"));
    if (sizes[k] > most_cells - before)
      throw ShardingError("the sizes of Cut::explicit_sizes add up to more than 2^62 cells");
    lists->borders.push_back(before + sizes[k]);
    lists->largest = std::max(lists->largest, sizes[k]);
    lists->fingerprint = mix(lists->fingerprint, bits_of(sizes[k]));
  }
  Cut cut(Kind::explicit_sizes);
  cut.sizes_ = std::move(lists);
  return cut;
}

Cut Cut::segments(std::vector<Segment> list) {
  if (list.empty())
    throw ShardingError("Cut::segments has an empty list; give the cells of each segment");
  auto segments = std::make_shared<Segments>();
  segments->fingerprint = hash_text("segments");
  for (auto const& segment : list) {
    auto const before = segments->borders.back();
    auto const number = segments->borders.size() - 1;
    if (segment.cells < 0)
      throw ShardingError(text("Cut::segments has ", segment.cells, " cells in segment ", number,
                               "; a segment has 0 or more"));
    if (segment.cut.may_repeat())
      throw ShardingError(text("Cut::segments has segment ", number, " cut by ", segment.cut,
                               "; give it a rule that makes one piece for each way"));
    if (segment.cells > most_cells - before)
      throw ShardingError("the segments of Cut::segments add up to more than 2^62 cells");
    segments->borders.push_back(before + segment.cells);
    segments->fingerprint =
        mix(segments->fingerprint, mix(bits_of(segment.cells), segment.cut.fingerprint()));
  }
  segments->list = std::move(list);
  Cut cut(Kind::segments);
  cut.segments_ = std::move(segments);
  return cut;
}

Cut Cut::cyclic(std::int64_t cells) {
  check_block("cyclic", cells);
  Cut cut(Kind::cyclic);
  cut.unit_ = cells;
  return cut;
}

void Cut::check(std::int64_t extent, std::int64_t ways) const {
  if (extent < 0 || ways < 1)
    throw ShardingError(text(counted(extent, "cell"), " cannot be cut ", ways,
                             " ways; extents are 0 or more, ways 1 or more"));
  if (kind_ == Kind::strict && extent % ways != 0)
    throw ShardingError(text(counted(extent, "cell"), " cannot be cut ", ways,
                             " ways equally; use Cut::balanced() or pad to ",
                             ceil_div(extent, ways) * ways));
  if (kind_ == Kind::segments) segments_->check(*this, extent, ways);
  if (kind_ != Kind::explicit_sizes) return;
  if (sizes_->pieces() != ways)
    throw ShardingError(text(*this, " has ", counted(sizes_->pieces(), "size"), " for ",
                             counted(ways, "piece"), "; give one size per piece"));
  if (sizes_->borders.back() != extent)
    throw ShardingError(text("the sizes of ", *this, " add up to ", sizes_->borders.back(),
                             " but there ", extent == 1 ? "is " : "are ", counted(extent, "cell")));
}

std::int64_t Cut::piece_count(std::int64_t extent, std::int64_t ways) const {
  if (ways == 1 || !may_repeat()) return ways;
  if (kind_ == Kind::segments) return segments_->count() * ways;
  return std::max(ways, ceil_div(extent, unit_));
}

void Cut::Segments::check(Cut const& cut, std::int64_t extent, std::int64_t ways) const {
  if (borders.back() != extent)
    throw ShardingError(text(cut, " covers ", borders.back(), " cells but there ",
                             extent == 1 ? "is " : "are ", counted(extent, "cell"),
                             "; give the cells of each segment"));
  for (std::int64_t s = 0; s < count(); ++s) {
    try {
      at(s).cut.check(at(s).cells, ways);
    } catch (ShardingError const& error) {
      throw ShardingError(text("segment ", s, " of ", cut, ": ", error.what()));
    }
  }
}

Piece Cut::piece_in_segment(std::int64_t ways, std::int64_t k) const {
  auto const s = k / ways;
  auto const& segment = segments_->at(s);
  auto const inside = segment.cut.piece(segment.cells, ways, k % ways);
  return {segments_->border(s) + inside.lo, segments_->border(s) + inside.hi};
}

Piece Cut::piece(std::int64_t extent, std::int64_t ways, std::int64_t k) const {
  if (kind_ == Kind::explicit_sizes) return {sizes_->border(k), sizes_->border(k + 1)};
  if (may_repeat() && ways == 1) return {0, extent};
  if (kind_ == Kind::segments) return piece_in_segment(ways, k);
  if (kind_ == Kind::cyclic) {
    if (k >= ceil_div(extent, unit_)) return {extent, extent};
    return {k * unit_, extent - k * unit_ > unit_ ? (k + 1) * unit_ : extent};
  }
  CutFormula const formula(*this, extent, ways);
  return {formula.border(k), formula.border(k + 1)};
}

// The piece that holds a cell, 0 <= cell < extent.
std::int64_t Cut::piece_with(std::int64_t extent, std::int64_t ways, std::int64_t cell) const {
  // The last border at or before a cell begins the piece that holds it, even after empty pieces.
  auto const last_before = [cell](std::vector<std::int64_t> const& borders) {
    return std::upper_bound(borders.begin(), borders.end(), cell) - borders.begin() - 1;
  };
  if (kind_ == Kind::explicit_sizes) return last_before(sizes_->borders);
  if (may_repeat() && ways == 1) return 0;
  if (kind_ == Kind::cyclic) return cell / unit_;
  if (kind_ != Kind::segments) return CutFormula(*this, extent, ways).piece_with(cell);
  auto const s = last_before(segments_->borders);
  auto const& segment = segments_->at(s);
  return s * ways + segment.cut.piece_with(segment.cells, ways, cell - segments_->border(s));
}

Piece Cut::pieces_intersecting(std::int64_t extent, std::int64_t ways, std::int64_t lo,
                               std::int64_t hi) const {
  lo = std::max<std::int64_t>(lo, 0);
  hi = std::min(hi, extent);
  if (lo >= hi) return {};
  return {piece_with(extent, ways, lo), piece_with(extent, ways, hi - 1) + 1};
}

std::int64_t Cut::largest(std::int64_t extent, std::int64_t ways) const {
  if (kind_ == Kind::explicit_sizes) return sizes_->largest;
  if (!may_repeat()) return CutFormula(*this, extent, ways).largest();
  auto const of_way = [&](std::int64_t way) {
    std::int64_t cells = 0;
    auto const count = piece_count(extent, ways);
    for (auto k = way; k < count; k += ways) cells += piece(extent, ways, k).size();
    return cells;
  };
  if (kind_ == Kind::cyclic) {
    // Way 0 has one block more than the last ways; it has the short block only if that block is the
    // additional one.
    auto const blocks = ceil_div(extent, unit_);
    auto const rounds = ceil_div(blocks, ways);
    bool const has_last = blocks > 0 && (blocks - 1) % ways == 0;
    return has_last ? (rounds - 1) * unit_ + extent - (blocks - 1) * unit_ : rounds * unit_;
  }
  auto most = of_way(0);  // of every formula, the first way has the most
  if (segments_->lists_pieces())
    for (std::int64_t way = 1; way < ways; ++way) most = std::max(most, of_way(way));
  return most;
}

std::int64_t Cut::ways_with_cells(std::int64_t extent, std::int64_t ways) const {
  auto const count = piece_count(extent, ways);
  auto const has_cells = [&](std::int64_t way) {
    for (auto k = way; k < count; k += ways)
      if (piece(extent, ways, k).size() > 0) return true;
    return false;
  };
  if (kind_ == Kind::cyclic) return std::min(ways, ceil_div(extent, unit_));
  if (kind_ == Kind::segments && !segments_->lists_pieces()) {
    std::int64_t most = 0;  // of every formula, the first ways have the cells
    for (auto const& segment : segments_->list)
      most = std::max(most, segment.cut.ways_with_cells(segment.cells, ways));
    return most;
  }
  if (!lists_cells()) return pieces_intersecting(extent, ways, 0, extent).size();
  std::int64_t busy = 0;
  for (std::int64_t way = 0; way < ways; ++way) busy += has_cells(way) ? 1 : 0;
  return busy;
}

std::uint64_t Cut::fingerprint() const {
  if (kind_ == Kind::explicit_sizes) return sizes_->fingerprint;
  if (kind_ == Kind::segments) return segments_->fingerprint;
  auto const of_name = hash_text(name_of(kind_));
  bool const has_blocks = kind_ == Kind::unit || kind_ == Kind::cyclic;
  return has_blocks ? mix(of_name, bits_of(unit_)) : of_name;
}

bool operator==(Cut const& a, Cut const& b) {
  if (a.kind_ != b.kind_ || a.unit_ != b.unit_) return false;
  if (a.segments_ != b.segments_) return a.segments_->list == b.segments_->list;
  return a.sizes_ == b.sizes_ || a.sizes_->borders == b.sizes_->borders;
}

// By a stream of its own, so that parse_cut can read it whatever the locale of the stream.
std::ostream& operator<<(std::ostream& to, Cut const& cut) {
  TextStream out;
  out << name_of(cut.kind_);
  if (cut.kind_ == Cut::Kind::unit || cut.kind_ == Cut::Kind::cyclic)
    out << '(' << cut.unit_ << ')';
  if (!cut.lists_cells()) return to << out.str();
  bool const has_sizes = cut.kind_ == Cut::Kind::explicit_sizes;
  auto const all = has_sizes ? cut.sizes_->pieces() : cut.segments_->count();
  auto const shown = std::min(all, most_listed);
  for (std::int64_t k = 0; k < shown; ++k) {
    out << (k == 0 ? "(" : ", ");
    if (has_sizes) {
      out << cut.sizes_->border(k + 1) - cut.sizes_->border(k);
      continue;
    }
    auto const& segment = cut.segments_->at(k);
    out << segment.cells;
    if (!(segment.cut == Cut::balanced())) out << ' ' << segment.cut;
  }
  out << (shown < all ? ", ...)" : ")");
  return to << out.str();
}

}  // namespace tessera
