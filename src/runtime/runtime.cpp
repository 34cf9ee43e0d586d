#include "tessera/runtime/runtime.hpp"

#include <chrono>
#include <cstdlib>
#include <exception>
#include <memory>
#include <system_error>
#include <thread>
#include <typeinfo>
#include <utility>

#include <cxxabi.h>

#include "tessera/base/error.hpp"

#include "src/base/environment.hpp"
#include "src/base/log.hpp"
#include "src/base/text.hpp"
#include "src/device/cores.hpp"
#include "src/device/row_launch.hpp"
#include "src/job/ipc/signals.hpp"
#include "src/job/launch.hpp"
#include "src/liveness/failure_message.hpp"
#include "src/runtime/current_runtime.hpp"
#include "src/runtime/engine.hpp"
#include "src/runtime/local_devices.hpp"
#include "src/runtime/profiler/profiler.hpp"
#include "src/runtime/start/variables.hpp"
#include "src/runtime/statement_hooks.hpp"

namespace tessera {
namespace {

// The handler of the C++ library that prints the exception again, however long its words are.
#ifdef __GLIBCXX__
constexpr std::terminate_handler prints_again = &__gnu_cxx::__verbose_terminate_handler;
#else
constexpr std::terminate_handler prints_again = nullptr;
#endif

// Of the program's own exceptions the beginning is enough; a message of Tessera ends with the
// remedy.
std::string words_of_uncaught(std::exception const& error) {
  constexpr std::size_t most_of_program = 1024;
  if (dynamic_cast<Error const*>(&error) != nullptr) return error.what();
  return excerpt(error.what(), most_of_program, "\n\t");
}

// The type as the program writes it.
std::string name_of_type(std::exception const& error) {
  auto const* const mangled = typeid(error).name();
  std::unique_ptr<char, decltype(&std::free)> const name(
      abi::__cxa_demangle(mangled, nullptr, nullptr, nullptr), &std::free);
  return name == nullptr ? mangled : name.get();
}

// Prints the uncaught exception and ends the job, so that no other process waits for this one.
[[noreturn]] void end_job_on_terminate() {
  auto error = std::current_exception();
  if (!error) error = std::make_exception_ptr(Error("std::terminate was called"));
  bool is_told = false;
  try {
    std::rethrow_exception(error);
  } catch (std::exception const& other) {
    log_error(text("uncaught ", name_of_type(other), ": ", words_of_uncaught(other)));
    is_told = true;
  } catch (...) {
    log_error("uncaught exception that is no std::exception");
  }
  // Ends the engine only once, since another error here ends the process at once; and only on the
  // thread that may call MPI.
  auto& current = detail::current_runtime;
  if (auto* const engine = std::exchange(current.engine_to_end, nullptr);
      engine != nullptr && std::this_thread::get_id() == current.thread)
    engine->end_in_error(error);
  if (auto* const job = current.bootstrap_to_abort; job != nullptr && job->process_count() > 1)
    job->abort_job();
  auto const handler = current.terminate_handler;
  if (handler != nullptr && !(is_told && handler == prints_again)) handler();
  std::abort();
}

std::exception_ptr unknown_cause() {
  return std::make_exception_ptr(
      Error("an exception of the program has ended its Runtime; see its output"));
}

void end_job() {
  auto& current = detail::current_runtime;
  if (auto* const engine = std::exchange(current.engine_to_end, nullptr); engine != nullptr)
    engine->end_in_error(unknown_cause());
  if (current.bootstrap_to_abort != nullptr) current.bootstrap_to_abort->abort_job();
}

// Ends the job when this program ends, or ten seconds from now. False if that cannot be.
bool end_job_at_exit(bool allows_threads) {
  if (std::atexit(&end_job) != 0) return false;
  if (!allows_threads) return true;
  try {
    SignalsBlocked const blocked;
    std::thread([] {
      std::this_thread::sleep_for(std::chrono::seconds(10));
      log_error("an exception has ended the Runtime of this process, which now ends as well");
      std::_Exit(1);
    }).detach();
  } catch (std::system_error const&) {
    return false;
  }
  return true;
}

std::unique_ptr<Bootstrap> make_bootstrap(int& argc, char**& argv) {
  return launched_by_mpi() ? make_mpi_bootstrap(argc, argv) : make_single_bootstrap();
}

void say_if_one_of_many(Bootstrap const& bootstrap, RuntimeOptions const& options) {
  bool const told = options.devices || environment("TESSERA_DEVICES");
  if (!device_traits().is_eager) return;  // it computes elsewhere
  if (!launched_by_mpi() || bootstrap.process_count() > 1 || told || available_cores() == 1) return;
  log_warning(text("one process under a launcher takes 1 of ", available_cores(),
                   " cores; set TESSERA_DEVICES or start more processes to use them"));
}

}  // namespace

struct Runtime::Impl {
  Impl(std::unique_ptr<Bootstrap> job, RuntimeOptions const& options) : bootstrap(std::move(job)) {
    detail::leave_runtime_to_parent_in_forks();  // throws, so before anything is set
    if (bootstrap->process_count() > 1) set_log_process(bootstrap->self());
    make_engine(options);
    detail::current_runtime.terminate_handler = std::set_terminate(end_job_on_terminate);
    detail::set_engine(engine.get());
    detail::current_runtime.bootstrap_to_abort = bootstrap.get();
    detail::current_runtime.engine_to_end = engine.get();
  }

