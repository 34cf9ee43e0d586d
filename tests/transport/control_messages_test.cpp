#include "src/transport/protocol/control_messages.hpp"

#include <algorithm>
#include <span>
#include <string_view>
#include <vector>

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

template <class Message>
Message sized(std::uint32_t size) {
  Message message;
  message.size = size;
  return message;
}

}  // namespace

TEST_CASE("text that does not fit is cut and still ends") {
  CHECK(control::Text<8>("heat").view() == "heat");
  CHECK(control::Text<8>("heat_1d.cpp").view() == "heat_1d");
  CHECK(control::Text<8>("").view().empty());
  CHECK(text(control::Text<8>("heat\n1d")) == "heat\n1d");
  CHECK(text(control::Text<8>("\x01\x02\x03\x04")) == "\\x01\\x02... (4 bytes)");
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
  CHECK(control::kind_of(std::as_bytes(std::span(&failed, 1))) == control::Kind::failed);
  control::Note const note;
  CHECK(control::kind_of(std::as_bytes(std::span(&note, 1))) == control::Kind::note);
}

TEST_CASE("bytes that are no message are refused") {
  CHECK_THROWS_WITH_AS((void)control::kind_of({}), "a message of no bytes", control::BadMessage);
  std::byte const unknown{12};
  CHECK_THROWS_WITH_AS((void)control::kind_of({&unknown, 1}), "a message of kind 12, which is none",
                       control::BadMessage);
}

TEST_CASE("a message of another size than its own is refused") {
  control::Compared const sent{.statements = 9};
  auto const bytes = std::as_bytes(std::span(&sent, 1));
  std::vector<std::byte> longer(bytes.begin(), bytes.end());
  longer.push_back(std::byte{0});

  CHECK(control::read<control::Compared>(bytes).statements == 9);
  CHECK_THROWS_WITH_AS((void)control::read<control::Compared>(bytes.first(1)),
                       "a message of 1 bytes, which has 16", control::BadMessage);
  CHECK_THROWS_AS((void)control::read<control::Compared>(longer), control::BadMessage);
}

TEST_CASE("sizes in a message that it has no room for are refused") {
  auto const refuses = [](auto const& message) {
    try {
      (void)through_bytes(message);
    } catch (control::BadMessage const& bad) {
      return std::string_view(bad.what()).find("there is room for") != std::string_view::npos;
    }
    return false;
  };
  CHECK(refuses(sized<control::Invite>(801)));
  CHECK(refuses(sized<control::Request>(1001)));
  CHECK(refuses(sized<control::Reply>(0xffffffff)));
  CHECK(refuses(sized<control::Note>(961)));
  CHECK_FALSE(refuses(sized<control::Note>(960)));
  control::Digests digests;
  digests.count = 17;
  CHECK(refuses(digests));
  control::Invite invite;
  invite.route = static_cast<Route>(8);
  CHECK_THROWS_WITH_AS((void)through_bytes(invite), "an invitation by route 8, which is none",
                       control::BadMessage);
}

TEST_CASE("any letters are a text, and any byte is true or false") {
  control::Failed failed;
  auto const bytes = std::as_writable_bytes(std::span(&failed, 1));
  std::fill(bytes.begin() + 1, bytes.end(), std::byte{'\x1b'});

  auto const arrived = through_bytes(failed);

  CHECK(arrived.is_mismatch);
  CHECK(arrived.why.view().size() == 900);
  CHECK(text(arrived.why).starts_with("\\x1b\\x1b"));
}

TEST_SUITE_END();
