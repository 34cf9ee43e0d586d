#include "src/transport/protocol/control_messages.hpp"

#include <cstring>

#include <doctest/doctest.h>

#include "src/base/text.hpp"

using namespace tessera;

TEST_SUITE_BEGIN("transport/protocol/control_messages");

namespace {

StatementTag const seventh{7, 70, SourceLocation("/home/me/heat_1d.cpp", 41)};

template <class Message>
Message through_bytes(Message const& message) {
  return control::read<Message>(std::as_bytes(std::span(&message, 1)));
}

}  // namespace

TEST_CASE("text that does not fit is cut and still ends") {
  CHECK(control::Text<8>("heat").view() == "heat");
  CHECK(control::Text<8>("heat_1d.cpp").view() == "heat_1d");
  CHECK(control::Text<8>("").view().empty());
}

TEST_CASE("a statement is told by its number, its file and its line") {
  CHECK(text(control::Statement(seventh)) == "statement 7 (heat_1d.cpp:41)");
  CHECK(text(control::Statement({8, 80, {}})) == "statement 8");
}

TEST_CASE("an edge is told as one device that waits for another") {
  Awaited what{Awaited::Kind::message, DeviceId(1), DeviceId(2), 5, seventh};
  CHECK(text(control::Edge(what)) == "device 1 waits for device 2 at statement 7 (heat_1d.cpp:41)");

  what.kind = Awaited::Kind::worker;
  CHECK(text(control::Edge(what)) ==
        "the caller's thread waits for device 2 at statement 7 (heat_1d.cpp:41)");
}

TEST_CASE("a probe arrives as it was sent") {
  control::Probe probe;
  probe.initiator = {true, 3};
  probe.initiator_process = ProcessId(2);
  probe.initiator_wait = 11;
  probe.last = control::Edge({Awaited::Kind::free_slot, DeviceId(4), DeviceId(5), 6, seventh});
  probe.signature = 0x1234;

  auto const arrived = through_bytes(probe);

  CHECK(arrived.kind == control::Kind::probe);
  CHECK(arrived.initiator == probe.initiator);
  CHECK(arrived.initiator_process == ProcessId(2));
  CHECK(arrived.initiator_wait == 11);
  CHECK(arrived.last.kind == Awaited::Kind::free_slot);
  CHECK(arrived.last.peer == DeviceId(5));
  CHECK(arrived.last.count == 6);
  CHECK(arrived.signature == 0x1234);
}

TEST_CASE("the kind of a message is found before it is known what message it is") {
  control::Failed const failed;
  CHECK(control::read<control::Kind>(std::as_bytes(std::span(&failed, 1))) ==
        control::Kind::failed);
  control::Note const note;
  CHECK(control::read<control::Kind>(std::as_bytes(std::span(&note, 1))) == control::Kind::note);
}

TEST_CASE("of a message that came too short the rest is as it was made") {
  control::Compared const sent{.statements = 9};
  auto const bytes = std::as_bytes(std::span(&sent, 1));

  CHECK(control::read<control::Compared>(bytes.first(1)).statements == 0);
}

TEST_SUITE_END();