  // An exception that is none of Tessera's is this process's alone, and the others may wait for it.
  void make_engine(RuntimeOptions const& options) {
    try {
      check_variables(*bootstrap);
      engine = std::make_unique<Engine>(*bootstrap, devices_of_this_process(options, *bootstrap),
                                        NetworkOptions::from_environment());
    } catch (Error const&) {
      throw;
    } catch (std::exception const& error) {
      auto const words = text("the Runtime cannot be made: ", error.what());
      if (bootstrap->process_count() == 1) throw TransportError(words);
      log_error(words);
      bootstrap->abort_job();
    }
  }

  ~Impl() {
    if (is_unwound())
      end_in_error();
    else
      end_in_order();
    detail::set_engine(nullptr);
    std::set_terminate(detail::current_runtime.terminate_handler);
    detail::current_runtime.bootstrap_to_abort = nullptr;
    detail::current_runtime.engine_to_end = nullptr;
    engine.reset();
    bootstrap->finalize();
  }

  void end_in_order() {
    try {
      engine->finish();
    } catch (std::exception const& error) {
      log_error(error.what());
      engine->end_in_error(std::current_exception());
      abort_if_others_wait();
    }
  }

  void end_in_error() {
    if (cause) log_error(words_of(cause));
    engine->end_in_error(cause ? cause : unknown_cause());
    abort_if_others_wait();
  }

  void abort_if_others_wait() {
    if (bootstrap->process_count() > 1) bootstrap->abort_job();
  }

  [[nodiscard]] bool is_unwound() const { return std::uncaught_exceptions() > exceptions_at_start; }

  // Of the exception that unwinds the Runtime; null if Tessera has not seen it. In a destructor,
  // C++ shows no exception that is still on its way.
  [[nodiscard]] std::exception_ptr known_cause() const {
    if (auto const failure = engine->failure()) return failure;
    auto const words = last_error_text();
    return words.empty() ? nullptr : std::make_exception_ptr(Error(words));
  }

  // True if only the handler that the exception is on its way to can say what it is. Then the
  // others are told, but the job lives until the program ends.
  [[nodiscard]] bool leaves_end_to_exit() {
    if (!is_unwound()) return false;
    cause = known_cause();
    if (cause || bootstrap->process_count() == 1) return false;
    engine->announce(unknown_cause());
    return end_job_at_exit(bootstrap->allows_threads());
  }

  std::exception_ptr cause;  ///< of the unwinding, once it has begun
  int exceptions_at_start = std::uncaught_exceptions();
  std::unique_ptr<Bootstrap> bootstrap;
  KokkosScope kokkos;
  std::unique_ptr<Engine> engine;
};

namespace {

void refuse_second() {
  detail::refuse_in_fork();
  if (detail::current_runtime.bootstrap_to_abort != nullptr)
    throw UsageError("a tessera::Runtime already exists; a process has one at a time");
}

int no_arguments = 0;
char* no_argument = nullptr;
char** no_argument_list = &no_argument;

}  // namespace

Runtime::Runtime(int& argc, char**& argv, RuntimeOptions const& options) {
  refuse_second();
  auto const warning = launch_warning([](std::string_view name) { return environment(name); });
  if (!warning.empty()) log_warning_once(warning);
  impl_ = std::make_unique<Impl>(make_bootstrap(argc, argv), options);
  say_if_one_of_many(*impl_->bootstrap, options);
}

Runtime::Runtime(RuntimeOptions const& options)
    : Runtime(no_arguments, no_argument_list, options) {}

Runtime::Runtime(MpiCommunicator const& communicator, RuntimeOptions const& options) {
  refuse_second();
  impl_ = std::make_unique<Impl>(make_mpi_bootstrap(communicator), options);
}

Runtime::~Runtime() {
  // A forked process has a copy of the parent's, with none of its threads.
  if (detail::current_runtime.is_fork || impl_->leaves_end_to_exit()) (void)impl_.release();
}

std::ostream& operator<<(std::ostream& out, Device const& device) {
  return out << to_string(device.kind) << ' ' << device.id << " of process " << device.process;
}

Device DeviceRange::Iterator::operator*() const {
  DeviceId const id{id_};
  return {id, device_kind(), job().process_of(id), job().is_local(id)};
}

Device DeviceRange::operator[](std::int64_t i) const {
  if (i < 0 || i >= count_)
    throw IndexError(text("there is no device ", i, " in a range of ", counted(count_, "device")));
  return *Iterator(first_ + i);
}

DeviceRange devices() {
  return {0, job().device_count()};
}

DeviceRange addressable_devices() {
  return {job().first_local().value(), job().local_count()};
}

std::int64_t device_count() {
  return job().device_count();
}
ProcessId process() {
  return job().self();
}
std::int64_t process_count() {
  return job().process_count();
}
void synchronize() {
  engine().synchronize();
}
Counters counters() {
  return engine().profiler().totals();
}

namespace detail {

ExplanationScope::ExplanationScope() : outer_(explain_into(&result_)) {}

Explanations ExplanationScope::result() const {
  return result_;
}

ExplanationScope::~ExplanationScope() {
  explain_into(outer_);
  if (outer_ == nullptr) return;
  auto& statements = outer_->statements;
  statements.insert(statements.end(), result_.statements.begin(), result_.statements.end());
}

}  // namespace detail

}  // namespace tessera
