#include "tessera/index/range.hpp"

#include <algorithm>

#include "tessera/base/error.hpp"
#include "tessera/detail/index/shape.hpp"

#include "src/base/text.hpp"

namespace tessera {
namespace {

// An end of a range in [low, high], counted from the end if negative.
std::int64_t clamp_end(std::int64_t value, std::int64_t extent, std::int64_t low,
                       std::int64_t high) {
  if (value < 0) value = value < -extent ? low : value + extent;
  return std::clamp(value, low, high);
}

}  // namespace

Range::Range(RangeEnd begin, RangeEnd end, std::int64_t step)
    : begin_(begin), end_(end), step_(step) {
  if (step == 0) throw ShapeError("a range has step 0; use 1 for every cell or -1 to reverse");
}

ResolvedRange Range::resolve(std::int64_t extent) const {
  if (step_ > 0) {
    auto const first = begin_.value() ? clamp_end(*begin_.value(), extent, 0, extent) : 0;
    auto const last = end_.value() ? clamp_end(*end_.value(), extent, 0, extent) : extent;
    if (last <= first) return {first, step_, 0};
    // A division costs more than the rest.
    return {first, step_, step_ == 1 ? last - first : (last - first - 1) / step_ + 1};
  }
  auto const first =
      begin_.value() ? clamp_end(*begin_.value(), extent, -1, extent - 1) : extent - 1;
  auto const last = end_.value() ? clamp_end(*end_.value(), extent, -1, extent - 1) : -1;
  auto const count = first > last ? 1 - (first - last - 1) / step_ : 0;
  return {first, step_, count};
}

std::ostream& operator<<(std::ostream& out, ResolvedRange const& range) {
  return out << counted(range.count, "cell") << " from " << range.first << " by " << range.step;
}

std::ostream& operator<<(std::ostream& out, Range const& range) {
  out << '[';
  if (range.begin_.value()) out << *range.begin_.value();
  out << ':';
  if (range.end_.value()) out << *range.end_.value();
  if (range.step_ != 1) out << ':' << range.step_;
  return out << ']';
}

std::int64_t detail::resolve_index(std::int64_t index, std::int64_t extent, std::size_t dimension) {
  if (index < -extent || index >= extent)
    throw IndexError(text("index ", index, " is outside dimension ", dimension, ", which has ",
                          counted(extent, "cell")));
  return index < 0 ? index + extent : index;
}

}  // namespace tessera
