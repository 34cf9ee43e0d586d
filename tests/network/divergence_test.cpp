#include <string>
#include <string_view>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/base/error.hpp"

#include "src/base/text.hpp"

#include "contract.hpp"

using namespace tessera;
using namespace tessera::test;

TEST_SUITE_BEGIN("network/divergence");

namespace {

NetworkOptions comparing() {
  NetworkOptions options;
  options.compares_statements = true;
  return options;
}

/// What each process throws when it runs the statements of its list of hashes.
std::vector<std::string> words_of_all(std::vector<std::vector<std::uint64_t>> const& hashes) {
  auto const body = [&](Device const& device) {
    auto const& own = hashes[static_cast<std::size_t>(device.self.value())];
    std::uint64_t number = 0;
    for (auto const hash : own)
      device.network.agree(statement(++number, "a.cpp", static_cast<std::uint32_t>(hash), hash),
                           [hash] { return text(", kind ", hash); });
    device.network.agree_on_end({number + 1, 99, {}}, [number] { return text(" after ", number); });
  };
  std::vector<std::string> words;
  for (auto const& failure :
       try_on_processes(std::vector<std::int64_t>(hashes.size(), 1), body, comparing())) {
    try {
      if (failure) std::rethrow_exception(failure);
      words.emplace_back("nothing");
    } catch (Mismatch const& mismatch) {
      words.emplace_back(mismatch.what());
    }
  }
  return words;
}

/// Every process says so; one that is released by another quotes it.
void check_all_say(std::vector<std::string> const& words, std::string_view part) {
  for (auto const& text : words) {
    CAPTURE(text);
    CHECK(text.find(part) != std::string::npos);
    CHECK(text.find("different programs") != std::string::npos);
  }
}

/// `count` statements that are the same everywhere.
std::vector<std::uint64_t> many(std::size_t count) {
  return std::vector<std::uint64_t>(count, 5);
}

}  // namespace

TEST_CASE("processes that run the same statements agree") {
  for (std::size_t const count : {1U, 2U, 3U, 4U, 5U, 8U}) {
    CAPTURE(count);
    std::vector<std::vector<std::uint64_t>> const same(count, {5, 6, 7, 5, 5, 8});
    CHECK(words_of_all(same) == std::vector<std::string>(count, "nothing"));
  }
}

TEST_CASE("processes that run very many statements agree, however far ahead they could be") {
  auto const count = 10 * 256 + 3;
  CHECK(words_of_all({many(count), many(count), many(count)}) ==
        std::vector<std::string>(3, "nothing"));
}

TEST_CASE("one process at another statement is told to every process, with both statements") {
  check_all_say(words_of_all({{5, 6}, {5, 7}}),
                "process 0 is at statement 2 (a.cpp:6), kind 6, but process 1 is at statement 2 "
                "(a.cpp:7), kind 7: ");
  check_all_say(words_of_all({{5, 5, 5}, {9, 5, 5}, {5, 5, 5}}),
                "process 0 is at statement 1 (a.cpp:5), kind 5, but process 1 is at statement 1 "
                "(a.cpp:9), kind 9: ");
  check_all_say(words_of_all({{5}, {5}, {5}, {5}, {5}, {5}, {5}, {9}}),
                "process 6 is at statement 1 (a.cpp:5), kind 5, but process 7 is at statement 1 "
                "(a.cpp:9), kind 9: ");
}

TEST_CASE("a difference long ago is the one that is told") {
  auto other = many(700);
  other[300] = 6;
  check_all_say(
      words_of_all({many(700), other}),
      "process 0 is at statement 301 (a.cpp:5), kind 5, but process 1 is at statement 301 "
      "(a.cpp:6), kind 6: ");
}

TEST_CASE("of more than two different statements, two are named") {
  check_all_say(words_of_all({{5}, {6}, {7}, {8}}), "is at statement 1 (a.cpp:");
}

