#include <string>
#include <utility>

#include "tessera/base/error.hpp"
#include "tessera/transport/transports.hpp"

#include "segment.hpp"
#include "transport.hpp"

namespace tessera {
namespace {

/// Empty if there may be memory to share; whether another process can map it shows with that one.
std::string why_no_segment() {
  try {
    (void)Segment::make(64);
    return {};
  } catch (TransportError const& error) {
    return error.what();
  }
}

TransportFacts facts_of(Route route, TransportTraits const* traits, std::string why_not,
                        std::string why) {
  bool const is_there = traits != nullptr && why_not.empty();
  return {route, traits, is_there, is_there ? std::move(why) : std::move(why_not)};
}

std::string not_built(char const* option) {
  return std::string("not in this build; configure with -D") + option + "=ON";
}

}  // namespace

std::vector<TransportFacts> transport_facts(Bootstrap& bootstrap) {
  auto const* const ucx = ucx_transport_traits();
  auto const* const mpi = mpi_transport_traits();
  bool const has_mpi = launched_by_mpi() || bootstrap.process_count() > 1;
  return {facts_of(Route::local, &local_transport_traits(), "",
                   "devices of one process share its memory"),
          facts_of(Route::shm, &shm_transport_traits(), why_no_segment(), "a segment can be made"),
          facts_of(Route::ucx, ucx, ucx == nullptr ? not_built("TESSERA_WITH_UCX") : why_no_ucx(),
                   "its library was loaded"),
          facts_of(Route::mpi, mpi,
                   mpi == nullptr ? not_built("TESSERA_WITH_MPI")
                   : has_mpi      ? ""
                                  : "no launcher of MPI started the program",
                   "a launcher of MPI started the program")};
}

}  // namespace tessera
