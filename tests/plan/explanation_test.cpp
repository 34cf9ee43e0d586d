#include "tessera/plan/explanation.hpp"

#include <doctest/doctest.h>

#include "src/base/text.hpp"

using namespace tessera;

TEST_SUITE_BEGIN("plan/explanation");

namespace {

Explanation halo_statement() {
  Explanation statement;
  statement.location = SourceLocation("examples/heat_1d.cpp", 31);
  statement.kind = "assignment to array 1 (10,)";
  statement.writes = "second buffer, then swap";
  statement.messages = 2;
  statement.bytes = 16;
  statement.reads = {{Communication::Cause::halo, "array 1 (10,)", "reads (i0 + 1)", 2, 16, "shm"},
                     {Communication::Cause::nothing, "array 2 (10,)", "", 0, 0, ""}};
  return statement;
}

Explanation gather_statement() {
  Explanation statement;
  statement.kind = "sum";
  statement.messages = 1;
  statement.bytes = 65'536;
  statement.reads = {
      {Communication::Cause::gather, "array 3 (4, 4)", "", 8192, 65'536, "local, mpi"}};
  return statement;
}

}  // namespace

TEST_CASE("a statement is explained in one line, and each array it reads in one more") {
  CHECK(text(halo_statement()) ==
        "heat_1d.cpp:31: assignment to array 1 (10,), written second buffer, then swap; "
        "sends 2 messages, 16 B\n"
        "  array 1 (10,): halo, 2 cells, 16 B over shm; reads (i0 + 1)\n"
        "  array 2 (10,): nothing to send\n");
}

TEST_CASE("a statement that writes no array and has no place says so") {
  CHECK(text(gather_statement()) ==
        "(unknown place): sum; sends 1 message, 64.0 KiB\n"
        "  array 3 (4, 4): gather, 8192 cells, 64.0 KiB over local, mpi\n");
}

TEST_CASE("an explanation knows the causes of its communication") {
  auto const statement = halo_statement();

  CHECK(statement.has(Communication::Cause::halo));
  CHECK(statement.has(Communication::Cause::nothing));
  CHECK(!statement.has(Communication::Cause::gather));
  CHECK(!Explanation{}.has(Communication::Cause::nothing));
}

TEST_CASE("explanations add up over their statements") {
  Explanations const both{{halo_statement(), gather_statement()}};

  CHECK(both.messages() == 3);
  CHECK(both.bytes() == 65'552);
  CHECK(both.has(Communication::Cause::gather));
  CHECK(text(both) == text(halo_statement()) + text(gather_statement()));

  CHECK(Explanations{}.messages() == 0);
  CHECK(Explanations{}.bytes() == 0);
  CHECK(!Explanations{}.has(Communication::Cause::halo));
  CHECK(text(Explanations{}).empty());
}

TEST_SUITE_END();
