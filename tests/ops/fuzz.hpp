#pragma once
/// @file
/// Random programs on random layouts against the mirror. A program is a list of statements with all
/// its numbers drawn beforehand, run several times over, so that plans and fresh ghost cells are
/// used again.

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <sstream>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/array/adopt.hpp"
#include "tessera/array/contract.hpp"
#include "tessera/array/creation.hpp"
#include "tessera/array/operators.hpp"
#include "tessera/array/rearrange.hpp"
#include "tessera/array/shift.hpp"
#include "tessera/detail/array/evaluate/assign.hpp"
#include "tessera/ops/reductions.hpp"
#include "tessera/runtime/runtime.hpp"

#include "src/base/detail.hpp"
#include "src/index/affine_map.hpp"
#include "src/ops/detail.hpp"
#include "src/plan/access.hpp"

#include "support/agree.hpp"
#include "support/layouts.hpp"
#include "support/left_out.hpp"
#include "support/mirror.hpp"

#include "coverage.hpp"
#include "random_programs.hpp"

namespace tessera::test {

enum class Kind : std::uint8_t {
  copy_slice,
  combine,
  stencil,
  choose,
  shift_one,
  shift_two,
  shift_self,
  roll_self,
  pointwise,
  fill,
  add_sum,
  copy_array,
  swap_arrays,
  broadcast,
  drop_dimension,
  transpose_slice,
  reshard_array,
  set_element,
  sprinkle,  ///< several elements, then a stencil on the same array
  masked,
  transposed_sum,
  repeat_slice,
  copy_transposed,
  function,
  contracted,
  named,
  count
};

/// The sine, of floating types; integers stay.
template <class T, class E>
auto sine_of(E const& e) {
  if constexpr (!std::is_floating_point_v<T>)
    return e;
  else if constexpr (std::is_same_v<E, T>)
    return detail::value_of<detail::Function::sin>(e);
  else
    return sin(e);
}

/// One statement with its numbers. Which of them count depends on the kind.
struct Step {
  Kind kind = Kind::fill;
  std::size_t a = 0, b = 0, c = 0;  ///< arrays: a is written
  Spans in_a, in_b, in_c;
  Index offsets_1, offsets_2;
  std::vector<Edges> edges_1, edges_2;
  std::int64_t axis = 0, by = 0, value = 0;
  std::vector<NamedSharding> sharding;
};

inline Boundary to_boundary(Edge const& edge_of) {
  if (edge_of.kind == BoundaryKind::constant) return constant(edge_of.value);
  return Boundary(edge_of.kind);
}

template <class T, std::size_t N>
class Fuzz {
 public:
  static constexpr std::size_t rank = N;
  static constexpr std::size_t arrays = 3;
  using Array = DistArray<T, N>;

  /// The random program of a seed; `dropped` statements, by number, are left out.
  explicit Fuzz(std::uint64_t seed, std::vector<bool> const& dropped = {})
      : random_(seed), seed_(seed) {
    make_shapes();
    for (std::size_t k = 0; k < arrays; ++k) make_array(k);
    auto const length = random_.between(0, 7) == 0 ? random_.between(8, 16) : random_.between(1, 6);
    std::vector<Step> steps;
    for (std::int64_t s = 0; s < length; ++s) {
      auto step = s > 0 && random_.between(0, 3) == 0 ? repeated_step(steps) : random_step();
      steps.push_back(step);
      auto const number = static_cast<std::size_t>(s);
      if (number >= dropped.size() || !dropped[number]) program_.push_back(std::move(step));
    }
    repeats_ = random_.between(1, 4);
    check_each_ = random_.between(0, 3) == 0;
  }

  /// True if all cells of all arrays agree with the mirror at the end.
  bool run() {
    for (std::int64_t r = 0; r < repeats_; ++r)
      for (auto const& step : program_) {
        if (r == 0) note(step);
        carry_out(step);
        mirror(step);
        if ((check_each_ || checks_all()) && !holds(&step)) return false;
      }
    return holds(nullptr);
  }

