// Requests come from outside: each that could touch anything but the cells that it names is
// refused.
#include "src/execution/one_sided/check_request.hpp"

#include <cstring>
#include <functional>
#include <limits>
#include <random>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "src/execution/one_sided/cell_requests.hpp"

#include "support/one_process.hpp"

using namespace tessera;
using What = RequestMessage::What;

TEST_SUITE_BEGIN("execution/check_request");

namespace {

constexpr std::int64_t largest = std::numeric_limits<std::int64_t>::max();
constexpr std::int64_t smallest = std::numeric_limits<std::int64_t>::min();

Box const own{{2, 3}, {6, 11}};  // 4 x 8 cells

// Of 2 x 3 cells of 8 bytes.
RequestMessage right_message(What what) {
  RequestMessage message;
  message.what = what;
  message.lo = {3, 4};
  message.hi = {5, 7};
  message.bytes = 48;
  if (what == What::update) {
    message.hi = {4, 5};
    message.bytes = 8;
  }
  return message;
}

std::int64_t payload_of(RequestMessage const& message) {
  return message.what == What::write ? message.bytes : 0;
}

std::string refusal_of_changed(What what, std::function<void(RequestMessage&)> const& change) {
  auto message = right_message(what);
  change(message);
  return reason_against(message, own, 8, payload_of(message));
}

}  // namespace

TEST_CASE("right requests are served") {
  for (auto const what : {What::read, What::write, What::update})
    CHECK(refusal_of_changed(what, [](RequestMessage&) {}).empty());
  CHECK(refusal_of_changed(What::read, [](RequestMessage& m) {
          m.first_byte = 16;
          m.bytes = 32;
        }).empty());
}

TEST_CASE("cells that are not of the box, or none, are refused") {
  auto const refuses = [](auto const& change) {
    return refusal_of_changed(What::read, change) == "no such cells";
  };
  CHECK(refuses([](RequestMessage& m) { m.lo[0] = 1; }));
  CHECK(refuses([](RequestMessage& m) { m.hi[1] = 12; }));
  CHECK(refuses([](RequestMessage& m) { m.hi[0] = m.lo[0]; }));
  CHECK(refuses([](RequestMessage& m) { std::swap(m.lo, m.hi); }));
  CHECK(refuses([](RequestMessage& m) { m.lo[0] = smallest; }));
  CHECK(refuses([](RequestMessage& m) { m.hi[1] = largest; }));
  CHECK(refuses([](RequestMessage& m) {
    m.lo[0] = largest;
    m.hi[0] = smallest;
  }));
}

TEST_CASE("bytes that the cells do not have are refused") {
  auto const refuses = [](auto const& change) {
    return refusal_of_changed(What::write, change) == "bytes that these cells do not have";
  };
  CHECK(refuses([](RequestMessage& m) { m.bytes = 0; }));
  CHECK(refuses([](RequestMessage& m) { m.bytes = -8; }));
  CHECK(refuses([](RequestMessage& m) { m.bytes = 56; }));
  CHECK(refuses([](RequestMessage& m) { m.bytes = largest; }));
  CHECK(refuses([](RequestMessage& m) { m.first_byte = -8; }));
  CHECK(refuses([](RequestMessage& m) { m.first_byte = 8; }));
  CHECK(refuses([](RequestMessage& m) { m.first_byte = smallest; }));
  CHECK(refuses([](RequestMessage& m) { m.first_byte = largest - 7; }));
}

TEST_CASE("an answer has a bounded size") {
  Box const large{{0}, {1 << 20}};
  RequestMessage message;
  message.hi[0] = 1 << 20;
  message.bytes = most_request_bytes + 8;
  CHECK_FALSE(reason_against(message, large, 8, 0).empty());
  message.bytes = most_request_bytes;
  CHECK(reason_against(message, large, 8, 0).empty());
}

TEST_CASE("words are read and written whole") {
  auto const cut = [](RequestMessage& m) { m.bytes = 44; };
  auto const moved = [](RequestMessage& m) {
    m.first_byte = 4;
    m.bytes = 8;
  };
  CHECK(refusal_of_changed(What::read, cut) == "a part of a word");
  CHECK(refusal_of_changed(What::write, moved) == "a part of a word");
  auto message = right_message(What::read);
  message.bytes = 12;
  message.first_byte = 4;
  CHECK(reason_against(message, own, 4, 0).empty());
  CHECK(reason_against(message, own, 12, 0).empty());
}

