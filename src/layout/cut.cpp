#include "tessera/layout/cut.hpp"

#include <algorithm>
#include <array>
#include <cstdlib>
#include <string>

#include "tessera/base/error.hpp"
#include "tessera/base/hash.hpp"
#include "tessera/base/planted.hpp"
#include "tessera/base/text.hpp"

namespace tessera {

struct Cut::Sizes {
  std::vector<std::int64_t> borders;  ///< prefix sums: piece k is [borders[k], borders[k + 1])
  std::int64_t largest = 0;
  std::uint64_t fingerprint = 0;

  [[nodiscard]] std::int64_t pieces() const {
    return static_cast<std::int64_t>(borders.size()) - 1;
  }
  [[nodiscard]] std::int64_t border(std::int64_t k) const {
    return borders[static_cast<std::size_t>(k)];
  }
};

namespace {

constexpr std::int64_t most_cells = std::int64_t{1} << 62;
constexpr std::int64_t most_listed = 16;  // sizes that are printed one by one

char const* name_of(Cut::Kind kind) {
  constexpr std::array names{"balanced", "ceil", "strict", "unit", "explicit_sizes"};
  return names[static_cast<std::size_t>(kind)];
}

// A cut that is a formula, of one extent: blocks of `unit` cells, of which the last may be short,
// are cut as if each were a cell.
class Formula {
 public:
  Formula(Cut::Kind kind, std::int64_t unit, std::int64_t extent, std::int64_t ways)
      : is_ceil_(kind == Cut::Kind::ceil),
        unit_(unit),
        extent_(extent),
        blocks_(ceil_div(extent, unit)),
        ways_(ways) {}

  // Where piece k begins.
  [[nodiscard]] std::int64_t border(std::int64_t k) const {
    auto const block = is_ceil_ ? k * ceil_div(blocks_, ways_)
                                : k * (blocks_ / ways_) + std::min(k, blocks_ % ways_);
    return std::min(block * unit_, extent_);
  }
  // The piece that holds a cell, 0 <= cell < extent.
  [[nodiscard]] std::int64_t piece_with(std::int64_t cell) const {
    auto const block = cell / unit_;
    if (is_ceil_) return block / ceil_div(blocks_, ways_);
    auto const small = blocks_ / ways_;
    auto const large_pieces = blocks_ % ways_;
    auto const in_large = large_pieces * (small + 1) + (planted("piece_found_one_off") ? 1 : 0);
    return block < in_large ? block / (small + 1) : large_pieces + (block - in_large) / small;
  }
  // The k up to which border k grows by one amount and after which it grows by another.
  [[nodiscard]] std::int64_t bend() const {
    if (extent_ == 0) return 0;
    return is_ceil_ ? blocks_ / ceil_div(blocks_, ways_) : blocks_ % ways_;
  }
  [[nodiscard]] std::int64_t largest() const {
    return std::min(ceil_div(blocks_, ways_) * unit_, extent_);
  }