  void be_silent() { is_silent_ = true; }
  [[nodiscard]] std::size_t statements() const { return program_.size(); }

 private:
  // --- drawing -----------------------------------------------------------------------------------

  Shape random_shape() {
    Shape shape;
    auto const most = N == 1 ? 24 : N == 2 ? 9 : 6;
    for (std::size_t d = 0; d < N; ++d)
      shape.push_back(random_.between(0, 9) == 0 ? random_.between(0, 2)
                                                 : random_.between(2, most));
    return shape;
  }

  void make_shapes() {
    bool const equal = random_.between(0, 2) != 0;
    auto const shape = random_shape();
    for (std::size_t k = 0; k < arrays; ++k)
      shapes_.push_back(equal || k == 0 ? shape : random_shape());
    alike_ = random_.chance();
  }

  void make_array(std::size_t k) {
    auto const& shape = shapes_[k];
    bool const same = k > 0 && alike_ && shape == shapes_[0];
    auto const sharding = same ? u_[0].sharding()
                          : k > 0 && alike_
                              ? random_sharding_on(random_, u_[0].sharding().mesh(), shape)
                              : random_sharding(random_, device_count(), shape);
    auto const salt = static_cast<std::int64_t>(k) * 17 + 3;
    m_.push_back(Mirror<T>::made_of(shape, [&](Index const& i) {
      std::int64_t v = salt;
      for (std::size_t d = 0; d < N; ++d) v = (v * 31 + i[d] * 7) % 101;
      return value_of(v);
    }));
    u_.push_back(from_host<T, N>(std::span<T const>(m_[k].cells), extents_of(shape), sharding));
    if (mix(seed_, k) % 10 == 0) pin(u_.back());  // draws nothing: programs stay what they are
  }

  static T value_of(std::int64_t v) {
    if constexpr (std::is_floating_point_v<T>)
      return static_cast<T>(static_cast<double>(v) * 0.37 - 11.1);
    else
      return static_cast<T>(v - 30);
  }
  static std::array<std::int64_t, N> extents_of(Shape const& shape) {
    std::array<std::int64_t, N> result;
    for (std::size_t d = 0; d < N; ++d) result[d] = shape[d];
    return result;
  }

  Span random_span(std::int64_t extent, std::int64_t count) {
    Span span{0, 1, count};
    if (count == 0) return {random_.between(0, extent), 1, 0};
    auto const most = count == 1 ? 1 : (extent - 1) / (count - 1);
    span.step =
        random_.between(0, 2) == 0 ? random_.between(1, std::min<std::int64_t>(most, 3)) : 1;
    span.first = random_.between(0, extent - 1 - span.step * (count - 1));
    if (count > 1 && random_.between(0, 4) == 0)  // the same cells backwards
      span = {span.first + span.step * (count - 1), -span.step, count};
    return span;
  }

  // Counts that all three arrays can give; often nearly all cells. `b` may be read transposed.
  Shape random_counts(std::size_t a, std::size_t b, std::size_t c, bool is_transposed) {
    Shape counts;
    for (std::size_t d = 0; d < N; ++d) {
      auto const of_b = shapes_[b][is_transposed ? N - 1 - d : d];
      auto const most = std::min({shapes_[a][d], of_b, shapes_[c][d]});
      auto const style = random_.between(0, 4);
      auto const count = style == 0   ? random_.between(0, most)
                         : style == 1 ? (most + 1) / 2
                                      : most - random_.between(0, 3);
      counts.push_back(std::clamp<std::int64_t>(count, 0, most));
    }
    return counts;
  }

  static Index reversed(Index const& i) {
    Index result;
    for (std::size_t d = i.size(); d-- > 0;) result.push_back(i[d]);
    return result;
  }
  Spans random_spans(std::size_t array, Shape const& counts) {
    Spans spans;
    for (std::size_t d = 0; d < N; ++d) spans.push_back(random_span(shapes_[array][d], counts[d]));
    return spans;
  }