TEST_CASE("a statement more or less is told, with the end of the program") {
  check_all_say(words_of_all({{5, 5}, {5, 5, 6}, {5, 5}}),
                "process 0 is at its end after 2, but process 1 is at statement 3 (a.cpp:6), kind "
                "6: ");
  check_all_say(words_of_all({{5, 5, 5}, {5, 5, 5}, {5, 5, 5}, {5, 5}}),
                "process 2 is at statement 3 (a.cpp:5), kind 5, but process 3 is at its end after "
                "2: ");
  // Far more than one process may be ahead of another.
  check_all_say(words_of_all({many(1000), many(3)}),
                "process 0 is at statement 4 (a.cpp:5), kind 5, but process 1 is at its end after "
                "3: ");
  check_all_say(words_of_all({many(3), many(1000)}),
                "process 0 is at its end after 3, but process 1 is at statement 4 (a.cpp:5), kind "
                "5: ");
}

TEST_CASE("statements that read alike but differ are said to") {
  auto const body = [](Device const& device) {
    device.network.agree(statement(1, "a.cpp", 3, device.self == DeviceId(1) ? 8 : 9),
                         [] { return " alike"; });
    device.network.agree_on_end({2, 99, {}}, [] { return ""; });
  };
  for (auto const& failure : try_on_processes({1, 1}, body, comparing())) {
    REQUIRE(failure);
    try {
      std::rethrow_exception(failure);
    } catch (Mismatch const& mismatch) {
      CHECK(std::string(mismatch.what()).find("the two differ in the expression") !=
            std::string::npos);
    }
  }
}

TEST_CASE("long words are cut, not lost") {
  auto const body = [](Device const& device) {
    auto const tag = statement(1, "a.cpp", 3, device.self == DeviceId(1) ? 8 : 9);
    device.network.agree(
        tag, [device] { return text(" device ", device.self, std::string(5000, 'x')); });
    device.network.agree_on_end({2, 99, {}}, [] { return ""; });
  };
  for (auto const& failure : try_on_processes({1, 1, 1}, body, comparing())) {
    REQUIRE(failure);
    CHECK_THROWS_AS(std::rethrow_exception(failure), Mismatch);
  }
}

TEST_CASE("a message of another statement is told in full") {
  auto const body = [](Device const& device) {
    bool const is_other = device.self == DeviceId(1);
    auto const tag = statement(1, "a.cpp", is_other ? 8 : 9, is_other ? 8 : 9);
    device.network.agree(tag, [=] { return is_other ? ", one shape" : ", another shape"; });
    // Each sees the other's message before it looks at what the other says.
    put_number(device.to(device.right()), device.waiter, tag, 5);
    (void)take_number(device.from(device.left()), device.waiter, tag);
  };
  std::vector<std::string> words;
  for (auto const& failure : try_on_processes({1, 1}, body, comparing())) {
    REQUIRE(failure);
    try {
      std::rethrow_exception(failure);
    } catch (Mismatch const& mismatch) {
      words.emplace_back(mismatch.what());
    }
  }
  check_all_say(words,
                "statement 1 (a.cpp:9), another shape, but process 1 is at statement 1 "
                "(a.cpp:8), one shape: ");
}

TEST_CASE("it is enough that one process asks for comparisons") {
  ThreadJob threads_job(2);
  std::vector<int> thrown(2, 0);
  {
    std::vector<std::jthread> threads;
    for (std::size_t i = 0; i < 2; ++i)
      threads.emplace_back([&, i] {
        auto const bootstrap = threads_job.join(static_cast<std::int64_t>(i));
        Job const job(*bootstrap, 1);
        Network network(*bootstrap, job, i == 1 ? comparing() : NetworkOptions());
        CHECK(network.compares_statements());
        try {
          network.agree(statement(1, "a.cpp", 3, i + 1), [] { return " a statement"; });
          network.agree_on_end({2, 99, {}}, [] { return ""; });
        } catch (Mismatch const&) {
          thrown[i] = 1;
          network.announce_failure(std::current_exception());
        }
        bootstrap->barrier();
      });
  }

  CHECK(thrown == std::vector<int>{1, 1});
}

TEST_CASE("nobody compares where nobody asks") {
  for (auto const& failure : try_on_processes(
           {1, 1},
           [](Device const& device) {
             CHECK_FALSE(device.network.compares_statements());
             auto const hash = static_cast<std::uint64_t>(device.self.value() + 1);
             device.network.agree(statement(1, "a.cpp", 3, hash), [] { return " a statement"; });
             device.network.agree_on_end({2, 99, {}}, [] { return ""; });
           },
           {}))
    CHECK_FALSE(failure);
}

TEST_SUITE_END();
