#include "src/transport/protocol/awaited.hpp"

#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "src/base/text.hpp"

using namespace tessera;

TEST_SUITE_BEGIN("transport/protocol/awaited");

namespace {

Awaited wait_of(Awaited::Kind kind) {
  return {kind, DeviceId(0), DeviceId(1), 5, {7, 70, SourceLocation("heat_1d.cpp", 41)}};
}

using Kind = Awaited::Kind;

}  // namespace

TEST_CASE("every wait is told in words of its own") {
  std::vector<std::pair<Kind, std::string>> const known{
      {Kind::message, "device 0 waits for message 5 of device 1 for statement 7 (heat_1d.cpp:41)"},
      {Kind::free_slot,
       "device 0 waits until device 1 has read its message 5, at statement 7 (heat_1d.cpp:41)"},
      {Kind::invitation,
       "device 0 waits until device 1 opens their channel for statement 7 (heat_1d.cpp:41)"},
      {Kind::worker, "the caller's thread waits for device 1 at statement 7 (heat_1d.cpp:41)"},
      {Kind::checker, "device 0 waits until device 1 is at statement 7 (heat_1d.cpp:41)"},
      {Kind::answer, "this process waits for cells of device 1"},
      {Kind::finish, "this process is done and waits for the others"},
      {Kind::note, "device 0 waits until device 1 opens memory for statement 7 (heat_1d.cpp:41)"},
      {Kind::gpu, "device 0 waits for its GPU at statement 7 (heat_1d.cpp:41)"},
      {Kind::other, "device 0 waits at statement 7 (heat_1d.cpp:41)"}};
  for (auto const& [kind, words] : known) CHECK(text(wait_of(kind)) == words);
}

TEST_CASE("a wait has a peer if another process may have to act") {
  for (auto const kind :
       {Kind::message, Kind::free_slot, Kind::invitation, Kind::checker, Kind::answer, Kind::note})
    CHECK(wait_of(kind).has_peer());
  for (auto const kind : {Kind::worker, Kind::finish, Kind::gpu, Kind::other})
    CHECK_FALSE(wait_of(kind).has_peer());
}

TEST_SUITE_END();