  std::int64_t random_offset() {
    auto const style = random_.between(0, 9);
    return style < 6   ? random_.between(-1, 1)
           : style < 9 ? random_.between(-4, 4)
                       : random_.between(-40, 40);
  }
  Edge random_edge() { return {random_end(random_), random_.between(-9, 9)}; }
  void random_shift(Index& offsets, std::vector<Edges>& edges) {
    for (std::size_t d = 0; d < N; ++d) {
      offsets.push_back(random_offset());
      if (random_.chance())
        edges.push_back({Edge{}, Edge{}});
      else
        edges.push_back({random_edge(), random_edge()});
    }
  }

  Step random_step() {
    Step step;
    step.kind = static_cast<Kind>(random_.between(0, static_cast<std::int64_t>(Kind::count) - 1));
    auto const any = [&] { return static_cast<std::size_t>(random_.between(0, arrays - 1)); };
    step.a = any();
    step.b = any();
    step.c = any();
    if (step.kind == Kind::stencil || step.kind == Kind::shift_self || step.kind == Kind::sprinkle)
      step.b = step.c = step.a;
    bool const same_shape = shapes_[step.a] == shapes_[step.b];
    if (!same_shape && (step.kind == Kind::copy_array || step.kind == Kind::swap_arrays))
      step.kind = Kind::copy_slice;
    if (N == 1 && step.kind == Kind::drop_dimension) step.kind = Kind::stencil;
    bool const is_transposed =
        step.kind == Kind::transpose_slice || step.kind == Kind::copy_transposed;
    if (N == 1 && is_transposed) step.kind = Kind::copy_slice;
    auto const counts = random_counts(step.a, step.b, step.c, is_transposed);
    step.in_a = random_spans(step.a, counts);
    step.in_b = random_spans(step.b, is_transposed ? reversed(counts) : counts);
    step.in_c = random_spans(step.c, counts);
    random_shift(step.offsets_1, step.edges_1);
    random_shift(step.offsets_2, step.edges_2);
    bool const shifts = step.kind == Kind::shift_one || step.kind == Kind::shift_two ||
                        step.kind == Kind::shift_self;
    if (shifts && same_shape && random_.between(0, 3) != 0)  // whole arrays wrap around in place
      step.in_a = step.in_b = m_[step.a].all();
    step.axis = random_.between(0, N - 1);
    step.by = random_offset();
    step.value = random_.between(-20, 20);
    if (step.kind == Kind::broadcast || step.kind == Kind::repeat_slice)
      for (auto& span : step.in_c)
        if (random_.chance() && span.count > 0) span.count = 1;
    if (step.kind == Kind::reshard_array)
      step.sharding.push_back(random_sharding(random_, device_count(), shapes_[step.a]));
    if (step.kind == Kind::drop_dimension && shapes_[step.b][0] == 0) step.kind = Kind::fill;
    bool const sets_elements = step.kind == Kind::set_element || step.kind == Kind::sprinkle;
    if (sets_elements && cells_of(shapes_[step.a]) == 0) step.kind = Kind::fill;
    return step;
  }

  // A statement that came before, on the same arrays or on others of the same shapes.
  Step repeated_step(std::vector<Step> const& steps) {
    auto const last = static_cast<std::int64_t>(steps.size()) - 1;
    auto step = steps[static_cast<std::size_t>(random_.between(0, last))];
    for (auto* array : {&step.a, &step.b, &step.c}) {
      auto const other = static_cast<std::size_t>(random_.between(0, arrays - 1));
      if (random_.chance() && shapes_[other] == shapes_[*array]) *array = other;
    }
    return step;
  }

  // --- carrying out ------------------------------------------------------------------------------

