#pragma once
/// @file
/// The only access to Kokkos: runs a function over blocks of rows on Kokkos' default host space.

#include <cstdint>
#include <string_view>

#include "tessera/base/source.hpp"

namespace tessera {

/// Works on rows [first, last). Compiled in the user's program; knows nothing of Kokkos.
using RowFunction = void (*)(void const* context, std::int64_t first, std::int64_t last);

/// Hands rows [0, rows) to Kokkos::parallel_for in blocks, and returns when all are done. The
/// serial space gets one block of all rows on the calling thread, without Kokkos where no tool is
/// loaded, and exceptions of `f` pass through; on a parallel space `f` must not throw. No rows: `f`
/// is not called.
///
/// `f` launches nothing itself: some versions of Kokkos would wait for ever.
/// Where a Kokkos tool is loaded, it sees the launch by its place in the user's source, as
/// "heat_1d.cpp:41", or as "tessera" without one.
///
/// Needs a living KokkosScope, or a program that initialised Kokkos itself.
/// Threads: any number at once on the serial space; one at a time on a parallel one.
/// Cost: no allocation.
void launch(std::int64_t rows, RowFunction f, void const* context,
            SourceLocation const& location = {});

/// What `launch` runs on, for people: "Kokkos 3.4.1 Serial".
[[nodiscard]] std::string_view launch_description();

/// Whether `launch` uses several threads of its own, so that one device is the whole process.
[[nodiscard]] bool launch_is_parallel();

/// Initialises Kokkos for as long as it lives: with its settings struct, never with the program's
/// arguments, without warnings and output. Does nothing at either end if the program had
/// initialised Kokkos before. Threads: made and destroyed by one thread while no other launches.
class KokkosScope {
 public:
  KokkosScope();
  ~KokkosScope();
  KokkosScope(KokkosScope const&) = delete;
  KokkosScope& operator=(KokkosScope const&) = delete;

 private:
  bool owns_ = false;
};

}  // namespace tessera
