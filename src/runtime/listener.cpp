#include "src/runtime/listener.hpp"

#include <utility>

#include "src/runtime/engine.hpp"

namespace tessera {

Listener::Listener() : older_(std::exchange(detail::current_runtime.youngest_listener, this)) {}

Listener::~Listener() {
  for (auto** one = &detail::current_runtime.youngest_listener; *one != nullptr;
       one = &(*one)->older_)
    if (*one == this) {
      *one = older_;
      return;
    }
}

HeardAsOne::HeardAsOne(ReplayedSteps const& steps) : HeardAsOne() {
  tell_listeners([&](Listener& listener) {
    listener.note(steps);
    listener.whole_ = this;
  });
}

HeardAsOne::HeardAsOne(KeptValue const& kept) : HeardAsOne() {
  tell_listeners([&](Listener& listener) {
    if (!listener.note(kept)) listener.whole_ = this;
  });
}

HeardAsOne::~HeardAsOne() {
  for (auto* one = detail::current_runtime.youngest_listener; one != nullptr; one = one->older_)
    if (one->whole_ == this) one->whole_ = nullptr;
}

void note_host_access() {
  tell_listeners([](Listener& listener) { listener.note_host_access(); });
}

std::string_view reason_to_run_bodies() {
  (void)engine();
  std::string_view reason;
  tell_listeners([&](Listener const& listener) {
    if (reason.empty()) reason = listener.reason_to_run_bodies();
  });
  return reason;
}

}  // namespace tessera