  static constexpr auto k0 = std::conditional_t<std::is_floating_point_v<T>, T, std::int64_t>(
      std::is_floating_point_v<T> ? 0.3 : 3);
  static constexpr auto k1 = std::conditional_t<std::is_floating_point_v<T>, T, std::int64_t>(
      std::is_floating_point_v<T> ? 0.1 : 5);
  static constexpr auto k2 = std::conditional_t<std::is_floating_point_v<T>, T, std::int64_t>(
      std::is_floating_point_v<T> ? -0.55 : -7);

  static Range to_range(Span const& span) {
    if (span.count == 0) return range(span.first, span.first);
    auto const end = span.first + span.step * span.count;
    return range(span.first, end < 0 ? RangeEnd(none) : RangeEnd(end), span.step);
  }
  template <class U, std::size_t... D>
  static auto slice(U& u, Spans const& spans, std::index_sequence<D...>) {
    return u(to_range(spans[D])...);
  }
  template <class U>
  static auto slice(U& u, Spans const& spans) {
    return slice(u, spans, std::make_index_sequence<N>());
  }
  // Without its first dimension, at that index.
  template <class U, std::size_t... D>
  static auto layer(U& u, Spans const& spans, std::index_sequence<D...>) {
    return u(spans[0].first, to_range(spans[D + 1])...);
  }

  template <class V>
  static auto moved(V const& view, Index const& offsets, std::vector<Edges> const& edges) {
    std::vector<Boundaries> boundaries;
    for (auto const& both : edges)
      boundaries.emplace_back(to_boundary(both.below), to_boundary(both.above));
    std::array<std::int64_t, N> by;
    for (std::size_t d = 0; d < N; ++d) by[d] = offsets[d];
    return detail::shift_by<Boundaries>(view, by, boundaries, {});
  }

  template <std::size_t... D>
  void set_element(Step const& step, std::index_sequence<D...>) {
    for (std::int64_t k = 0; k < elements_of(step); ++k)
      u_[step.a](element(step, k)[D]...) = static_cast<T>(step.value + k);
  }
  // More small writes than an array keeps count of.
  static std::int64_t elements_of(Step const& step) { return step.kind == Kind::sprinkle ? 9 : 1; }
  Index element(Step const& step, std::int64_t k) const {
    Index i;
    for (std::size_t d = 0; d < N; ++d)
      i.push_back(floor_mod((step.value + k * k) * 7 + step.by + k, shapes_[step.a][d]));
    return i;
  }

  void carry_out(Step const& step) {
    auto& a = u_[step.a];
    auto const& b = u_[step.b];
    auto const& c = u_[step.c];
    auto const to = slice(a, step.in_a);
    auto const in_b = slice(b, step.in_b);
    auto const in_c = slice(c, step.in_c);
    switch (step.kind) {
      case Kind::copy_slice:
        to = in_b;
        break;
      case Kind::combine:
        to = k0 * in_b + k2 * in_c;
        break;
      case Kind::sprinkle:
        set_element(step, std::make_index_sequence<N>());
        [[fallthrough]];
      case Kind::stencil:
        to = k0 * to + k1 * in_b + k2 * in_c;
        break;
      case Kind::function:
        to = k1 * sine_of<T>(in_b) + in_c;
        break;
      case Kind::contracted:
        to = contract(k0 * in_b - (k1 * to + k2 * in_c) * in_b);
        break;
      case Kind::named: {
        auto const sum = let(k0 * in_b + in_c);
        to = sum + k1 * moved(sum, step.offsets_1, step.edges_1) - sum * to;
        break;
      }
      case Kind::choose:
        to = where(in_b > in_c, in_b, 7);
        break;
      case Kind::shift_one:
        to = moved(in_b, step.offsets_1, step.edges_1);
        break;
      case Kind::shift_two:
      case Kind::shift_self:
        to = k0 * moved(in_b, step.offsets_1, step.edges_1) +
             k2 * moved(in_b, step.offsets_2, step.edges_2);
        break;
      case Kind::roll_self:
        a = roll(a, step.by, step.axis);
        break;
      case Kind::pointwise:
        to = to * k0 + index(static_cast<std::size_t>(step.axis));
        break;
      case Kind::fill:
        to = static_cast<T>(step.value);
        break;
      case Kind::add_sum:
        to = k1 * in_b + k1 * sum(in_c);
        break;
      case Kind::copy_array:
        a = b;
        break;
      case Kind::swap_arrays:
        std::swap(a, u_[step.b]);
        break;
      case Kind::broadcast:
        to = k0 * in_b + in_c;
        break;
      case Kind::repeat_slice:
        to = in_c;
        break;
      case Kind::copy_transposed:
        to = transpose(in_b);
        break;
      case Kind::drop_dimension:
        if constexpr (N > 1)
          to = k1 * layer(b, layer_spans(step), std::make_index_sequence<N - 1>()) + to * k0;
        break;
      case Kind::transpose_slice:
        to = k0 * transpose(in_b) + k1 * to;
        break;
      case Kind::reshard_array:
        a = reshard(a, step.sharding[0]);
        break;
      case Kind::set_element:
        set_element(step, std::make_index_sequence<N>());
        break;
      case Kind::masked:
        to(in_b > in_c) = k0 * in_b + 1;
        break;
      case Kind::transposed_sum:
        transpose(to) = k0 * transpose(in_b) + transpose(k2 * in_c + to);
        break;
      case Kind::count:
        break;
    }
  }

