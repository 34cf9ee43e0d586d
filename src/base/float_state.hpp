#pragma once
/// @file
/// The floating-point state of a thread, as far as results depend on it: the rounding mode, and
/// whether subnormal numbers count as zero. Of other processors than x86-64 and AArch64, only the
/// rounding mode is known here.
///
/// All threads compute in the default state, so that equal cells get equal bits, whichever thread
/// computes them and whatever the program has set for its own work. Traps and flags stay the
/// program's.

#include <cfenv>
#include <cstdint>

#if defined(__x86_64__)
#include <xmmintrin.h>
#endif

namespace tessera {

/// The part of the state that every system knows: the rounding mode.
class RoundingState {
 public:
  /// Returns that of this thread.
  [[nodiscard]] static RoundingState now() {
    RoundingState state;
    state.mode_ = std::fegetround();
    return state;
  }
  /// Sets it for this thread.
  void set() const { (void)std::fesetround(mode_); }
  /// Sets the default one for this thread. Returns the one before.
  static RoundingState set_default() {
    auto const before = now();
    RoundingState().set();
    return before;
  }
  friend bool operator==(RoundingState const&, RoundingState const&) = default;

 private:
  int mode_ = FE_TONEAREST;
};

#if defined(__x86_64__)

/// The state as two registers hold it, of which other bits are zero here. The default one unless it
/// was read.
class FloatState {
 public:
  /// Returns that of this thread.
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
  friend bool operator==(FloatState const&, FloatState const&) = default;

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

#elif defined(__aarch64__)

/// The state as the register FPCR holds it, of which other bits are zero here. The default one
/// unless it was read.
class FloatState {
 public:
  [[nodiscard]] static FloatState now() {
    FloatState state;
    state.bits_ = control() & of_results;
    return state;
  }
  void set() const { replace(now()); }
  static FloatState set_default() {
    auto const before = now();
    FloatState().replace(before);
    return before;
  }
  friend bool operator==(FloatState const&, FloatState const&) = default;

 private:
  void replace(FloatState const& before) const {
    if (before.bits_ == bits_) return;
    auto const word = (control() & ~of_results) | bits_;
    asm volatile("msr fpcr, %0" : : "r"(word));
  }

  // Rounding, flush to zero, and the latter for half precision.
  static constexpr std::uint64_t of_results = 0x01C8'0000;

  [[nodiscard]] static std::uint64_t control() {
    std::uint64_t word = 0;
    asm volatile("mrs %0, fpcr" : "=r"(word));
    return word;
  }

  std::uint64_t bits_ = 0;
};

#else

using FloatState = RoundingState;

#endif

/// During its lifetime this thread computes in the default state. If it had another one, it has
/// that again afterwards. Cost: a few nanoseconds where it is in the default one already.
class DefaultFloatState {
 public:
  DefaultFloatState() = default;
  ~DefaultFloatState() {
    if (before_ != FloatState()) before_.set();
  }
  DefaultFloatState(DefaultFloatState const&) = delete;
  DefaultFloatState& operator=(DefaultFloatState const&) = delete;

 private:
  FloatState before_ = FloatState::set_default();
};

}  // namespace tessera
