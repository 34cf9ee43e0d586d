#include "src/liveness/failure_message.hpp"

#include "src/base/text.hpp"

namespace tessera {
namespace {

/// True if the error is, or is derived from, a `Kind`.
template <class Kind>
bool is_a(std::exception_ptr const& error) {
  try {
    std::rethrow_exception(error);
  } catch (Kind const&) {
    return true;
  } catch (...) {
    return false;
  }
}

}  // namespace

std::string words_of(std::exception_ptr const& error) {
  try {
    std::rethrow_exception(error);
  } catch (std::exception const& known) {
    return known.what();
  } catch (...) {
    return "an exception of an unknown type";
  }
}

control::Failed failure_message(std::exception_ptr const& error) {
  control::Failed message;
  message.is_mismatch = is_a<Mismatch>(error);
  message.is_passed_on = is_a<PassedOn>(error);
  message.why = decltype(message.why)(words_of(error));
  return message;
}

std::exception_ptr to_exception(ProcessId from, control::Failed const& failed) {
  auto const why =
      failed.is_passed_on ? text(failed.why) : text("process ", from, " gave up: ", failed.why);
  return failed.is_mismatch ? std::make_exception_ptr(PeerFoundMismatch(why))
                            : std::make_exception_ptr(PeerGaveUp(why));
}

std::set<ProcessId> processes_to_tell(std::set<ProcessId> const& peers, Job const& job) {
  auto processes = peers;
  auto const self = job.self().value();
  for (std::int64_t bit = 1; bit < job.process_count(); bit *= 2)
    if ((self ^ bit) < job.process_count()) processes.emplace(self ^ bit);
  return processes;
}

}  // namespace tessera