  // The index of the layer must exist, even if the spans are empty.
  Spans layer_spans(Step const& step) const {
    auto spans = step.in_b;
    spans[0].first = std::clamp<std::int64_t>(spans[0].first, 0, shapes_[step.b][0] - 1);
    return spans;
  }

  // --- coverage ----------------------------------------------------------------------------------

  static constexpr std::size_t type_number() {
    if constexpr (std::is_floating_point_v<T>)
      return sizeof(T) == 8 ? 0 : 1;
    else
      return sizeof(T) == 8 ? 2 : 3;
  }

  // How a statement reads an array.
  struct Use {
    std::size_t array;
    Spans spans;
    Index const* offsets = nullptr;
    std::vector<Edges> const* edges = nullptr;
    bool is_transposed = false;
    bool drops_first = false;
  };

  void note(Step const& step) const {
    auto const all = [&](std::size_t k) { return m_[k].all(); };
    auto const& spans = step.in_a;
    switch (step.kind) {
      case Kind::copy_slice:
      case Kind::add_sum:
        return note(step.a, spans, {step.b, step.in_b});
      case Kind::combine:
      case Kind::choose:
      case Kind::broadcast:
      case Kind::stencil:
      case Kind::sprinkle:
      case Kind::contracted:
      case Kind::named:
      case Kind::masked:
      case Kind::function:
      case Kind::transposed_sum:
        note(step.a, spans, {step.c, step.in_c});
        note(step.a, spans, {step.b, step.in_b});
        if (step.kind == Kind::stencil || step.kind == Kind::sprinkle ||
            step.kind == Kind::contracted || step.kind == Kind::named)
          note(step.a, spans, {step.a, spans});
        return;
      case Kind::shift_two:
      case Kind::shift_self:
        note(step.a, spans, {step.b, step.in_b, &step.offsets_2, &step.edges_2});
        [[fallthrough]];
      case Kind::shift_one:
        return note(step.a, spans, {step.b, step.in_b, &step.offsets_1, &step.edges_1});
      case Kind::pointwise:
        return note(step.a, spans, {step.a, spans});
      case Kind::copy_array:
        return note(step.a, all(step.a), {step.b, all(step.b)});
      case Kind::repeat_slice:
        return note(step.a, spans, {step.c, step.in_c});
      case Kind::transpose_slice:
      case Kind::copy_transposed:
        return note(step.a, spans, {step.b, step.in_b, nullptr, nullptr, true});
      case Kind::drop_dimension:
        return note(step.a, spans, {step.b, layer_spans(step), nullptr, nullptr, false, true});
      default:
        return;
    }
  }

