#include "src/execution/one_sided/cell_requests.hpp"

#include <cstring>
#include <string>
#include <string_view>

#include <doctest/doctest.h>

#include "support/one_process.hpp"

using namespace tessera;

TEST_SUITE_BEGIN("execution/cell_requests");

namespace {

constexpr std::uint64_t number = 5;
constexpr std::uint64_t epoch = 3;

// An open array of 10 cells on 2 devices, cell i holding 10 i.
struct Opened {
  Opened() {
    std::int64_t i = 0;
    for (auto& shard : array->shards())
      for (std::int64_t k = 0; k < shard.own.cells(); ++k, ++i) {
        auto const value = 10 * i;
        std::memcpy(shard.cells() + 8 * k, &value, sizeof value);
      }
    open.add(array, epoch);
  }

  test::OneProcess job{2};
  std::shared_ptr<ArrayState> array = job.array({Mesh({{"x", 2}}), P("x")}, {10}, number);
  OpenArrays open;
};

RequestMessage message_for(std::int64_t device, std::int64_t first, std::int64_t end) {
  RequestMessage message;
  message.array = number;
  message.epoch = epoch;
  message.device = device;
  message.lo[0] = first;
  message.hi[0] = end;
  message.bytes = 8 * (end - first);
  return message;
}

struct Answer {
  AnswerStatus status;
  std::vector<std::int64_t> cells;
  std::string words;
};

Answer ask(OpenArrays& open, RequestMessage const& message,
           std::vector<std::int64_t> const& cells = {}) {
  std::vector<std::byte> bytes(sizeof message + 8 * cells.size());
  std::memcpy(bytes.data(), &message, sizeof message);
  if (!cells.empty()) std::memcpy(bytes.data() + sizeof message, cells.data(), 8 * cells.size());
  std::vector<std::byte> answer;
  open.serve(bytes, answer);
  Answer result{AnswerStatus{std::to_integer<std::uint8_t>(answer.at(0))}, {}, {}};
  if (result.status == AnswerStatus::done) {
    result.cells.resize((answer.size() - 1) / 8);
    if (!result.cells.empty())
      std::memcpy(result.cells.data(), answer.data() + 1, answer.size() - 1);
  } else {
    result.words.assign(reinterpret_cast<char const*>(answer.data()) + 1, answer.size() - 1);
  }
  return result;
}

bool refuses(Answer const& answer, std::string_view words) {
  return answer.status == AnswerStatus::refused && answer.words.find(words) != std::string::npos;
}

}  // namespace

TEST_CASE("cells are read by their indices in the whole array") {
  Opened opened;
  auto const one = ask(opened.open, message_for(1, 7, 8));
  auto const some = ask(opened.open, message_for(1, 5, 9));
  CHECK(one.cells == std::vector<std::int64_t>{70});
  CHECK(some.cells == std::vector<std::int64_t>{50, 60, 70, 80});
}

TEST_CASE("a part of the bytes is read where a call does not hold all") {
  Opened opened;
  auto message = message_for(0, 0, 5);
  message.first_byte = 16;
  message.bytes = 16;
  CHECK(ask(opened.open, message).cells == std::vector<std::int64_t>{20, 30});
}

TEST_CASE("what is written is read afterwards, and its neighbours stay") {
  Opened opened;
  auto message = message_for(0, 1, 3);
  message.what = RequestMessage::What::write;
  CHECK(ask(opened.open, message, {-1, -2}).status == AnswerStatus::done);
  CHECK(ask(opened.open, message_for(0, 0, 5)).cells ==
        std::vector<std::int64_t>{0, -1, -2, 30, 40});
}

TEST_CASE("an update answers with what was there") {
  Opened opened;
  auto message = message_for(0, 4, 5);
  message.what = RequestMessage::What::update;
  message.update.operand[0] = std::byte{2};
  CHECK(ask(opened.open, message).cells == std::vector<std::int64_t>{40});
  CHECK(ask(opened.open, message_for(0, 4, 5)).cells == std::vector<std::int64_t>{42});
}

TEST_CASE("a request of an earlier epoch of the array is refused") {
  Opened opened;
  auto const earlier = message_for(1, 7, 8);
  opened.open.remove(*opened.array);
  opened.open.add(opened.array, epoch + 1);

  CHECK(refuses(ask(opened.open, earlier), "has no open epoch"));
}

TEST_CASE("a request that nobody could serve is refused with the reason") {
  Opened opened;
  CHECK(refuses(ask(opened.open, message_for(0, 4, 6)),
                "device 0 was asked for cells of array 5: no such cells"));
  auto other_box = message_for(0, 0, 1);
  other_box.box = 1;
  CHECK(refuses(ask(opened.open, other_box), "no such cells"));
  std::vector<std::byte> answer;
  opened.open.serve(std::vector<std::byte>(3), answer);
  CHECK(answer.at(0) == static_cast<std::byte>(AnswerStatus::refused));

  opened.open.remove(*opened.array);
  CHECK(refuses(ask(opened.open, message_for(0, 0, 1)), "array 5 has no open epoch"));
}

TEST_SUITE_END();