 private:
  bool is_ceil_;
  std::int64_t unit_;
  std::int64_t extent_;
  std::int64_t blocks_;
  std::int64_t ways_;
};

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
  if (cells < 1 || cells > most_cells)
    throw ShardingError(
        text("Cut::unit has blocks of ", counted(cells, "cell"), "; a block has 1 to 2^62"));
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

void Cut::check(std::int64_t extent, std::int64_t ways) const {
  if (extent < 0 || ways < 1)
    throw ShardingError(text(counted(extent, "cell"), " cannot be cut ", ways,
                             " ways; extents are 0 or more, ways 1 or more"));
  if (kind_ == Kind::strict && extent % ways != 0)
    throw ShardingError(text(counted(extent, "cell"), " cannot be cut ", ways,
                             " ways equally; use Cut::balanced() or pad to ",
                             ceil_div(extent, ways) * ways));
  if (kind_ != Kind::explicit_sizes) return;
  if (sizes_->pieces() != ways)
    throw ShardingError(text(*this, " has ", counted(sizes_->pieces(), "size"), " for ",
                             counted(ways, "piece"), "; give one size per piece"));
  if (sizes_->borders.back() != extent)
    throw ShardingError(text("the sizes of ", *this, " add up to ", sizes_->borders.back(),
                             " but there ", extent == 1 ? "is " : "are ", counted(extent, "cell")));
}

Piece Cut::piece(std::int64_t extent, std::int64_t ways, std::int64_t k) const {
  if (kind_ == Kind::explicit_sizes) return {sizes_->border(k), sizes_->border(k + 1)};
  Formula const formula(kind_, unit_, extent, ways);
  return {formula.border(k), formula.border(k + 1)};
}

Piece Cut::pieces_meeting(std::int64_t extent, std::int64_t ways, std::int64_t lo,
                          std::int64_t hi) const {
  lo = std::max<std::int64_t>(lo, 0);
  hi = std::min(hi, extent);
  if (lo >= hi) return {};
  if (kind_ != Kind::explicit_sizes) {
    Formula const formula(kind_, unit_, extent, ways);
    return {formula.piece_with(lo), formula.piece_with(hi - 1) + 1};
  }
  auto const& borders = sizes_->borders;
  // The last border at or before a cell begins the piece that holds it, whatever is empty before.
  auto const after_lo = std::upper_bound(borders.begin(), borders.end(), lo);
  auto const after_last = std::upper_bound(after_lo, borders.end(), hi - 1);
  return {after_lo - borders.begin() - 1, after_last - borders.begin()};
}

std::int64_t Cut::largest(std::int64_t extent, std::int64_t ways) const {
  if (kind_ == Kind::explicit_sizes) return sizes_->largest;
  return Formula(kind_, unit_, extent, ways).largest();
}

std::int64_t Cut::border_drift(std::int64_t extent_a, std::int64_t extent_b,
                               std::int64_t ways) const {
  if (extent_a == extent_b) return 0;
  if (kind_ == Kind::explicit_sizes) return -1;
  // a_k - b_k is linear in k but for one bend of a and one of b, so its extremes lie at the bends
  // (the one of ceil falls between two k, and where blocks run out, the last one may be short) and
  // at the last border.
  Formula const a(kind_, unit_, extent_a, ways);
  Formula const b(kind_, unit_, extent_b, ways);
  std::int64_t drift = 0;
  for (auto const bend : {a.bend(), b.bend(), ways})
    for (auto const k : {bend - 1, bend, bend + 1})
      if (k >= 0 && k <= ways) drift = std::max(drift, std::abs(a.border(k) - b.border(k)));
  return drift;
}

std::uint64_t Cut::fingerprint() const {
  if (kind_ == Kind::explicit_sizes) return sizes_->fingerprint;
  auto const of_name = hash_text(name_of(kind_));
  return kind_ == Kind::unit ? mix(of_name, bits_of(unit_)) : of_name;
}

bool operator==(Cut const& a, Cut const& b) {
  if (a.kind_ != b.kind_ || a.unit_ != b.unit_) return false;
  return a.sizes_ == b.sizes_ || a.sizes_->borders == b.sizes_->borders;
}

std::ostream& operator<<(std::ostream& out, Cut const& cut) {
  out << name_of(cut.kind_);
  if (cut.kind_ == Cut::Kind::unit) out << '(' << cut.unit_ << ')';
  if (cut.kind_ != Cut::Kind::explicit_sizes) return out;
  auto const shown = std::min(cut.sizes_->pieces(), most_listed);
  for (std::int64_t k = 0; k < shown; ++k)
    out << (k == 0 ? "(" : ", ") << cut.sizes_->border(k + 1) - cut.sizes_->border(k);
  return out << (shown < cut.sizes_->pieces() ? ", ...)" : ")");
}

}  // namespace tessera
