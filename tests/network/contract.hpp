#pragma once
/// @file
/// What every route promises, as bodies for one device each.

#include <algorithm>
#include <chrono>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <random>
#include <thread>
#include <vector>

#include <doctest/doctest.h>

#include "support/transport_devices.hpp"

namespace tessera::test {

/// Stays away for a while now and then, another while on each device.
class RandomDelays {
 public:
  explicit RandomDelays(DeviceId self) : random_(static_cast<std::uint32_t>(self.value() + 1)) {}

  void maybe() {
    if (random_() % 8 != 0) return;
    std::this_thread::sleep_for(std::chrono::microseconds(random_() % 300));
  }

 private:
  std::mt19937 random_;
};

inline void put_number(Sender& sender, Waiter& waiter, StatementTag const& tag,
                       std::int64_t value) {
  std::memcpy(sender.slot(waiter, tag).data(), &value, sizeof value);
  sender.put(tag, sizeof value);
}

inline std::int64_t take_number(Receiver& receiver, Waiter& waiter, StatementTag const& tag) {
  std::int64_t value = -1;
  auto const bytes = receiver.take(waiter, tag);
  REQUIRE(bytes.size() == sizeof value);
  std::memcpy(&value, bytes.data(), sizeof value);
  receiver.release();
  return value;
}

/// Every device passes numbers to its right and takes those of its left.
inline void pass_around_ring(Device const& device) {
  RandomDelays delays(device.self);
  for (std::int64_t step = 0; step < 200; ++step) {
    auto const tag = statement(static_cast<std::uint64_t>(step + 1));
    put_number(device.to(device.right()), device.waiter, tag, 1000 * device.self.value() + step);
    delays.maybe();
    auto const value = take_number(device.from(device.left()), device.waiter, tag);
    REQUIRE(value == 1000 * device.left().value() + step);
  }
}

/// Only device 0 sends, as fast as it may; the others read late and see every number in order.
inline void send_one_way(Device const& device) {
  std::int64_t const count = 300;
  std::int64_t put = 0;
  RandomDelays delays(device.self);
  for (std::int64_t i = 0; i < count; ++i) {
    auto const tag = statement(static_cast<std::uint64_t>(i + 1));
    for (std::int64_t peer = 1; device.self == DeviceId(0) && peer < device.count; ++peer, ++put)
      put_number(device.to(DeviceId(peer)), device.waiter, tag, i);
    if (device.self == DeviceId(0)) continue;
    delays.maybe();
    REQUIRE(take_number(device.from(DeviceId(0)), device.waiter, tag) == i);
  }
  CHECK(put == (device.self == DeviceId(0) ? count * (device.count - 1) : 0));
}

/// The byte at `place` of the long message between two devices.
inline std::byte letter(DeviceId from, DeviceId to, std::size_t place) {
  return static_cast<std::byte>(
      (static_cast<std::size_t>(from.value() * 31 + to.value() * 7) + place * 13 + place / 1000) %
      251);
}

/// Puts the next piece of the message for `peer`, if there is one left, and counts its bytes.
inline void pack_and_send_piece(Device const& device, std::size_t peer, std::size_t size,
                                std::size_t& done) {
  if (done == size) return;
  DeviceId const to(static_cast<std::int64_t>(peer));
  auto const slot = device.to(to).slot(device.waiter, statement(1));
  auto const piece = std::min(slot.size(), size - done);
  for (std::size_t i = 0; i < piece; ++i) slot[i] = letter(device.self, to, done + i);
  device.to(to).put(statement(1), static_cast<std::int64_t>(piece));
  done += piece;
}

/// Every device sends every other a message of several slots, in rounds: piece r goes to every
/// peer, then piece r of every peer is taken. Slots are as long as the routes have them.
inline void exchange_pieces(Device const& device) {
  constexpr std::size_t size = 1'100'017;
  auto const peers = static_cast<std::size_t>(device.count);
  std::vector<std::size_t> sent(peers);
  std::vector<std::vector<std::byte>> got(peers);
  auto const is_done = [&] {
    return std::all_of(got.begin(), got.end(), [](auto const& all) { return all.size() >= size; });
  };
  while (!is_done()) {
    for (std::size_t peer = 0; peer < peers; ++peer)
      pack_and_send_piece(device, peer, size, sent[peer]);
    for (std::size_t peer = 0; peer < peers; ++peer) {
      if (got[peer].size() >= size) continue;
      auto& receiver = device.from(DeviceId(static_cast<std::int64_t>(peer)));
      auto const piece = receiver.take(device.waiter, statement(1));
      got[peer].insert(got[peer].end(), piece.begin(), piece.end());
      receiver.release();
    }
  }
  for (std::int64_t peer = 0; peer < device.count; ++peer) {
    auto const& whole = got[static_cast<std::size_t>(peer)];
    REQUIRE(whole.size() == size);
    std::size_t wrong = 0;
    for (std::size_t i = 0; i < size; ++i)
      if (whole[i] != letter(DeviceId(peer), device.self, i)) ++wrong;
    REQUIRE(wrong == 0);
  }
}

/// Random pairs talk in an order that all devices know, so that waits of every shape come up.
inline void talk_at_random(Device const& device) {
  std::mt19937 random(7);
  RandomDelays delays(device.self);
  auto const pick = [&] { return DeviceId(static_cast<std::int64_t>(random()) % device.count); };
  for (std::uint64_t number = 1; number <= 400; ++number) {
    auto const from = pick();
    auto const to = pick();
    auto const tag = statement(number);
    if (from == device.self) {
      delays.maybe();
      put_number(device.to(to), device.waiter, tag, static_cast<std::int64_t>(number));
    }
    if (to == device.self)
      REQUIRE(take_number(device.from(from), device.waiter, tag) ==
              static_cast<std::int64_t>(number));
  }
}

}  // namespace tessera::test
