#pragma once
/// @file
/// Floating-point states that a program may have set for its own work.

#include <cfenv>
#include <string>
#include <vector>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace tessera::test {

/// A rounding mode, and on x86-64 the bits of MXCSR that make subnormal numbers zero.
struct SetState {
  std::string name;
  int rounding = FE_TONEAREST;
  unsigned zeroes = 0;

  friend bool operator==(SetState const& a, SetState const& b) {
    return a.rounding == b.rounding && a.zeroes == b.zeroes;
  }
};

#if defined(__x86_64__)
constexpr unsigned flush_to_zero = 0x8000;
constexpr unsigned denormals_are_zero = 0x0040;
inline unsigned zeroes_now() {
  return _mm_getcsr() & (flush_to_zero | denormals_are_zero);
}
inline void set_zeroes(unsigned bits) {
  _mm_setcsr((_mm_getcsr() & ~(flush_to_zero | denormals_are_zero)) | bits);
}
#else
constexpr unsigned flush_to_zero = 0;
constexpr unsigned denormals_are_zero = 0;
inline unsigned zeroes_now() {
  return 0;
}
inline void set_zeroes(unsigned) {}
#endif

/// That of this thread.
inline SetState state_now() {
  return {"now", std::fegetround(), zeroes_now()};
}

/// All that differ from the default.
inline std::vector<SetState> other_states() {
  return {{"upward", FE_UPWARD, 0},
          {"downward", FE_DOWNWARD, 0},
          {"toward zero", FE_TOWARDZERO, 0},
          {"flush to zero", FE_TONEAREST, flush_to_zero},
          {"denormals are zero", FE_TONEAREST, denormals_are_zero},
          {"all of it", FE_UPWARD, flush_to_zero | denormals_are_zero}};
}

/// The state of this thread for as long as this object lives.
class InState {
 public:
  explicit InState(SetState const& state) : before_(state_now()) { set(state); }
  ~InState() { set(before_); }
  InState(InState const&) = delete;
  InState& operator=(InState const&) = delete;

 private:
  static void set(SetState const& state) {
    (void)std::fesetround(state.rounding);
    set_zeroes(state.zeroes);
  }
  SetState before_;
};

}  // namespace tessera::test
