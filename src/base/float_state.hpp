#pragma once
/// @file
/// The floating-point state of a thread, as far as results depend on it: the rounding mode, and
/// whether subnormal numbers count as zero.
///
/// All threads compute in the default state, so that equal cells get equal bits, whichever thread
/// computes them and whatever the program has set for its own work. Traps and flags stay the
/// program's.

#if defined(__x86_64__)
#include <cstdint>

#include <xmmintrin.h>
#else
#include <cfenv>
#endif

namespace tessera {

#if defined(__x86_64__)

/// As two registers say it, of which other bits are zero here. The default one unless it was read.
class FloatState {
 public:
  /// That of this thread.
  [[nodiscard]] static FloatState now() {
    FloatState state;
    state.vectors_ = _mm_getcsr() & of_vectors;
    state.x87_ = x87_control() & of_x87;
    return state;
  }
  /// Sets it for this thread. Cost: a few nanoseconds if it is set already.
  void set() const { replace(now()); }
  /// Sets the default one for this thread. Returns the one before.
  static FloatState set_default() {
    auto const before = now();
    FloatState().replace(before);
    return before;
  }

 private:
  void replace(FloatState const& before) const {
    if (before.vectors_ != vectors_) _mm_setcsr((_mm_getcsr() & ~of_vectors) | vectors_);
    if (before.x87_ == x87_) return;
    auto const control = static_cast<std::uint16_t>((x87_control() & ~of_x87) | x87_);
    asm volatile("fldcw %0" : : "m"(control));
  }

  static constexpr std::uint32_t of_vectors = 0xE040;  // rounding, flush to zero, denormals as zero
  static constexpr std::uint16_t of_x87 = 0x0F00;      // rounding, precision

  [[nodiscard]] static std::uint16_t x87_control() {
    std::uint16_t control = 0;
    asm volatile("fnstcw %0" : "=m"(control));
    return control;
  }

  std::uint32_t vectors_ = 0;
  std::uint16_t x87_ = 0x0300;  // 64 bits, to nearest
};

#else

/// The whole environment of <cfenv>.
class FloatState {
 public:
  [[nodiscard]] static FloatState now() {
    FloatState state;
    (void)std::fegetenv(&state.environment_);
    return state;
  }
  void set() const { (void)std::fesetenv(&environment_); }
  static FloatState set_default() {
    auto const before = now();
    (void)std::fesetenv(FE_DFL_ENV);
    return before;
  }

 private:
  FloatState() = default;
  std::fenv_t environment_;
};

#endif

/// During its lifetime this thread computes in the default state; then it has its own one again.
/// Cost: a few nanoseconds where that is the default one, too.
class DefaultFloatState {
 public:
  DefaultFloatState() = default;
  ~DefaultFloatState() { before_.set(); }
  DefaultFloatState(DefaultFloatState const&) = delete;
  DefaultFloatState& operator=(DefaultFloatState const&) = delete;

 private:
  FloatState before_ = FloatState::set_default();
};

}  // namespace tessera