  void note(std::size_t target, Spans const& to, Use const& use) const {
    auto const& sharding = u_[use.array].sharding();
    auto const& here = u_[target].sharding();
    Combination seen;
    seen[Feature::type] = type_number();
    seen[Feature::shards] = has_empty_shard(use.array) ? 1 : 0;
    seen[Feature::mesh] = sharding == here ? 0 : sharding.mesh() == here.mesh() ? 1 : 2;
    seen[Feature::alias] = alias_of(target, to, use);
    for (std::size_t d = 0; d < N; ++d) {
      auto const kind = static_cast<std::size_t>(sharding.cut(d).kind());
      seen[Feature::cut] = sharding.ways(d) == 1 ? 0 : kind + 1;
      seen[Feature::map] = map_of(to, use, d);
      note_dimension(seen, use, d);
    }
  }

  // Twice where the two ends of a dimension may differ.
  void note_dimension(Combination seen, Use const& use, std::size_t d) const {
    bool const moves = seen[Feature::map] != repeated && seen[Feature::map] != left_out;
    auto const step = use.spans[d].step;
    seen[Feature::step] = !moves || step == 1 ? 0 : step > 1 ? 1 : 2;
    if (moves && use.offsets != nullptr && (*use.offsets)[d] != 0) {
      auto const& edges = (*use.edges)[d];
      seen[Feature::boundary] = static_cast<std::size_t>(edges.below.kind);
      Coverage::instance().note(seen);
      seen[Feature::boundary] = static_cast<std::size_t>(edges.above.kind);
    }
    Coverage::instance().note(seen);
  }

  bool has_empty_shard(std::size_t k) const {
    auto const& sharding = u_[k].sharding();
    for (std::int64_t p = 0; p < sharding.mesh().size(); ++p) {
      auto const boxes = sharding.boxes_of(sharding.mesh().device_at(p), shapes_[k]);
      if (std::all_of(boxes.begin(), boxes.end(), [](Box const& box) { return box.empty(); }))
        return true;
    }
    return false;
  }

  static constexpr std::size_t repeated = 4;
  static constexpr std::size_t left_out = 5;

  static std::size_t map_of(Spans const& to, Use const& use, std::size_t d) {
    auto const& from = use.spans[d];
    auto const& into = to[use.is_transposed ? N - 1 - d : d];
    if (use.drops_first && d == 0) return left_out;
    if (from.count == 1 && into.count > 1) return repeated;
    if (use.is_transposed && N - 1 - d != d) return 6;
    if ((from.step < 0) != (into.step < 0)) return 3;
    if (from.step != into.step) return 2;
    auto const by = use.offsets == nullptr ? 0 : (*use.offsets)[d];
    return from.first == into.first && by == 0 ? 0 : 1;
  }

  static std::size_t alias_of(std::size_t target, Spans const& to, Use const& use) {
    if (use.array != target) return 0;
    bool same = true;
    bool meet = true;
    for (std::size_t d = 0; d < N; ++d) {
      same = same && map_of(to, use, d) == 0;
      auto const& from = use.spans[d];
      meet = meet &&
             ranges_intersect(from.first, from.step, use.drops_first && d == 0 ? 1 : from.count,
                              to[d].first, to[d].step, to[d].count);
    }
    return same ? 1 : meet ? 2 : 3;
  }

  // --- the oracle --------------------------------------------------------------------------------

  static T total(Mirror<T> const& part) {
    if constexpr (std::is_floating_point_v<T>) {
      BinnedSum sum;
      for (auto const v : part.cells) sum.add(static_cast<double>(v));
      return static_cast<T>(sum.value());
    } else {
      std::uint64_t sum = 0;
      for (auto const v : part.cells) sum += static_cast<std::uint64_t>(v);
      return static_cast<T>(sum);
    }
  }
  // Integers wrap around.
  static T times(T x, T y) {
    if constexpr (std::is_floating_point_v<T>)
      return x * y;
    else
      return static_cast<T>(static_cast<std::uint64_t>(x) * static_cast<std::uint64_t>(y));
  }
  static T plus(T x, T y) {
    if constexpr (std::is_floating_point_v<T>)
      return x + y;
    else
      return static_cast<T>(static_cast<std::uint64_t>(x) + static_cast<std::uint64_t>(y));
  }
  static T fused(T x, T y, T z) {
    if constexpr (std::is_floating_point_v<T>)
      return std::fma(x, y, z);
    else
      return plus(times(x, y), z);
  }

