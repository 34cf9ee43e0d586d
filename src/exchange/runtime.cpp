#include "tessera/exchange/runtime.hpp"

#include <exception>
#include <utility>

#include "tessera/base/environment.hpp"
#include "tessera/base/error.hpp"
#include "tessera/base/log.hpp"
#include "tessera/base/text.hpp"
#include "tessera/device/cores.hpp"
#include "tessera/device/launch.hpp"
#include "tessera/exchange/engine.hpp"

namespace tessera {
namespace {

Bootstrap* living_bootstrap = nullptr;
std::terminate_handler earlier_handler = nullptr;

// Says what was thrown and ends the job, so that no other process waits for this one.
[[noreturn]] void end_job_on_terminate() {
  try {
    if (auto const error = std::current_exception()) std::rethrow_exception(error);
    log_error("the program called std::terminate");
  } catch (std::exception const& error) {
    log_error(text("uncaught exception: ", error.what()));
  } catch (...) {
    log_error("uncaught exception that is no std::exception");
  }
  if (living_bootstrap != nullptr && living_bootstrap->process_count() > 1)
    living_bootstrap->abort_job();
  if (earlier_handler != nullptr) earlier_handler();
  std::abort();
}

std::unique_ptr<Bootstrap> make_bootstrap(int& argc, char**& argv) {
  return launched_by_mpi() ? make_mpi_bootstrap(argc, argv) : make_single_bootstrap();
}

// Under a launcher one device per process, alone one per core, unless told otherwise.
std::int64_t local_devices(RuntimeOptions const& options) {
  if (options.devices && *options.devices < 1)
    throw ConfigError(text("a process drives at least 1 device, not ", *options.devices));
  auto const asked = options.devices ? options.devices : environment_integer("TESSERA_DEVICES", 1);
  if (launch_is_parallel()) {
    if (asked && *asked != 1)
      throw ConfigError(text(asked.value(),
                             " devices in a process need Kokkos' Serial space; here ",
                             launch_description(), " makes the whole process one device"));
    return 1;
  }
  if (asked) return *asked;
  return launched_by_mpi() ? 1 : available_cores();
}

void say_if_one_of_many(Bootstrap const& bootstrap, RuntimeOptions const& options) {
  bool const told = options.devices || environment("TESSERA_DEVICES");
  if (!launched_by_mpi() || bootstrap.process_count() > 1 || told || available_cores() == 1) return;
  log_warning(text("one process under a launcher takes 1 of ", available_cores(),
                   " cores; set TESSERA_DEVICES or start more processes to use them"));
}

}  // namespace

struct Runtime::Impl {
  Impl(int& argc, char**& argv, RuntimeOptions const& options)
      : bootstrap(make_bootstrap(argc, argv)) {
    if (bootstrap->process_count() > 1) set_log_process(bootstrap->self());
    engine = std::make_unique<Engine>(*bootstrap, local_devices(options),
                                      NetworkOptions::from_environment());
    living_bootstrap = bootstrap.get();
    earlier_handler = std::set_terminate(end_job_on_terminate);
    say_if_one_of_many(*bootstrap, options);
    detail::set_engine(engine.get());
  }

  ~Impl() {
    end_in_order_or_abort();
    detail::set_engine(nullptr);
    std::set_terminate(earlier_handler);
    living_bootstrap = nullptr;
    engine.reset();
    bootstrap->finalize();
  }

  void end_in_order_or_abort() {
    bool const unwinding = std::uncaught_exceptions() > exceptions_at_start;
    try {
      if (!unwinding) {
        engine->finish();
        return;
      }
      log_error(text("the Runtime ends while an exception unwinds it: ", last_error_text()));
    } catch (std::exception const& error) {
      log_error(error.what());
    }
    if (bootstrap->process_count() > 1) bootstrap->abort_job();
  }

  int exceptions_at_start = std::uncaught_exceptions();
  std::unique_ptr<Bootstrap> bootstrap;
  KokkosScope kokkos;
  std::unique_ptr<Engine> engine;
};

Runtime::Runtime(int& argc, char**& argv, RuntimeOptions const& options) {
  if (living_bootstrap != nullptr)
    throw UsageError("there is a tessera::Runtime already; a process has one at a time");
  impl_ = std::make_unique<Impl>(argc, argv, options);
}

namespace {
int no_arguments = 0;
char* no_argument = nullptr;
char** no_argument_list = &no_argument;
}  // namespace

Runtime::Runtime(RuntimeOptions const& options)
    : Runtime(no_arguments, no_argument_list, options) {}

Runtime::~Runtime() = default;

char const* to_string(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::cpu:
      return "cpu";
  }
  return "?";
}

std::ostream& operator<<(std::ostream& out, Device const& device) {
  return out << to_string(device.kind) << ' ' << device.id << " of process " << device.process;
}

Device DeviceRange::Iterator::operator*() const {
  DeviceId const id{id_};
  return {id, DeviceKind::cpu, job().process_of(id), job().is_local(id)};
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
  return engine().counters();
}

namespace detail {

ExplanationScope::ExplanationScope() : outer_(engine().explain_into(&result)) {}

ExplanationScope::~ExplanationScope() {
  engine().explain_into(outer_);
  if (outer_ == nullptr) return;
  auto& statements = outer_->statements;
  statements.insert(statements.end(), result.statements.begin(), result.statements.end());
}

}  // namespace detail

}  // namespace tessera
