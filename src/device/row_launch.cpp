#include "src/device/row_launch.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>

#include <Kokkos_Core.hpp>

#include "tessera/base/error.hpp"

#include "src/base/float_state.hpp"

namespace tessera {
namespace {

using Space = Kokkos::DefaultHostExecutionSpace;
using Policy = Kokkos::RangePolicy<Space, Kokkos::IndexType<std::int64_t>>;

#ifdef KOKKOS_ENABLE_SERIAL
constexpr bool is_serial = std::is_same_v<Space, Kokkos::Serial>;
#else
constexpr bool is_serial = false;
#endif

// More blocks than threads, so that a thread that starts late delays the others only briefly.
constexpr std::int64_t blocks_per_thread = 4;

/// The functor for Kokkos: block `i` of `blocks` nearly equal ones.
struct Block {
  RowFunction f;
  void const* context;
  std::int64_t rows;
  std::int64_t blocks;

  void operator()(std::int64_t i) const {
    DefaultFloatState const computing;  // on a thread of Kokkos
    auto const first = i * (rows / blocks) + std::min(i, rows % blocks);
    auto const last = first + rows / blocks + (i < rows % blocks ? 1 : 0);
    f(context, first, last);
  }
};

/// All rows at once.
struct Whole {
  RowFunction f;
  void const* context;
  std::int64_t rows;

  void operator()(std::int64_t /*i*/) const { f(context, 0, rows); }
};

#if KOKKOS_VERSION >= 40400 && defined(KOKKOS_ENABLE_SERIAL)

// From 4.4 on a serial instance is locked while a kernel runs on it, at least in some versions: on
// the shared default instance workers would take turns. So each thread has an instance of its own.
// Worker threads let go of theirs when they end; the thread of the KokkosScope does so before it
// finalises Kokkos.
thread_local std::optional<Kokkos::Serial> own_instance;

Policy one_block() {
  if constexpr (is_serial) {
    if (!own_instance) own_instance.emplace(Kokkos::NewInstance{});
    return {*own_instance, 0, 1};
  } else {
    return {0, 1};
  }
}

void forget_instance() {
  own_instance.reset();
}

#else

// Before 4.4 a serial parallel_for takes no lock and keeps nothing between calls.
Policy one_block() {
  return {0, 1};
}

void forget_instance() {}

#endif

std::string const no_label;

// The label for a tool, if there is one. The text lives until the thread's next launch, and its
// memory is reused.
std::string const& label_of(SourceLocation const& location) {
  if (!Kokkos::Tools::profileLibraryLoaded()) return no_label;
  thread_local std::string label;
  label = location.known() ? location.file_name() : std::string_view("tessera");
  if (!location.known()) return label;
  std::array<char, 16> line{':'};
  auto const end = std::to_chars(line.data() + 1, line.data() + line.size(), location.line).ptr;
  return label.append(line.data(), end);
}

#if KOKKOS_VERSION >= 30700

void initialize_kokkos() {
  if (Kokkos::is_finalized())
    throw UsageError(
        "Kokkos has been finalised and starts once in a program; one that makes several Runtimes, "
        "one after the other, initialises Kokkos itself before the first");
  Kokkos::initialize(Kokkos::InitializationSettings().set_disable_warnings(true));
}

#else

void initialize_kokkos() {
  Kokkos::InitArguments settings;
  settings.disable_warnings = true;
  Kokkos::initialize(settings);
}

#endif

}  // namespace

void launch(std::int64_t rows, RowFunction f, void const* context, SourceLocation const& location) {
  if (rows <= 0) return;
  if constexpr (is_serial) {
    // Without a tool, a launch is a plain call.
    if (!Kokkos::Tools::profileLibraryLoaded()) return f(context, 0, rows);
    Kokkos::parallel_for(label_of(location), one_block(), Whole{f, context, rows});
  } else {
    auto const threads = static_cast<std::int64_t>(Space().concurrency());
    auto const blocks = std::min(rows, threads * blocks_per_thread);
    Kokkos::parallel_for(label_of(location), Policy(0, blocks), Block{f, context, rows, blocks});
    Space().fence();
  }
}

std::string_view launch_description() {
  static std::string const description = "Kokkos " + std::to_string(KOKKOS_VERSION / 10000) + '.' +
                                         std::to_string(KOKKOS_VERSION / 100 % 100) + '.' +
                                         std::to_string(KOKKOS_VERSION % 100) + ' ' + Space::name();
  return description;
}

bool launch_is_parallel() {
  return !is_serial;
}

KokkosScope::KokkosScope() {
  if (Kokkos::is_initialized()) return;
  initialize_kokkos();
  owns_ = true;
}

KokkosScope::~KokkosScope() {
  if (!owns_) return;
  forget_instance();
  Kokkos::finalize();
}

}  // namespace tessera
