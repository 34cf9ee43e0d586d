#pragma once
/// @file
/// Temporaries: memory in which a device assembles cells that it cannot read in place.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "src/base/detail.hpp"
#include "src/index/affine_map.hpp"
#include "src/index/box.hpp"
#include "src/plan/access.hpp"
#include "src/plan/exchange/cells.hpp"
#include "src/plan/ghost.hpp"

namespace tessera {

/// Memory for cells of one array: place p along a dimension is for the unwrapped cell
/// first + stride · p. Operands and work boxes that read the same cells share it.
struct Temporary {
  /// One dimension of the array.
  struct Axis {
    std::int64_t first = 0;
    std::int64_t stride = 1;
    friend bool operator==(Axis const&, Axis const&) = default;
  };
  /// Cells that the device needs here, and an operand that reads them. Their lattice counts places.
  struct Need {
    std::size_t operand = 0;
    Cells cells;
  };
  std::size_t array = 0;  ///< as OperandUse::array
  Box places;
  InlineVector<Axis, max_rank> axes;
  std::vector<Need> needs;  ///< disjoint, without those that are copied from elsewhere

  /// Turns the cells that an operand reads, by indices of the statement from `first` on, into
  /// places.
  [[nodiscard]] AffineMap places_of(AffineMap cells, Index const& first) const;
};

/// One formula by which a work box reads an operand that is not read in place.
struct TemporaryRead {
  static constexpr std::size_t own_box = static_cast<std::size_t>(-1);

  std::size_t operand = 0;
  std::size_t work = 0;
  /// By indices of the statement. The lattice is the hull of all periodic images; the cells of the
  /// axes are those of the first.
  Cells cells;
  std::size_t temporary = own_box;  ///< own_box: one box of the device holds all these cells
};

/// Cells that a device needs in two places of its temporaries: they come to the one, and the device
/// copies them to the other.
struct SecondPlace {
  std::size_t from = 0;  ///< numbers of temporaries
  std::size_t to = 0;
  Box places;             ///< in `to`
  AffineMap from_places;  ///< the place in `from` of each
};

/// The temporaries of a device for a statement.
struct Temporaries {
  std::vector<Temporary> list;
  std::vector<TemporaryRead> reads;  ///< by operand, then by work
  std::vector<SecondPlace> second_places;

  /// How a work box reads an operand by a formula.
  [[nodiscard]] TemporaryRead const& read_of(std::size_t operand, std::size_t work,
                                             OperandFormula const& formula) const;
};

/// Decides which cells `device` assembles where. Those that overlap, or lie side by side, share a
/// temporary unless most of their hull would be empty. Each cell comes once, except where two reads
/// have steps of which neither divides the other along all dimensions.
///
/// Ranks: pure.
/// Cost:  O(n log n) for n work boxes in a row, and O(m n) for those of m rows, if few of them
///        overlap.
[[nodiscard]] Temporaries plan_temporaries(std::span<OperandUse const> operands,
                                           std::span<WorkBox const> works, DeviceId device);

}  // namespace tessera
