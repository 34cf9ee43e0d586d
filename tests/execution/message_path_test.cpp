#include "src/execution/message_path.hpp"

#include <vector>

#include <doctest/doctest.h>

#include "src/execution/connection/message_paths.hpp"
#include "src/execution/gpu_channels/gpu_channel.hpp"
#include "src/execution/gpu_channels/gpu_messages.hpp"
#include "src/execution/gpu_channels/gpu_paths.hpp"

using namespace tessera;

TEST_SUITE_BEGIN("execution/message_path");

namespace {

Message message_to(std::int64_t peer, PathKind path, std::int64_t bytes = 8) {
  Message message;
  message.peer = DeviceId{peer};
  message.path = path;
  message.bytes = bytes;
  return message;
}

std::vector<std::int64_t> peers_of(std::span<Message const> messages) {
  std::vector<std::int64_t> peers;
  for (auto const& message : messages) peers.push_back(message.peer.value());
  return peers;
}

using Peers = std::vector<std::int64_t>;

Sender sender_with_slots_of(std::int64_t bytes) {
  ChannelEnd end;
  end.slot_bytes = bytes;
  return Sender(end);
}

}  // namespace

TEST_CASE("messages that all travel alike stay as they are") {
  DevicePlan plan;
  plan.sends = {message_to(2, PathKind::slots), message_to(1, PathKind::slots)};
  plan.receives = {message_to(5, PathKind::slots)};

  group_by_path(plan);

  CHECK(plan.path == &slot_path());
  REQUIRE(plan.paths.size() == 1);
  CHECK(plan.paths[0] == PathUse{&slot_path(), 0, 2, 0, 1});
  CHECK(peers_of(messages_of(messages_of(plan), plan.paths[0]).sends) == Peers{2, 1});
}

TEST_CASE("a device without messages uses no path") {
  DevicePlan plan;
  group_by_path(plan);
  CHECK(plan.path == nullptr);
  CHECK(plan.paths.empty());
}

TEST_CASE("messages are grouped by their paths, in their order, staged ones last") {
  DevicePlan plan;
  plan.sends = {message_to(0, PathKind::staged), message_to(1, PathKind::peer),
                message_to(2, PathKind::communicator), message_to(3, PathKind::peer)};
  plan.receives = {message_to(7, PathKind::staged), message_to(6, PathKind::communicator),
                   message_to(5, PathKind::communicator)};

  group_by_path(plan);

  CHECK(plan.path == &mixed_path());
  REQUIRE(plan.paths.size() == 3);
  auto const peer = messages_of(messages_of(plan), plan.paths[0]);
  CHECK(plan.paths[0].path == &peer_path());
  CHECK(peers_of(peer.sends) == Peers{1, 3});
  CHECK(peer.receives.empty());
  auto const communicator = messages_of(messages_of(plan), plan.paths[1]);
  CHECK(plan.paths[1].path == &communicator_path());
  CHECK(peers_of(communicator.sends) == Peers{2});
  CHECK(peers_of(communicator.receives) == Peers{6, 5});
  auto const staged = messages_of(messages_of(plan), plan.paths[2]);
  CHECK(plan.paths[2].path == &staged_path());
  CHECK(peers_of(staged.sends) == Peers{0});
  CHECK(peers_of(staged.receives) == Peers{7});
}

TEST_CASE("a plan may be grouped again") {
  DevicePlan plan;
  plan.sends = {message_to(0, PathKind::staged), message_to(1, PathKind::peer)};
  group_by_path(plan);
  auto const before = plan.paths;
  group_by_path(plan);
  CHECK(plan.paths == before);
}

TEST_CASE("each kind of path has an object of its own") {
  CHECK(&path_of(PathKind::slots) == &slot_path());
  CHECK(&path_of(PathKind::peer) == &peer_path());
  CHECK(&path_of(PathKind::communicator) == &communicator_path());
  CHECK(&path_of(PathKind::staged) == &staged_path());
}

TEST_CASE("a message is cut into pieces of a slot, the last of which may be shorter") {
  auto const message = message_to(0, PathKind::slots, 250);
  CHECK(piece_bytes(message, 100, 0) == 100);
  CHECK(piece_bytes(message, 100, 1) == 100);
  CHECK(piece_bytes(message, 100, 2) == 50);
  CHECK(piece_bytes(message, 100, 3) == 0);
}

TEST_CASE("two slots hold a message of twice their length, and paths without slots any") {
  auto sender = sender_with_slots_of(100);
  auto message = message_to(0, PathKind::slots, 200);
  message.sender = &sender;
  CHECK(slot_path().holds_whole(message));
  CHECK(staged_path().holds_whole(message));
  message.bytes = 201;
  CHECK_FALSE(slot_path().holds_whole(message));
  CHECK_FALSE(staged_path().holds_whole(message));
  CHECK(peer_path().holds_whole(message));
  CHECK(communicator_path().holds_whole(message));
}

TEST_CASE("messages of a GPU lie side by side, aligned, what is received behind what is sent") {
  DevicePlan plan;
  plan.sends = {message_to(0, PathKind::communicator, 1),
                message_to(1, PathKind::communicator, 300)};
  plan.receives = {message_to(0, PathKind::communicator, 256)};

  auto const space = lay_out_messages(plan);

  CHECK(plan.sends[0].space_offset == 0);
  CHECK(plan.sends[1].space_offset == 256);
  CHECK(plan.receives[0].space_offset == 768);
  CHECK(space == MessageSpace{1024, 0});
}

TEST_CASE("one staged message takes space on the host, at the same place as on the GPU") {
  DevicePlan plan;
  plan.sends = {message_to(0, PathKind::communicator, 256)};
  plan.receives = {message_to(1, PathKind::staged, 8)};
  CHECK(lay_out_messages(plan) == MessageSpace{512, 512});
  CHECK(plan.receives[0].space_offset == 256);
}

TEST_CASE("between GPUs that reach each other only a message that has to be copied takes space") {
  GpuPeerChannel direct;
  direct.is_direct = true;
  GpuPeerChannel copying;
  auto sender = sender_with_slots_of(100);
  DevicePlan plan;
  plan.sends = {message_to(0, PathKind::peer, 512), message_to(1, PathKind::peer, 512)};
  for (auto& message : plan.sends) message.sender = &sender;
  plan.sends[0].peer_channel = &direct;
  plan.sends[1].peer_channel = &copying;
  plan.receives = {message_to(0, PathKind::peer, 512)};
  plan.receives[0].peer_channel = &copying;

  CHECK(lay_out_messages(plan) == MessageSpace{512, 0});
}

TEST_SUITE_END();
