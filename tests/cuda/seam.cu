// Everything a kernel calls for one cell can be called on a device: a CUDA compiler sees to it
// here, by what it instantiates. Nothing is launched.

#include <complex>
#include <cstdint>
#include <type_traits>
#include <utility>

#include <tessera/tessera.hpp>

namespace ts = tessera;

namespace {

// What a statement does for one cell, as a functor: the value of the expression, converted.
template <class Kernel, class T, bool unit>
struct Cell {
  Kernel kernel;
  ts::KernelCall call;

  TESSERA_FUNCTION void operator()(std::int64_t row, std::int64_t j) const {
    auto cells = kernel.template row<unit>(call);
    ts::detail::RowOfCells<T> target{reinterpret_cast<T*>(call.target), call.target_strides};
    auto const write = [&] {
      target.first[j * call.target_strides->back()] = ts::detail::convert<T>(cells(j));
    };
    ts::visit_rows(*call.extents, row, row + 1, write, cells, target);
  }
};

// What a reduction does for one row, with the parts of others and the value at the end.
template <class Kernel, class Accumulator, bool unit>
struct Terms {
  Kernel kernel;
  ts::KernelCall call;

  TESSERA_FUNCTION void operator()(std::int64_t row, std::int64_t) const {
    using Value = decltype(std::declval<Accumulator const&>().value(0.0));
    auto terms = kernel.template row<unit>(call);
    Accumulator part;
    auto const add = [&] { part.add_row(terms, call.extents->back()); };
    ts::visit_rows(*call.extents, row, row + 1, add, terms);
    auto& whole = *static_cast<Accumulator*>(call.accumulator);
    whole.merge(part);
    reinterpret_cast<Value*>(call.target)[row] = whole.value(2.0);
  }
};

template <class Functor>
__global__ void run(Functor functor, std::int64_t rows, std::int64_t columns) {
  auto const row = static_cast<std::int64_t>(blockIdx.y * blockDim.y + threadIdx.y);
  auto const j = static_cast<std::int64_t>(blockIdx.x * blockDim.x + threadIdx.x);
  if (row < rows && j < columns) functor(row, j);
}

template <class Functor>
void* instance() {
  return reinterpret_cast<void*>(&run<Functor>);
}

template <class Node>
using KernelOf = std::remove_cvref_t<decltype(ts::detail::make_kernel(
    std::declval<Node const&>(), std::declval<ts::detail::Builder&>()))>;

// The kernels of an expression written to elements of type T.
template <class T, class E>
void* written_as(E const& expression) {
  using Node = std::remove_cvref_t<decltype(ts::detail::as_node(expression))>;
  (void)instance<Cell<KernelOf<Node>, T, true>>();
  return instance<Cell<KernelOf<Node>, T, false>>();
}

template <class Accumulator, class Node>
void* gathered_by(Node const&) {
  (void)instance<Terms<KernelOf<Node>, Accumulator, true>>();
  return instance<Terms<KernelOf<Node>, Accumulator, false>>();
}

// Floating types also have NaN and functions; integers have bits.
template <class T>
void operations(ts::DistArray<T, 2> const& u, ts::DistArray<T, 2> const& v) {
  written_as<T>(u + v * u - 3 * v);
  written_as<T>(-u % ts::abs(v));
  written_as<double>(u / v);
  written_as<T>(ts::minimum(u, ts::maximum(v, u)));
  written_as<bool>(((u == v) || (u < v && u != v)) || !(u <= v && u > v && u >= v));
  written_as<T>(ts::where(u < v, u, 2 * v));
}

template <class T>
void functions(ts::DistArray<T, 2> const& u, ts::DistArray<T, 2> const& v) {
  written_as<T>(ts::sqrt(u) + ts::exp(v) * ts::log(u));
  written_as<T>(ts::sin(u) + ts::cos(v) + ts::tan(u) - ts::tanh(v));
  written_as<T>(ts::pow(ts::floor(u), ts::ceil(v)));
}

void bits(ts::DistArray<std::int32_t, 2> const& u) {
  written_as<std::int32_t>((u & 7) | (u ^ u));
}

// Arithmetic only: the functions of std::complex are the host's.
void complex_numbers(ts::DistArray<std::complex<double>, 2> const& z) {
  written_as<std::complex<double>>(z + z * z - z / z);
  written_as<double>(ts::abs(z) + ts::real(ts::conj(z)) * ts::imag(z));
}

void conversions(ts::DistArray<double, 2> const& u, ts::DistArray<std::int64_t, 2> const& n) {
  written_as<std::int32_t>(ts::cast<std::int8_t>(u));
  written_as<std::uint64_t>(u);
  written_as<float>(n * 0.1);
  written_as<double>(ts::cast<float>(n) + ts::cast<double>(u > 0.5));
}

// Views with steps, without dimensions and turned around, neighbours, coordinates and scalars.
void leaves(ts::DistArray<double, 2> const& u, ts::Scalar<double> const& total) {
  written_as<double>(u(ts::range(1, -1), ts::range(0, ts::none, 2)) + u(0, ts::all));
  written_as<double>(ts::transpose(u) + ts::flip(u, 0));
  written_as<double>(ts::shift(u, {1, 0}, ts::constant(0.1)) + ts::roll(u, 1, 1));
  written_as<double>(ts::index(0) * 10 + ts::index(1) + u);
  written_as<double>(u / total);
}

void reductions(ts::DistArray<double, 2> const& u, ts::DistArray<std::int32_t, 2> const& n) {
  using ts::detail::as_node;
  gathered_by<ts::detail::IntegerSum<std::int64_t>>(as_node(n));
  gathered_by<ts::detail::IntegerProduct<std::int64_t>>(as_node(n));
  gathered_by<ts::detail::FastSum<double>>(as_node(u));
  gathered_by<ts::detail::Extreme<double, ts::detail::Minimum>>(as_node(u));
  gathered_by<ts::detail::Extreme<std::int32_t, ts::detail::Maximum>>(as_node(n));
  gathered_by<ts::detail::AllTrue>(u > 0.0);
  gathered_by<ts::detail::AnyTrue>(n == 0);
  gathered_by<ts::detail::CountTrue>(as_node(u));
  gathered_by<ts::detail::ArgExtreme<double, ts::detail::Less>>(
      ts::detail::with_flat_index<ts::detail::WithIndex>(as_node(u)));
  gathered_by<ts::detail::IntegerSum<std::uint64_t>>(
      ts::detail::with_flat_index<ts::detail::MixedWithIndex>(as_node(u)));
}

}  // namespace

void instantiate_all(ts::DistArray<double, 2> const& u, ts::DistArray<float, 2> const& f,
                     ts::DistArray<std::int64_t, 2> const& n,
                     ts::DistArray<std::int32_t, 2> const& i,
                     ts::DistArray<ts::float16, 2> const& h,
                     ts::DistArray<std::complex<double>, 2> const& z,
                     ts::Scalar<double> const& total) {
  operations(u, u);
  operations(f, f);
  operations(n, n);
  functions(u, u);
  functions(f, f);
  operations(h, h);
  bits(i);
  complex_numbers(z);
  conversions(u, n);
  leaves(u, total);
  reductions(u, i);
}
