#pragma once
/// @file
/// One double at a time, for raw/streaming.hpp where nothing better is known.

#include <cstdint>

namespace raw {

using Pack = double;

inline constexpr std::int64_t pack_doubles = 1;

struct LoadPack {
  Pack operator()(double const* from) const { return *from; }
};

inline void stream_pack(double* to, Pack value) {
  *to = value;
}

inline void end_streaming() {}

}  // namespace raw