  void mirror(Step const& step) {
    auto& a = m_[step.a];
    auto const to = a.slice(step.in_a);
    auto const b = m_[step.b].slice(step.in_b);
    auto const c = m_[step.c].slice(step.in_c);
    auto const& shape = to.shape;
    auto const put = [&](auto const& f, auto const&... operands) {
      a.assign(step.in_a, combined<T>(shape, f, operands...));
    };
    switch (step.kind) {
      case Kind::copy_slice:
        a.assign(step.in_a, b);
        break;
      case Kind::combine:
      case Kind::broadcast: {
        auto const k = step.kind == Kind::broadcast ? T{1} : static_cast<T>(k2);
        put([&](T x, T y) { return plus(times(k0, x), times(k, y)); }, b, c);
        break;
      }
      case Kind::repeat_slice:
        put([](T x) { return x; }, c);
        break;
      case Kind::copy_transposed:
        a.assign(step.in_a,
                 Mirror<T>::made_of(shape, [&](Index const& i) { return b.at(reversed(i)); }));
        break;
      case Kind::stencil:
        put([](T x, T y, T z) { return plus(plus(times(k0, x), times(k1, y)), times(k2, z)); }, to,
            b, c);
        break;
      case Kind::function:
        put([](T x, T y) { return plus(times(k1, sine_of<T>(x)), y); }, b, c);
        break;
      case Kind::named: {
        auto const sum = combined<T>(
            shape, [](T x, T y) { return plus(times(k0, x), y); }, b, c);
        put([](T x, T y, T z) { return plus(plus(x, times(k1, y)), times(T{-1}, times(x, z))); },
            sum, sum.shifted(step.offsets_1, step.edges_1), to);
        break;
      }
      case Kind::contracted:
        put(
            [](T x, T y, T z) {
              auto const sum = fused(k1, x, times(k2, z));
              return fused(k0, y, times(T{-1}, times(sum, y)));
            },
            to, b, c);
        break;
      case Kind::choose:
        put([](T x, T y) { return x > y ? x : T{7}; }, b, c);
        break;
      case Kind::shift_one:
        a.assign(step.in_a, b.shifted(step.offsets_1, step.edges_1));
        break;
      case Kind::shift_two:
      case Kind::shift_self:
        put([](T x, T y) { return plus(times(k0, x), times(k2, y)); },
            b.shifted(step.offsets_1, step.edges_1), b.shifted(step.offsets_2, step.edges_2));
        break;
      case Kind::roll_self:
        mirror_roll(step);
        break;
      case Kind::pointwise: {
        auto const axis = static_cast<std::size_t>(step.axis);
        a.assign(step.in_a, Mirror<T>::made_of(shape, [&](Index const& i) {
                   return plus(times(to.at(i), k0), static_cast<T>(i[axis]));
                 }));
        break;
      }
      case Kind::fill:
        put([&] { return static_cast<T>(step.value); });
        break;
      case Kind::add_sum: {
        auto const s = times(k1, total(c));
        put([&](T x) { return plus(times(k1, x), s); }, b);
        break;
      }
      case Kind::copy_array:
        a = Mirror<T>(m_[step.b]);
        break;
      case Kind::swap_arrays:
        std::swap(a, m_[step.b]);
        break;
      case Kind::drop_dimension: {
        auto spans = layer_spans(step);
        spans[0].step = spans[0].count = 1;
        auto row = m_[step.b].slice(spans);
        put([](T x, T y) { return plus(times(k1, x), times(y, k0)); }, row, to);
        break;
      }
      case Kind::transpose_slice:
        a.assign(step.in_a, Mirror<T>::made_of(shape, [&](Index const& i) {
                   return plus(times(k0, b.at(reversed(i))), times(k1, to.at(i)));
                 }));
        break;
      case Kind::reshard_array:
        break;
      case Kind::set_element:
        mirror_elements(step);
        break;
      case Kind::sprinkle:
        mirror_elements(step);
        put([](T x, T y, T z) { return plus(plus(times(k0, x), times(k1, y)), times(k2, z)); },
            a.slice(step.in_a), m_[step.b].slice(step.in_b), m_[step.c].slice(step.in_c));
        break;
      case Kind::masked:
        put([](T x, T y, T z) { return y > z ? plus(times(k0, y), T{1}) : x; }, to, b, c);
        break;
      case Kind::transposed_sum:
        put([](T x, T y, T z) { return plus(times(k0, y), plus(times(k2, z), x)); }, to, b, c);
        break;
      case Kind::count:
        break;
    }
  }

