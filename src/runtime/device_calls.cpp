#include "src/runtime/device_calls.hpp"

#include <exception>
#include <mutex>

#include "src/runtime/current_runtime.hpp"

namespace tessera {

void call_on_devices(std::function<void(DeviceId)> const& f, Dispatcher& dispatcher,
                     DevicePool& devices, FailurePolicy& failures) {
  std::mutex mutex;
  std::exception_ptr first_error;
  std::function<void(DeviceTask&)> const call = [&](DeviceTask& task) {
    try {
      f(task.device);
    } catch (...) {
      std::lock_guard const guard(mutex);
      if (first_error == nullptr) first_error = std::current_exception();
    }
  };
  failures.guarded([&] {
    // A function that calls Tessera would wait for itself: `engine()` refuses meanwhile.
    detail::UserFunctionScope const calling;
    dispatcher.post_to_all(call, {});
    devices.synchronize();
  });
  if (first_error == nullptr) return;
  failures.give_up_in_job(first_error);  // only this process may have seen it
  std::rethrow_exception(first_error);
}

}  // namespace tessera
