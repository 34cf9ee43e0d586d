#include <array>
#include <bit>
#include <complex>
#include <map>
#include <string>
#include <tuple>
#include <variant>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/array/operators.hpp"
#include "tessera/detail/array/evaluate/assign.hpp"

#include "src/base/text.hpp"

#include "support/arrays.hpp"
#include "support/device_kinds.hpp"
#include "support/numpy_cases.hpp"

using namespace tessera;
using test::numpy_cases;
using test::over;

/// Slices, broadcasting, types and values, against what NumPy 2 answered.
TEST_SUITE_BEGIN("expr/numpy");

namespace {

using Integers = std::vector<std::int64_t>;
using AnySelector = std::variant<std::int64_t, Range>;

RangeEnd end_of(std::string const& word) {
  if (word.empty()) return none;
  return RangeEnd(static_cast<std::int64_t>(std::stoll(word)));
}

// "3", "1:", "::-2"
AnySelector selector_of(std::string const& word) {
  auto const first = word.find(':');
  if (first == std::string::npos) return static_cast<std::int64_t>(std::stoll(word));
  auto const second = word.find(':', first + 1);
  auto const end =
      word.substr(first + 1, second == std::string::npos ? second : second - first - 1);
  auto const step = second == std::string::npos ? "1" : word.substr(second + 1);
  return Range(end_of(word.substr(0, first)), end_of(end), std::stoll(step));
}

template <std::size_t N>
std::array<std::int64_t, N> extents_of(Shape const& shape) {
  std::array<std::int64_t, N> extents;
  for (std::size_t d = 0; d < N; ++d) extents[d] = shape[d];
  return extents;
}

// A spread that cuts every dimension, on one mesh.
template <std::size_t N>
NamedSharding cut_everywhere() {
  Mesh const mesh({{"z", 2}, {"y", 2}, {"x", 2}});
  if constexpr (N == 1) return {mesh, P({"z", "y", "x"})};
  if constexpr (N == 2) return {mesh, P("z", {"y", "x"})};
  if constexpr (N == 3) return {mesh, P("z", "y", "x")};
}

template <std::size_t N>
DistArray<std::int64_t, N> counted_array(Shape const& shape) {
  return iota<std::int64_t>(extents_of<N>(shape), cut_everywhere<N>());
}

// What a view shows, and its shape.
template <class V>
std::string shown(V const& view) {
  if constexpr (V::rank == 0) {
    return text("- ", static_cast<std::int64_t>(view));
  } else {
    auto const cells = view.to_host();
    auto const list = [](auto const& numbers) {
      return std::empty(numbers) ? std::string("-") : join(numbers, "", "", ",");
    };
    return text(list(view.extents()), ' ', list(cells));
  }
}

// Applies selectors that are known only now, one dimension after the other.
template <class Array, class... S>
std::string slice(Array const& u, std::vector<AnySelector> const& selectors, S const&... chosen) {
  if constexpr (sizeof...(S) == Array::rank) {
    return shown(u(chosen...));
  } else {
    return std::visit([&](auto const& next) { return slice(u, selectors, chosen..., next); },
                      selectors[sizeof...(S)]);
  }
}

std::string slice_of(Shape const& shape, std::vector<AnySelector> const& selectors) {
  if (shape.size() == 1) return slice(counted_array<1>(shape), selectors);
  if (shape.size() == 2) return slice(counted_array<2>(shape), selectors);
  return slice(counted_array<3>(shape), selectors);
}

template <std::size_t A, std::size_t B>
std::string broadcast_of(Shape const& a, Shape const& b) {
  auto const u = counted_array<A>(a);
  auto const v = counted_array<B>(b);
  try {
    return shown(DistArray(1000 * u + v).view({}));
  } catch (ShapeError const&) {
    return "error";
  }
}

template <std::size_t A>
std::string broadcast_with(Shape const& a, Shape const& b) {
  if (b.size() == 1) return broadcast_of<A, 1>(a, b);
  if (b.size() == 2) return broadcast_of<A, 2>(a, b);
  return broadcast_of<A, 3>(a, b);
}

using Types = std::tuple<bool, std::int8_t, std::int16_t, std::int32_t, std::int64_t, std::uint8_t,
                         std::uint16_t, std::uint32_t, std::uint64_t, float, double, float16,
                         std::complex<float>, std::complex<double>>;

// "int8 uint8" -> "int16", for every pair, by `Rule<A, B>::type`.
template <template <class, class> class Rule, class A, class... B>
void name_row(std::map<std::string, std::string>& names, std::tuple<B...> const*) {
  ((names[test::numpy_name<A>() + ' ' + test::numpy_name<B>()] =
        test::numpy_name<typename Rule<A, B>::type>()),
   ...);
}
template <template <class, class> class Rule, class Second, class... A>
std::map<std::string, std::string> names_by(std::tuple<A...> const*) {
  std::map<std::string, std::string> names;
  (name_row<Rule, A>(names, static_cast<Second const*>(nullptr)), ...);
  return names;
}

template <class A, class B>
struct Quotient {
  using type = detail::floating_of<detail::promoted<A, B>>;
};

template <class T>
std::vector<double> value_of(std::string const& op, std::vector<T> const& a,
                             std::vector<T> const& b) {
  std::array const extents{static_cast<std::int64_t>(a.size())};
  auto const u = from_host<T, 1>(std::span<T const>(a), extents, over(3));
  auto const v = from_host<T, 1>(std::span<T const>(b), extents, over(3));
  auto const numbers = [](auto const& expression) {
    std::vector<double> result;
    for (auto const x : DistArray(expression).to_host()) test::append_number(result, x);
    return result;
  };
  if (op == "+") return numbers(u + v);
  if (op == "-") return numbers(u - v);
  if (op == "*") return numbers(u * v);
  if (op == "/") return numbers(u / v);
  if constexpr (detail::is_complex<T>) {
    if (op == "conj") return numbers(conj(u));
    if (op == "abs") return numbers(abs(u));
    if (op == "angle") return numbers(arg(u));
  } else {
    if (op == "%") return numbers(u % v);
    if (op == "<") return numbers(u < v);
    if (op == "sqrt") return numbers(sqrt(abs(u)));
  }
  if constexpr (std::is_integral_v<T>) {
    if (op == "<<") return numbers(u << v);
    if (op == ">>") return numbers(u >> v);
    if (op == "~") return numbers(~u);
  }
  return numbers(u == v);
}

std::vector<double> value_by_name(std::vector<std::string> const& question) {
  auto const ask = [&]<class T>(T) {
    return value_of(question[1], test::numbers_of<T>(question[2]),
                    test::numbers_of<T>(question[3]));
  };
  if (question[0] == "int8") return ask(std::int8_t{});
  if (question[0] == "uint8") return ask(std::uint8_t{});
  if (question[0] == "int16") return ask(std::int16_t{});
  if (question[0] == "uint16") return ask(std::uint16_t{});
  if (question[0] == "int32") return ask(std::int32_t{});
  if (question[0] == "uint32") return ask(std::uint32_t{});
  if (question[0] == "int64") return ask(std::int64_t{});
  if (question[0] == "float16") return ask(float16{});
  if (question[0] == "complex64") return ask(std::complex<float>{});
  if (question[0] == "complex128") return ask(std::complex<double>{});
  return ask(double{});
}

// As make_cases.py has it.
class Hash {
 public:
  void add(std::uint64_t number) { value_ = (value_ ^ number) * 0x100000001b3ULL; }
  [[nodiscard]] std::string text() const { return std::to_string(value_); }

