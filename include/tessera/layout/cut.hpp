#pragma once
/// @file
/// How one extent is cut into pieces.

#include <cstdint>
#include <memory>
#include <optional>
#include <ostream>
#include <utility>
#include <vector>

#include "tessera/index/index.hpp"

namespace tessera {

/// Half-open piece of a dimension.
struct Piece {
  std::int64_t lo = 0;
  std::int64_t hi = 0;
  [[nodiscard]] std::int64_t size() const { return hi - lo; }
  friend bool operator==(Piece const&, Piece const&) = default;
  friend std::ostream& operator<<(std::ostream& out, Piece const& piece);
};

/// A rule by which an extent is cut: formulas, O(1); lists look up prefix sums, O(log).
///
///              10 cells 3 ways   5 cells 4 ways   3 cells 8 ways
/// balanced     4 3 3             2 1 1 1          1 1 1 0 0 0 0 0
/// ceil         4 4 2             2 2 1 0          1 1 1 0 0 0 0 0
/// unit(2)      4 4 2             2 2 1 0          2 1 0 0 0 0 0 0
/// strict       (throws)          (throws)         (throws)
///
/// Pieces are numbered in the order of the extent, and piece p belongs to way p mod ways. The rules
/// above make one piece for each way; two others make more:
///
///                               12 cells 2 ways   of way
/// segments({4, 8})              2 2 4 4           0 1 0 1
/// cyclic(5)                     5 5 2             0 1 0
class Cut {
 public:
  enum class Kind : std::uint8_t { balanced, ceil, strict, unit, explicit_sizes, segments, cyclic };
  struct Segment;

  /// The first n mod p pieces get one cell more.
  [[nodiscard]] static Cut balanced();
  /// Equal pieces of ceil(n / p) cells, the last ones short or empty: the rule of XLA.
  [[nodiscard]] static Cut ceil();
  /// Equal pieces; an extent that does not divide is an error.
  [[nodiscard]] static Cut strict();
  /// Whole blocks of `cells`, such as the columns of one attention head: the number of blocks is
  /// balanced, and the last block is short if `cells` does not divide the extent.
  /// Throws: ShardingError if `cells` is less than 1 or more than 2^62.
  [[nodiscard]] static Cut unit(std::int64_t cells);
  /// These sizes, in order; zero is allowed.
  /// Throws: ShardingError if one is negative, the list is empty, or they exceed 2^62 cells.
  [[nodiscard]] static Cut explicit_sizes(std::vector<std::int64_t> sizes);
  /// Consecutive parts of the extent, each cut separately: every way owns its piece of each part.
  /// So the gate and the up columns of a projection, or the queries, keys and values of an
  /// attention layer, can lie in one array and still be cut alike.
  /// Throws: ShardingError if the list is empty, if a segment is negative or is itself cut into
  ///         several pieces per way, or if they exceed 2^62 cells.
  /// Example: segments({{24 * 256, Cut::unit(256)}, 18432}): 24 heads, and a part that is balanced.
  [[nodiscard]] static Cut segments(std::vector<Segment> list);
  /// Blocks of `cells` cells, dealt out in turn; the last one may be short.
  /// Throws: ShardingError if `cells` is less than 1 or more than 2^62.
  [[nodiscard]] static Cut cyclic(std::int64_t cells);

  [[nodiscard]] Kind kind() const { return kind_; }
  /// Cells of a block that stays whole; 1 except for `unit` and `cyclic`.
  [[nodiscard]] std::int64_t unit_cells() const { return unit_; }
  /// True for a rule that lists its cells, and so fits one extent only.
  [[nodiscard]] bool lists_cells() const {
    return kind_ == Kind::explicit_sizes || kind_ == Kind::segments;
  }
  /// True for a rule that may give a way several pieces.
  [[nodiscard]] bool may_repeat() const { return kind_ == Kind::segments || kind_ == Kind::cyclic; }

  /// Throws: ShardingError, with numbers and a remedy, if `extent` cells cannot be cut in this way:
  ///         "10 cells cannot be cut 4 ways equally; use Cut::balanced() or pad to 12".
  void check(std::int64_t extent, std::int64_t ways) const;
  /// How many pieces there are, empty ones too: `ways`, or more. One way has one piece.
  [[nodiscard]] std::int64_t piece_count(std::int64_t extent, std::int64_t ways) const;
  /// Piece `k`, which way k mod `ways` owns. The cut must have passed `check`.
  [[nodiscard]] Piece piece(std::int64_t extent, std::int64_t ways, std::int64_t k) const;
  /// The pieces that intersect [lo, hi), as the half-open range of their numbers, which may include
  /// empty pieces. Empty for an empty [lo, hi).
  [[nodiscard]] Piece pieces_intersecting(std::int64_t extent, std::int64_t ways, std::int64_t lo,
                                          std::int64_t hi) const;
  /// The most cells that one way owns.
  [[nodiscard]] std::int64_t largest(std::int64_t extent, std::int64_t ways) const;
  /// How many ways own cells.
  [[nodiscard]] std::int64_t ways_with_cells(std::int64_t extent, std::int64_t ways) const;
  /// The cut of `rows` rows of `row_cells` cells each, counted in cells: under the result, cut the
  /// same number of ways, piece k has just the cells of the rows that piece k has here.
  /// Example: cyclic(2) of rows of 5 cells is cyclic(10) of cells.
  [[nodiscard]] Cut in_cells(std::int64_t rows, std::int64_t ways, std::int64_t row_cells) const;
  /// The inverse: the cut of `cells` cells, a multiple of `row_cells`, counted in rows; nothing if
  /// a piece, or a segment, begins or ends within a row.
  [[nodiscard]] std::optional<Cut> in_rows(std::int64_t cells, std::int64_t ways,
                                           std::int64_t row_cells) const;
  [[nodiscard]] std::uint64_t fingerprint() const;

  friend bool operator==(Cut const& a, Cut const& b);
  /// "balanced", "unit(64)", "explicit_sizes(3, 0, 2)", "segments(4, 8 unit(2))", "cyclic(5)"; of a
  /// long list the beginning.
  friend std::ostream& operator<<(std::ostream& out, Cut const& cut);

 private:
  struct Sizes;
  struct Segments;
  explicit Cut(Kind kind) : kind_(kind) {}
  [[nodiscard]] std::vector<std::int64_t> sizes_listed() const;
  [[nodiscard]] std::optional<Cut> blocks_in_rows(std::int64_t cells, std::int64_t ways,
                                                  std::int64_t row_cells) const;
  [[nodiscard]] Piece piece_in_segment(std::int64_t ways, std::int64_t k) const;
  [[nodiscard]] std::int64_t piece_with(std::int64_t extent, std::int64_t ways,
                                        std::int64_t cell) const;

  Kind kind_;
  std::int64_t unit_ = 1;                     ///< cells of a block that stays whole
  std::shared_ptr<Sizes const> sizes_;        ///< explicit sizes only
  std::shared_ptr<Segments const> segments_;  ///< segments only
};

/// A part of an extent, and how it is cut: by any rule that makes one piece for each way.
struct Cut::Segment {
  std::int64_t cells;
  Cut cut;
  Segment(std::int64_t count, Cut how = Cut::balanced())  // NOLINT: a number is a segment
      : cells(count), cut(std::move(how)) {}
  friend bool operator==(Segment const&, Segment const&) = default;
};

}  // namespace tessera
