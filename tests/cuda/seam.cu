// The statements of a program as a CUDA compiler sees them: every kind of expression, of reduction
// and of element is made a kernel here. Nothing is launched.

#include <complex>
#include <cstdint>

#include <tessera/random.hpp>

namespace ts = tessera;

namespace {

template <class T, std::size_t N = 2>
using Array = ts::DistArray<T, N>;

// Floating types also have NaN and functions; integers have bits.
template <class T>
void operations(Array<T>& w, Array<T> const& u, Array<T> const& v, Array<bool>& m) {
  w = u + v * u - 3 * v;
  w = ts::contract(u * v - (3 * u + v * w));
  w = ts::let(u + v) * ts::let(u + v);
  w = -u % ts::abs(v);
  w = ts::minimum(u, ts::maximum(v, u));
  w = ts::where(u < v, u, 2 * v);
  w(u < v) = 1;
  m = ((u == v) || (u < v && u != v)) || !(u <= v && u > v && u >= v);
}

void comparisons(Array<bool>& m, Array<std::int64_t> const& i, Array<std::uint64_t> const& u) {
  m = ((i == u) || (i < u && i != u)) || !(i <= u && i > u && i >= u) || u == 0;
}

template <class T>
void functions(Array<T>& w, Array<T> const& u, Array<T> const& v) {
  w = ts::sqrt(u) + ts::exp(v) * ts::log(u / v);
  w = ts::sin(u) + ts::cos(v) + ts::tan(u) - ts::tanh(v);
  w = ts::pow(ts::floor(u), ts::ceil(v));
}

void bits(Array<std::int32_t>& w, Array<std::int32_t> const& u) {
  w = (u & 7) | (u ^ ~u);
  w = (u << u) ^ (u >> 3);
  w <<= 1;
}

void complex_numbers(Array<std::complex<double>>& w, Array<double>& real,
                     Array<std::complex<double>> const& z) {
  w = z + z * z - z / z;
  w = ts::contract(z - z * z / z);
  real = ts::abs(z) + ts::real(ts::conj(z)) * ts::imag(z);
  w = ts::sqrt(z);  // the host's alone
}

void conversions(Array<double>& w, Array<std::int32_t>& i, Array<double> const& u,
                 Array<std::int64_t> const& n) {
  i = ts::cast<std::int8_t>(u);
  w = ts::cast<float>(n) + ts::cast<double>(u > 0.5);
}

// Views with steps, without dimensions and turned around, neighbours, coordinates and scalars.
void leaves(Array<double>& w, Array<double, 3>& cube, Array<double> const& u) {
  w = u(0, ts::all) + ts::flip(u, 0);
  w(ts::range(1, -1), ts::range(0, ts::none, 2)) = u(ts::range(1, -1), ts::range(0, ts::none, 2));
  w = ts::transpose(u);
  w = ts::shift(u, {1, 0}, ts::constant(0.1)) + ts::roll(u, 1, 1);
  w = ts::index(0) * 10 + ts::index(1) + u / ts::sum(u);
  cube = cube + 0.1 * ts::roll(cube, 1, 2);
}

struct Particle {
  double mass;
  std::int32_t charge;
};

void members(Array<Particle, 1>& particles, Array<double, 1>& masses) {
  masses = ts::field<&Particle::mass>(particles);
  ts::field<&Particle::mass>(particles) *= 2.0;
}

// To one value each.
void reductions(Array<double> const& u, Array<std::int32_t> const& n,
                Array<std::complex<double>> const& z) {
  (void)ts::sum(n);
  (void)ts::prod(n);
  (void)ts::sum(u);
  (void)ts::prod(u);
  (void)ts::norm(z);
  (void)ts::min(u);
  (void)ts::max(n);
  (void)ts::argmin(u);
  (void)ts::all(u > 0.0);
  (void)ts::any(n == 0);
  (void)ts::count(u);
  (void)ts::var(u);
  (void)ts::sum(z);
  (void)ts::prod(z);
  (void)ts::hash(u);
}

// Along dimensions.
void folds(Array<double, 1>& w, Array<double> const& u, Array<std::int32_t> const& n) {
  w = ts::sum(u, ts::axis(0));
  w = ts::mean(u, ts::axis(1));
  w = ts::prod(u, ts::axis(0));
  w = ts::max(n, ts::axis(0)) + ts::argmin(u, ts::axis(1));
}

// The number of a loop's step; partials that are added up.
void loops(Array<double>& u, Array<std::int32_t>& n) {
  ts::iterate(3, [&](ts::Step t) { u = u + 0.1 * t; });
  u = ts::to_partial(u, {"x"}) + 0.0;
  n = ts::to_partial(n, {"x"}) + 0;
}

// Of each distribution.
void random_numbers(Array<double>& u, Array<float>& f, Array<std::int64_t>& n,
                    Array<std::int32_t>& i, Array<ts::float16>& h, Array<bool>& m) {
  ts::random::Key const key(1);
  u = ts::random::uniform<double>(key) + ts::random::normal<double>(key);
  f = ts::random::exponential<float>(key) * ts::random::truncated_normal<float>(key, -2, 2);
  h = ts::random::uniform<ts::float16>(key) + ts::random::normal<ts::float16>(key);
  n = ts::random::integers(key, 0, 10);
  i = ts::random::integers<std::int32_t>(key, 0, 10);
  i = ts::random::categorical<std::int32_t>(key, {0.25, 0.5, 0.25});
  m = ts::random::bernoulli(key, 0.5);
  ts::iterate(3, [&](ts::Step t) { u = u + ts::random::uniform<double>(key.at(t).fold_in(2)); });
  (void)ts::sum(u * ts::random::uniform<double>(key));
}

}  // namespace

void instantiate_all(Array<double>& u, Array<float>& f, Array<std::int64_t>& n,
                     Array<std::int32_t>& i, Array<ts::float16>& h, Array<bool>& m,
                     Array<std::complex<double>>& z, Array<double, 1>& line, Array<double, 3>& cube,
                     Array<Particle, 1>& particles) {
  operations(u, u, u, m);
  operations(f, f, f, m);
  operations(n, n, n, m);
  comparisons(m, n, ts::cast<std::uint64_t>(n));
  operations(h, h, h, m);
  functions(u, u, u);
  functions(f, f, f);
  bits(i, i);
  complex_numbers(z, u, z);
  conversions(u, i, u, n);
  leaves(u, cube, u);
  members(particles, line);
  reductions(u, i, z);
  folds(line, u, i);
  loops(u, i);
  random_numbers(u, f, n, i, h, m);
}