 private:
  std::uint64_t value_ = 0;
};

template <class T>
std::string rounded(std::string const& direction) {
  Hash hash;
  for (std::uint32_t k = 0; k < 65536; ++k) {
    auto const half = T::from_bits(static_cast<std::uint16_t>(k));
    float const of_half = half;
    auto const single = std::bit_cast<float>(k * 65537U);
    auto const twice = std::bit_cast<double>(k * 281479271743489ULL);
    if (direction == "from" && of_half == of_half) hash.add(std::bit_cast<std::uint32_t>(of_half));
    if (direction == "to" && single == single) hash.add(T(single).bits());
    if (direction == "double" && twice == twice) hash.add(T(twice).bits());
  }
  return hash.text();
}

}  // namespace

TEST_CASE("slices show what NumPy's do") {
  for (auto const& asked : numpy_cases("slice")) {
    CAPTURE(asked.line);
    std::vector<AnySelector> selectors;
    for (auto const& word : test::split(asked.question[1], ','))
      selectors.push_back(selector_of(word));

    auto const answer = slice_of(test::shape_of(asked.question[0]), selectors);

    CHECK_ALL(answer == asked.answer[0] + ' ' + asked.answer[1]);
  }
}

TEST_CASE("shapes fit together, or not, as NumPy's do") {
  for (auto const& asked : numpy_cases("broadcast")) {
    CAPTURE(asked.line);
    auto const a = test::shape_of(asked.question[0]);
    auto const b = test::shape_of(asked.question[1]);

    auto const answer = a.size() == 1   ? broadcast_with<1>(a, b)
                        : a.size() == 2 ? broadcast_with<2>(a, b)
                                        : broadcast_with<3>(a, b);

    CHECK_ALL(answer == join(asked.answer, "", "", " "));
  }
}

TEST_CASE("two types make the type that NumPy makes of them") {
  constexpr Types const* types = nullptr;
  auto const sums = names_by<detail::Promote, Types>(types);
  auto const quotients = names_by<Quotient, Types>(types);
  for (auto const& asked : numpy_cases("promote")) {
    CAPTURE(asked.line);
    CHECK(sums.at(join(asked.question, "", "", " ")) == asked.answer[0]);
  }
  for (auto const& asked : numpy_cases("divide")) {
    CAPTURE(asked.line);
    CHECK(quotients.at(join(asked.question, "", "", " ")) == asked.answer[0]);
  }
}

TEST_CASE("a C++ number is as weak as one of Python's") {
  auto const sums =
      names_by<detail::Weak, std::tuple<bool, std::int64_t, double, std::complex<double>>>(
          static_cast<Types const*>(nullptr));
  std::map<std::string, std::string> const names{
      {"bool", "bool"}, {"int", "int64"}, {"float", "float64"}, {"complex", "complex128"}};
  for (auto const& asked : numpy_cases("weak")) {
    CAPTURE(asked.line);
    CHECK(sums.at(asked.question[0] + ' ' + names.at(asked.question[1])) == asked.answer[0]);
  }
}

TEST_CASE("operators give NumPy's values, cell by cell") {
  for (auto const& asked : numpy_cases("value")) {
    if (test::on_cuda() && (asked.question[1] == "abs" || asked.question[1] == "angle")) continue;
    CAPTURE(asked.line);
    CHECK_ALL(value_by_name(asked.question) == test::numbers_of<double>(asked.answer[0]));
  }
}

TEST_CASE("floats of 16 bits are rounded as NumPy's") {
  for (auto const& asked : numpy_cases("rounded")) {
    CAPTURE(asked.line);
    auto const& direction = asked.question[1];
    CHECK((asked.question[0] == "float16" ? rounded<float16>(direction)
                                          : rounded<bfloat16>(direction)) == asked.answer[0]);
  }
}

TEST_SUITE_END();
