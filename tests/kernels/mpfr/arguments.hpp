#pragma once
/// @file
/// Arguments at which functions are tested.

#include <cmath>
#include <cstdint>
#include <limits>
#include <random>
#include <vector>

#include "tessera/detail/kernels/formulas/steps.hpp"

namespace tessera::test {

/// Random numbers of which every exponent, and both signs, are as likely.
template <class R>
class RandomBits {
 public:
  explicit RandomBits(std::uint64_t seed) : engine_(seed) {}
  R operator()() {
    return detail::formula::of_bits<R>(static_cast<detail::formula::Bits<R>>(engine_()));
  }

 private:
  std::mt19937_64 engine_;
};

/// Random numbers from `lowest` to `highest`.
template <class R>
class RandomUniform {
 public:
  RandomUniform(std::uint64_t seed, R lowest, R highest)
      : engine_(seed), lowest_(lowest), length_(highest - lowest) {}
  R operator()() {
    return lowest_ + length_ * static_cast<R>(static_cast<double>(engine_() >> 11U) * 0x1p-53);
  }

 private:
  std::mt19937_64 engine_;
  R lowest_;
  R length_;
};

/// Numbers where a formula changes its way, each with its neighbours: multiples of log(2) / 2 and
/// 1 / 2, powers of two, those times sqrt(2), numbers near -1, 0 and 1, the ends of the type.
template <class R>
std::vector<R> hard_arguments() {
  using Limits = std::numeric_limits<R>;
  std::vector<R> points = {0,
                           Limits::denorm_min(),
                           Limits::min(),
                           Limits::max(),
                           Limits::infinity(),
                           Limits::quiet_NaN()};
  for (int i = 1; i <= 2200; ++i) points.push_back(static_cast<R>(i * 0.34657359027997264));
  for (int i = 1; i <= 2200; ++i) points.push_back(static_cast<R>(i * 0.5));
  for (int i = Limits::min_exponent - Limits::digits; i < Limits::max_exponent; ++i) {
    points.push_back(std::ldexp(R(1), i));
    points.push_back(std::ldexp(static_cast<R>(std::sqrt(2.0)), i));
  }
  for (int i = 1; i <= Limits::digits; ++i) {
    points.push_back(1 - std::ldexp(R(1), -i));
    points.push_back(1 + std::ldexp(R(1), -i));
  }
  for (double const end : {709.782712893384, 710.4758600739439, 745.1332191019411,
                           708.3964185322641, 88.72283935546875, 89.4159851, 103.972077,
                           87.33654785, 37.42994775, 19.06154747, 9.01091347})
    points.push_back(static_cast<R>(end));
  std::vector<R> all;
  for (R const point : points) {
    R below = point;
    R above = point;
    for (int i = 0; i < 3; ++i) {
      for (R const x : {below, above, -below, -above}) all.push_back(x);
      below = std::nextafter(below, -Limits::infinity());
      above = std::nextafter(above, Limits::infinity());
    }
  }
  return all;
}

/// `hard_arguments`, `count` random ones by exponent, and as many from short intervals.
template <class R>
std::vector<R> test_arguments(std::size_t count) {
  auto all = hard_arguments<R>();
  RandomBits<R> bits(1);
  for (std::size_t i = 0; i < count; ++i) all.push_back(bits());
  for (double const end : {1.0, 20.0, sizeof(R) == 8 ? 750.0 : 105.0}) {
    RandomUniform<R> uniform(2, static_cast<R>(-end), static_cast<R>(end));
    for (std::size_t i = 0; i < count / 3; ++i) all.push_back(uniform());
  }
  RandomUniform<R> near_one(3, R(0.5), R(2));
  for (std::size_t i = 0; i < count / 3; ++i) all.push_back(near_one());
  return all;
}

/// Pairs for pow.
template <class R>
struct PairsOfArguments {
  std::vector<R> x;
  std::vector<R> y;

  void add(R of_x, R of_y) {
    x.push_back(of_x);
    y.push_back(of_y);
  }
};
/// Pairs (x, y): most of x^y are neither 0 nor infinite. Some x are negative, some y integers.
template <class R>
PairsOfArguments<R> test_pairs(std::size_t count) {
  double const end = sizeof(R) == 8 ? 750.0 : 105.0;
  PairsOfArguments<R> all;
  RandomBits<R> bits(4);
  RandomUniform<double> exponent(5, -end, end);
  RandomUniform<R> near_one(6, R(0.5), R(2));
  RandomUniform<double> closeness(7, 1, std::numeric_limits<R>::digits);
  for (std::size_t i = 0; i < count / 4; ++i) {
    R const of_x = bits();
    all.add(of_x, bits());
    R const any = detail::formula::magnitude(bits());
    all.add(any, static_cast<R>(exponent() / std::log(double{any})));
    R const near = near_one();
    all.add(near, static_cast<R>(exponent() / std::log(double{near})));
    R const nearer = static_cast<R>(1 + (i % 2 == 0 ? 1 : -1) * std::exp2(-closeness()));
    all.add(nearer, static_cast<R>(exponent() / std::log(double{nearer})));
    R const whole = static_cast<R>(std::round(exponent() / std::log(double{any})));
    all.add(i % 2 == 0 ? any : -any, whole);
  }
  for (R const x : {R(2), R(3), R(10), R(0.5), R(7), R(1.5)})
    for (int i = -1080; i <= 1080; ++i) {
      all.add(x, static_cast<R>(i));
      all.add(-x, static_cast<R>(i));
      all.add(x, static_cast<R>(i) / 2);
    }
  return all;
}

}  // namespace tessera::test