  void mirror_elements(Step const& step) {
    for (std::int64_t k = 0; k < elements_of(step); ++k)
      m_[step.a].at(element(step, k)) = static_cast<T>(step.value + k);
  }

  void mirror_roll(Step const& step) {
    Index offsets(N, 0);
    offsets[static_cast<std::size_t>(step.axis)] = -step.by;
    auto& a = m_[step.a];
    if (cells_of(a.shape) > 0) a = a.shifted(offsets, std::vector<Edges>(N, Edges{Edge{}, Edge{}}));
  }

  // --- comparing ---------------------------------------------------------------------------------

  bool holds(Step const* after) {
    bool good = true;
    for (std::size_t k = 0; k < arrays; ++k) {
      auto const cells = u_[k].to_host();
      bool const same = agree(same_bits(cells, m_[k].cells));
      good = good && same;
      if (!same) complain(k, cells, after);
    }
    return good;
  }

  void complain(std::size_t k, std::vector<T> const& cells, Step const* after) {
    if (process().value() != 0 || is_silent_) return;
    std::ostringstream out;
    out << "seed " << seed_ << ", " << N << " dimensions, array " << k << ' ' << shapes_[k] << ' '
        << u_[k].sharding() << "\n  is    ";
    for (auto const v : cells) out << v << ' ';
    out << "\n  wants ";
    for (auto const v : m_[k].cells) out << v << ' ';
    out << '\n';
    if (after != nullptr) describe(out, *after);
    if (after == nullptr)
      for (auto const& step : program_) describe(out, step);
    MESSAGE(out.str());
  }

  void describe(std::ostream& out, Step const& step) const {
    out << "  kind " << static_cast<int>(step.kind) << " a " << step.a << " b " << step.b << " c "
        << step.c;
    for (auto const* spans : {&step.in_a, &step.in_b, &step.in_c}) {
      out << " [";
      for (auto const& s : *spans) out << s << ' ';
      out << ']';
    }
    out << " offsets " << step.offsets_1 << ' ' << step.offsets_2 << " edges";
    for (auto const* edges : {&step.edges_1, &step.edges_2})
      for (auto const& e : *edges)
        out << ' ' << to_string(e.below.kind) << '/' << to_string(e.above.kind);
    out << " axis " << step.axis << " by " << step.by << " value " << step.value << '\n';
  }

  Random random_;
  std::uint64_t seed_;
  std::vector<Shape> shapes_;
  bool alike_ = false;
  std::vector<Array> u_;
  std::vector<Mirror<T>> m_;
  std::vector<Step> program_;
  std::int64_t repeats_ = 1;
  bool check_each_ = false;
  bool is_silent_ = false;
};

/// Runs random programs of element type T in N dimensions; see run_random_programs.
template <class T, std::size_t N>
void fuzz(std::int64_t cases) {
  run_random_programs<Fuzz<T, N>>(cases);
}

}  // namespace tessera::test
