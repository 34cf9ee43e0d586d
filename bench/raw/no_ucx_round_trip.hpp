#pragma once
/// @file
/// In place of ucx_round_trip.hpp where UCX is not found.

#include <cstdint>
#include <stdexcept>
#include <vector>

namespace raw {

class RoundTrip {
 public:
  RoundTrip(int, std::vector<double> const&) {
    throw std::runtime_error("this bench was built without UCX");
  }
  double ask(std::int64_t) { return 0; }
  void answer_one() {}
};

}  // namespace raw
