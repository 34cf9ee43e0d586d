#include "src/transport/protocol/message.hpp"

#include <string>

#include <doctest/doctest.h>

#include "src/base/text.hpp"

using namespace tessera;

TEST_SUITE_BEGIN("transport/protocol/message");

TEST_CASE("a header tells the statement and the end of its file's name") {
  MessageHeader header{};
  StatementTag const tag{7, 70, SourceLocation("/home/me/heat_1d.cpp", 41)};

  header.write(tag, 256);
  header.write_file(tag.location);

  CHECK(header.size_bytes == 256);
  CHECK(header.describe() == "statement 7 (heat_1d.cpp:41)");
}

TEST_CASE("of a long name of a file the end is kept") {
  MessageHeader header{};
  StatementTag const tag{7, 70,
                         SourceLocation("a_file_whose_name_has_far_more_letters_than_fit.cpp", 1)};

  header.write(tag, 0);
  header.write_file(tag.location);

  CHECK(header.describe() == "statement 7 (e_has_far_more_letters_than_fit.cpp:1)");
}

TEST_CASE("a header without a place is told by its number alone") {
  MessageHeader header{};
  header.write({8, 80, {}}, 0);

  CHECK(header.describe() == "statement 8");
}

TEST_CASE("a message is of the statement with its number and hash, wherever that stands") {
  MessageHeader header{};
  header.write({7, 70, SourceLocation("a.cpp", 1)}, 0);

  CHECK(header.is_of({7, 70, SourceLocation("b.cpp", 2)}));
  CHECK_FALSE(header.is_of({7, 71, SourceLocation("a.cpp", 1)}));
  CHECK_FALSE(header.is_of({8, 70, SourceLocation("a.cpp", 1)}));
}

TEST_CASE("who runs different programs is told what every process must do") {
  CHECK(std::string(different_programs("process 1 stops:").what()) ==
        "process 1 stops: the processes run different programs; every process must run the same "
        "statements in the same order");
  CHECK(std::string(different_programs("no wait can end, so", "they differ").what()) ==
        "no wait can end, so the processes run different programs (they differ); every process "
        "must run the same statements in the same order");
}

TEST_SUITE_END();
