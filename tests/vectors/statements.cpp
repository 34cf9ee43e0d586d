// Statements of one row each that g++ must make vectors of, at -O2 and -O3 for x86-64-v3: the table
// is the promise. check.py compiles this file and reads the row functions in the assembly.

#include <complex>
#include <cstdint>
#include <type_traits>
#include <utility>

#include "tessera/array/contract.hpp"
#include "tessera/array/operators.hpp"
#include "tessera/detail/array/evaluate/build.hpp"
#include "tessera/detail/array/expr/row.hpp"
#include "tessera/random/random.hpp"

namespace statements {

using namespace tessera;

using i8 = std::int8_t;
using i16 = std::int16_t;
using i32 = std::int32_t;
using i64 = std::int64_t;
using u8 = std::uint8_t;
using u16 = std::uint16_t;
using u32 = std::uint32_t;
using u64 = std::uint64_t;
using c64 = std::complex<float>;
using c128 = std::complex<double>;

// Arrays, only for their types. Every use of one is an operand of its own.
template <class T>
using Array = detail::ArrayNode<T, 1, 1>;
extern Array<double> d;
extern Array<float> f;
extern Array<float16> h;
extern Array<bfloat16> b;
extern Array<bool> m;
extern Array<c128> z;
extern Array<c64> c;
extern Array<i8> i_8;
extern Array<i16> i_16;
extern Array<i32> i_32;
extern Array<i64> i_64;
extern Array<u8> u_8;
extern Array<u16> u_16;
extern Array<u32> u_32;
extern Array<u64> u_64;
extern random::Key key;

template <class E>
using KernelOf = decltype(make_kernel(std::declval<E const&>(), std::declval<detail::Builder&>()));

#define NAMED(line) statement_##line
#define STATEMENT_AT(line, T, ...)               \
  extern "C" detail::KernelFunction NAMED(line); \
  detail::KernelFunction NAMED(line) =           \
      &detail::assign_rows<KernelOf<std::remove_cvref_t<decltype(__VA_ARGS__)>>, T, true>;
/// STATEMENT(T, expression): an array of T is assigned the expression.
#define STATEMENT(...) STATEMENT_IN(__LINE__, __VA_ARGS__)  // NOLINT: short, as it stands often
#define STATEMENT_IN(line, ...) STATEMENT_AT(line, __VA_ARGS__)

// clang-format off

// Arithmetic.
STATEMENT(double, d)
STATEMENT(double, d + d - 0.5 * d)
STATEMENT(double, d / d)
STATEMENT(double, -d)
STATEMENT(double, 0.25 * (d + d + d + d))
STATEMENT(float, f + f - 0.5F * f)
STATEMENT(float, f / 3.0F)
STATEMENT(float, -f)
STATEMENT(double, d + f)
STATEMENT(double, d + i_32)
STATEMENT(double, d + i_64)
STATEMENT(double, d + 0.5 * index(0))

// Products fused into sums.
STATEMENT(double, contract(d * d + d))
STATEMENT(double, contract(d - d * d))
STATEMENT(double, contract(d * d - d * d))
STATEMENT(double, contract(0.8 * d + 0.1 * d + 0.1 * d - 0.3 * (d + d)))
STATEMENT(double, contract(-(d * d) - d))
STATEMENT(double, contract(where(d * d + d > 0.7, 2.0 * d - d, sqrt(d * d + d * d))))
STATEMENT(double, contract(d + f * f + 2 * d * i_32))
STATEMENT(float, contract(f * f + f))
STATEMENT(float, contract(f * f - 0.5F * f))
STATEMENT(c128, contract(z * z + z))
STATEMENT(c128, contract(z - z * z))
STATEMENT(c128, contract(z * z))
STATEMENT(c64, contract(c * c - c * c))
STATEMENT(float16, contract(h * h + h))
STATEMENT(bfloat16, contract(b - b * b))
STATEMENT(i32, contract(i_32 * i_32 + i_32))

// Expressions that are read several times.
STATEMENT(double, let(d + d) * let(d + d) - 0.5 * let(d + d))
STATEMENT(float, let(f * f) - let(f * f))
STATEMENT(c128, let(z + z) * let(z + z))

// Random numbers, drawn out of place.
STATEMENT(double, d + random::uniform<double>(key))
STATEMENT(float, f * random::normal<float>(key))
STATEMENT(i32, random::integers<i32>(key, 0, 10))

// Comparisons.
STATEMENT(bool, d < d)
STATEMENT(bool, d <= 1.0)
STATEMENT(bool, d == d)
STATEMENT(bool, d != d)
STATEMENT(bool, d > d)
STATEMENT(bool, d >= d)
STATEMENT(bool, f < f)
STATEMENT(bool, f == f)
STATEMENT(bool, f != 1.0F)
STATEMENT(bool, d > 0.1 && d < 0.9)
STATEMENT(bool, f < 0.1F || f > 0.9F)
STATEMENT(bool, !(d > 0.1 && m))
STATEMENT(bool, z == z)

// where.
STATEMENT(double, where(d > 0.7, 2.0 * d, d - 1.0))
STATEMENT(float, where(f > 0.7F, 2.0F * f, f - 1.0F))
STATEMENT(double, where(d > 0.7, where(d > 0.9, 2.0 * d, d), d - 1.0))
STATEMENT(double, where(d > 0.0, sqrt(d), 0.0))
STATEMENT(double, where(d != 0.0, 1.0 / d, 0.0))
STATEMENT(double, where(i_32 != 0, 1.0 / i_32, 0.0))
STATEMENT(i32, where(i_32 > 3, i_32 + i_32, i_32))
STATEMENT(i64, where(i_64 > 3, i_64 + i_64, i_64))
STATEMENT(i32, where(f > 0.0F, cast<i32>(f), 0))
STATEMENT(c128, where(m, z, z))

// min, max, clip, abs, floor, ceil, sqrt.
STATEMENT(double, minimum(d, d))
STATEMENT(double, maximum(d, 1.0))
STATEMENT(double, minimum(maximum(d, 0.0), 1.0))
STATEMENT(double, minimum(1.0, maximum(0.0, d)))
STATEMENT(double, minimum(maximum(d, d), d))
STATEMENT(double, minimum(minimum(d, d), minimum(d, d)))
STATEMENT(double, where(d > 0.7, minimum(maximum(d, 0.0), 1.0), d))
STATEMENT(float, minimum(f, f))
STATEMENT(float, maximum(f, 1.0F))
STATEMENT(float, minimum(maximum(f, 0.0F), 1.0F))
STATEMENT(i32, minimum(maximum(i_32, 0), 9))
STATEMENT(i64, minimum(maximum(i_64, 0), 9))
STATEMENT(double, abs(d))
STATEMENT(float, abs(f))
STATEMENT(i32, abs(i_32))
STATEMENT(i64, abs(i_64))
STATEMENT(double, floor(d))
STATEMENT(float, floor(f))
STATEMENT(double, ceil(d))
STATEMENT(float, ceil(f))
STATEMENT(double, sqrt(d))
STATEMENT(float, sqrt(f))
STATEMENT(double, sqrt(abs(d)) + floor(d))

// Casts.
STATEMENT(double, cast<double>(f))
STATEMENT(float, cast<float>(d))
STATEMENT(double, cast<double>(i_32))
STATEMENT(double, cast<double>(u_32))
STATEMENT(double, cast<double>(i_64))
STATEMENT(double, cast<double>(u_64))
STATEMENT(float, cast<float>(i_32))
STATEMENT(float, cast<float>(u_32))
STATEMENT(i32, cast<i32>(d))
STATEMENT(u32, cast<u32>(d))
STATEMENT(i64, cast<i64>(d))
STATEMENT(u64, cast<u64>(d))
STATEMENT(i32, cast<i32>(f))
STATEMENT(u32, cast<u32>(f))
STATEMENT(i64, cast<i64>(f))
STATEMENT(u64, cast<u64>(f))
STATEMENT(i64, cast<i64>(i_32))
STATEMENT(i32, cast<i32>(i_64))
STATEMENT(i64, cast<i64>(u_32))

// Masks.
STATEMENT(bool, m)
STATEMENT(bool, m && m)
STATEMENT(bool, m || m)
STATEMENT(bool, !m)
STATEMENT(bool, m ^ m)
STATEMENT(bool, m == m)
STATEMENT(bool, where(m, m, m))
STATEMENT(double, where(m, d, 0.0))
STATEMENT(double, where(m, d + d, d - d))
STATEMENT(double, where(m && m && m, d + d + d, d))
STATEMENT(double, where((d > 0.1 && d < 0.9) || m, d, 0.0))
STATEMENT(double, d + where(m, d - d, 0.0) + where(m, d - d, 0.0))
STATEMENT(float, where(m, f, 0.0F))
STATEMENT(i32, where(m, i_32, 0))
STATEMENT(double, d * m)
STATEMENT(double, cast<double>(m))
STATEMENT(float, cast<float>(m))
STATEMENT(i32, cast<i32>(m))
STATEMENT(bool, cast<bool>(d))
STATEMENT(bool, cast<bool>(i_32))
STATEMENT(bool, cast<u8>(m) + cast<u8>(m) == 3 || (m && cast<u8>(m) + cast<u8>(m) == 2))

// Complex numbers.
STATEMENT(c128, z + z)
STATEMENT(c128, z - z)
STATEMENT(c128, z * z)
STATEMENT(c128, z * c128(0.5, 1))
STATEMENT(c128, z * 2.0)
STATEMENT(c128, -z)
STATEMENT(c128, conj(z))
STATEMENT(double, real(z))
STATEMENT(double, imag(z))
STATEMENT(c128, cast<c128>(d))
STATEMENT(c64, c + c)
STATEMENT(c64, c - c)
STATEMENT(c64, c * c)
STATEMENT(c64, c * 2.0F)

// Floats of 16 bits.
STATEMENT(float16, h + h)
STATEMENT(float16, h * 0.5F)
STATEMENT(float16, h / h)
STATEMENT(float16, -h)
STATEMENT(bool, h < h)
STATEMENT(float16, minimum(h, h))
STATEMENT(float16, minimum(maximum(h, 0.0F), 1.0F))
STATEMENT(float16, where(h > 0.7F, 2.0F * h, h - 1.0F))
STATEMENT(float16, where(m, h, h))
STATEMENT(float16, sqrt(h))
STATEMENT(float16, floor(h))
STATEMENT(float16, abs(h))
STATEMENT(float, cast<float>(h))
STATEMENT(float16, cast<float16>(f))
STATEMENT(double, cast<double>(h))
STATEMENT(float16, cast<float16>(d))
STATEMENT(i32, cast<i32>(h))
STATEMENT(float16, cast<float16>(i_32))
STATEMENT(bfloat16, b + b)
STATEMENT(bfloat16, b * 0.5F)
STATEMENT(bfloat16, b / b)
STATEMENT(bool, b < b)
STATEMENT(bfloat16, minimum(b, b))
STATEMENT(bfloat16, minimum(maximum(b, 0.0F), 1.0F))
STATEMENT(bfloat16, where(b > 0.7F, 2.0F * b, b - 1.0F))
STATEMENT(bfloat16, sqrt(b))
STATEMENT(bfloat16, abs(b))
STATEMENT(float, cast<float>(b))
STATEMENT(bfloat16, cast<bfloat16>(f))
STATEMENT(bfloat16, cast<bfloat16>(d))

// Integers.
STATEMENT(i8, i_8 + i_8)
STATEMENT(i8, i_8 * i_8)
STATEMENT(u8, u_8 + u_8)
STATEMENT(u8, cast<u8>(minimum(maximum(f, 0.0F), 255.0F)))
STATEMENT(float, cast<float>(u_8))
STATEMENT(i16, i_16 + i_16)
STATEMENT(i16, i_16 * i_16)
STATEMENT(u16, u_16 * u_16)
STATEMENT(i32, i_32 + i_32 - i_32)
STATEMENT(i32, i_32 * i_32)
STATEMENT(i32, -i_32)
STATEMENT(bool, i_32 < i_32)
STATEMENT(bool, i_32 == 3)
STATEMENT(i32, (i_32 & i_32) | (i_32 ^ 5))
STATEMENT(i32, ~i_32)
STATEMENT(u8, ~u_8)
STATEMENT(bool, ~m)
STATEMENT(i8, i_8 << i_8)
STATEMENT(i8, i_8 >> i_8)
STATEMENT(u8, u_8 << 3)
STATEMENT(i16, i_16 << i_16)
STATEMENT(i16, i_16 >> 2)
STATEMENT(u16, u_16 >> u_16)
STATEMENT(i32, i_32 << i_32)
STATEMENT(i32, i_32 >> i_32)
STATEMENT(u32, 1 << u_32)
STATEMENT(i64, i_64 << i_64)
STATEMENT(i64, i_64 >> i_64)
STATEMENT(u64, u_64 >> 7)
STATEMENT(double, i_32 / i_32)
STATEMENT(i64, i_64 + i_64 - i_64)
STATEMENT(i64, i_64 * i_64)
STATEMENT(bool, i_64 < i_64)
STATEMENT(i64, i_64 + index(0))
STATEMENT(u32, u_32 * u_32)
STATEMENT(bool, u_32 < u_32)
STATEMENT(u64, u_64 + u_64)
STATEMENT(bool, u_64 < u_64)

}  // namespace statements