TEST_CASE("the bytes behind a request are those that it writes") {
  for (auto const payload : {0, 47, 49}) {
    CHECK_FALSE(reason_against(right_message(What::write), own, 8, payload).empty());
    CHECK(reason_against(right_message(What::read), own, 8, payload).empty() == (payload == 0));
    CHECK(reason_against(right_message(What::update), own, 8, payload).empty() == (payload == 0));
  }
}

TEST_CASE("an update is of one cell, of numbers of its size, and known") {
  auto const refuses = [](auto const& change) {
    return !refusal_of_changed(What::update, change).empty();
  };
  CHECK(refuses([](RequestMessage& m) { m.hi[1] = 6; }));
  CHECK(refuses([](RequestMessage& m) { m.update.kind = NumberKind::int32; }));
  CHECK(refuses([](RequestMessage& m) { m.update.kind = NumberKind::complex128; }));
  CHECK(refuses([](RequestMessage& m) { m.update.kind = static_cast<NumberKind>(14); }));
  CHECK(refuses([](RequestMessage& m) { m.update.what = static_cast<CellUpdate::What>(2); }));
  CHECK(refuses([](RequestMessage& m) {
    m.update.what = CellUpdate::What::compare_exchange;
    m.update.kind = NumberKind::complex64;
  }));
  CHECK_FALSE(refuses([](RequestMessage& m) {
    m.update.what = CellUpdate::What::compare_exchange;
    m.update.kind = NumberKind::float64;
  }));
  CHECK(refusal_of_changed(static_cast<What>(3), [](RequestMessage&) {}) == "an unknown request");
}

namespace {

// Cells of two devices between guards: what is served touches the cells that it names, and no more.
struct Guarded {
  static constexpr std::uint64_t number = 5;

  test::OneProcess job{2};
  std::shared_ptr<ArrayState> array = job.array({Mesh({{"x", 2}}), P("x", none)}, {10, 3}, number);
  OpenArrays open;

  Guarded() { open.add(array, 0); }
};

// A right request, of which some bytes are changed.
std::vector<std::byte> mutated(std::mt19937_64& random) {
  auto const below = [&](std::int64_t n) {
    return static_cast<std::int64_t>(random() % static_cast<std::uint64_t>(n));
  };
  RequestMessage message;
  message.array = Guarded::number;
  message.what = static_cast<What>(below(16) == 0 ? below(256) : below(3));
  message.device = below(2);
  message.lo = {message.device * 5 + below(5), below(3)};
  message.hi = {message.lo[0] + 1 + below(2), message.lo[1] + 1 + below(2)};
  message.first_byte = below(4) == 0 ? 8 * below(3) : 0;
  message.bytes = 8 * (1 + below(2));
  std::vector<std::byte> bytes(sizeof message);
  std::memcpy(bytes.data(), &message, sizeof message);
  bool const brings = (message.what == What::write) != (below(8) == 0);
  if (brings) bytes.resize(bytes.size() + static_cast<std::size_t>(message.bytes));
  for (auto changes = below(4); changes > 0; --changes)
    bytes[static_cast<std::size_t>(below(std::ssize(bytes)))] =
        static_cast<std::byte>(below(3) == 0 ? below(256) : 255 * below(2));
  if (below(8) == 0) bytes.resize(static_cast<std::size_t>(below(std::ssize(bytes) + 1)));
  return bytes;
}

}  // namespace

TEST_CASE("mutated requests are served or refused by name, and answers are bounded") {
  Guarded guarded;
  std::mt19937_64 random(7);
  int served = 0;
  int refused = 0;
  std::vector<std::byte> answer;
  for (int i = 0; i < 50'000; ++i) {
    auto const request = mutated(random);
    answer.clear();
    guarded.open.serve(request, answer);
    REQUIRE_FALSE(answer.empty());
    bool const is_done = answer[0] == static_cast<std::byte>(AnswerStatus::done);
    REQUIRE(answer.size() <= 1 + static_cast<std::size_t>(most_request_bytes));
    REQUIRE((is_done || answer.size() > 10));
    ++(is_done ? served : refused);
  }
  CHECK(served > 5000);
  CHECK(refused > 5000);
}

TEST_SUITE_END();
