#include "tessera/mesh/partition_spec.hpp"

#include <type_traits>

#include <doctest/doctest.h>

#include "src/base/text.hpp"

using namespace tessera;

TEST_SUITE_BEGIN("mesh/partition_spec");

TEST_CASE("an entry is one axis, several, or none") {
  auto const spec = P("data", none, {"model", "x"});

  CHECK(spec.rank() == 3);
  CHECK(join(spec[0].axes()) == "data");
  CHECK(spec[1].axes().empty());
  CHECK(join(spec[2].axes()) == "model, x");
  CHECK(spec.entries().size() == 3);
}

TEST_CASE("a spec prints as it is written") {
  CHECK(text(P()) == "P()");
  CHECK(text(P("x")) == "P(\"x\")");
  CHECK(text(P(none)) == "P(none)");
  CHECK(text(P({"x"})) == "P(\"x\")");
  CHECK(text(P("data", none, {"model", "x"})) == "P(\"data\", none, (\"model\", \"x\"))");
}

TEST_CASE("a spec with partials prints as it is written, and is another") {
  CHECK(text(P("x").partial("y")) == "P(\"x\").partial(\"y\")");
  CHECK(text(P("x", none).partial({"y", "z"}, ReduceOp::max)) ==
        "P(\"x\", none).partial((\"y\", \"z\"), max)");
  CHECK_FALSE(P("x").partial("y") == P("x"));
  CHECK_FALSE(P("x").partial("y") == P("x").partial("y", ReduceOp::min));
  CHECK(P("x").partial("y", ReduceOp::min).partial(none) == P("x"));
  CHECK(P("x").partial(none, ReduceOp::prod) == P("x"));
}

TEST_CASE("there are specs for up to eight dimensions") {
  CHECK(text(P("a", "b")) == "P(\"a\", \"b\")");
  CHECK(text(P("a", "b", "c")) == "P(\"a\", \"b\", \"c\")");
  CHECK(text(P(none, "b", "c", {"d", "e"})) == "P(none, \"b\", \"c\", (\"d\", \"e\"))");
  CHECK(text(P("a", none, none, none, "e")) == "P(\"a\", none, none, none, \"e\")");
  CHECK(text(P("a", none, none, none, none, "f")) == "P(\"a\", none, none, none, none, \"f\")");
  CHECK(text(P("a", "b", "c", "d", "e", "f", "g")) ==
        "P(\"a\", \"b\", \"c\", \"d\", \"e\", \"f\", \"g\")");
  CHECK(text(P("a", "b", "c", "d", "e", "f", "g", "h")) ==
        "P(\"a\", \"b\", \"c\", \"d\", \"e\", \"f\", \"g\", \"h\")");
}

TEST_CASE("a spec can be made from lists at run time") {
  std::vector<std::string> const axes{"y", "x"};
  std::string const name = "z";

  CHECK(PartitionSpec({SpecEntry(axes), SpecEntry(name)}) == P({"y", "x"}, "z"));
  CHECK(PartitionSpec() == P());
}

TEST_CASE("specs are equal entry by entry, and the order of axes matters") {
  CHECK(P("x", none) == P("x", none));
  CHECK(P("x") == P({"x"}));
  CHECK_FALSE(P("x", none) == P("x"));
  CHECK_FALSE(P({"x", "y"}) == P({"y", "x"}));
  CHECK_FALSE(P("x") == P(none));
}

TEST_CASE("a number is no entry, not even zero") {
  CHECK_FALSE(std::is_convertible_v<int, SpecEntry>);
  CHECK_FALSE(std::is_constructible_v<SpecEntry, std::nullptr_t>);
}

TEST_SUITE_END();
