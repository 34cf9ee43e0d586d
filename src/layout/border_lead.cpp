#include "src/layout/border_lead.hpp"

#include <algorithm>

#include "src/layout/cut_formula.hpp"

namespace tessera {
namespace {

std::int64_t border(ScaledCut const& of, std::int64_t ways, std::int64_t k) {
  return of.scale * (k == ways ? of.extent : of.cut.piece(of.extent, ways, k).lo);
}

std::int64_t bend_of(ScaledCut const& of, std::int64_t ways) {
  return CutFormula(of.cut, of.extent, ways).bend();
}

}  // namespace

std::optional<std::int64_t> border_lead(ScaledCut const& a, ScaledCut const& b, std::int64_t ways,
                                        Piece const& borders) {
  if (a == b) return 0;
  bool const is_one_rule = a.cut == b.cut && a.extent == b.extent;
  constexpr auto most_cells = std::int64_t{1} << 62;
  for (auto const* of : {&a, &b}) {
    if (of->cut.may_repeat() || (of->cut.lists_cells() && !is_one_rule)) return std::nullopt;
    if (of->scale > most_cells / std::max<std::int64_t>(of->extent, 1)) return std::nullopt;
  }
  auto const lead = [&](std::int64_t k) { return border(a, ways, k) - border(b, ways, k); };
  auto most = std::max(lead(borders.lo), lead(borders.hi - 1));
  if (is_one_rule) return most;
  // The lead is linear in k except for one bend of a and one of b, so its extremes lie at the bends
  // and at the ends. (The bend of ceil falls between two k, and the last block may be short.)
  for (auto const bend : {bend_of(a, ways), bend_of(b, ways), ways})
    for (auto const k : {bend - 1, bend, bend + 1})
      if (k >= borders.lo && k < borders.hi) most = std::max(most, lead(k));
  return most;
}

}  // namespace tessera
