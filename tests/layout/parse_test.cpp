#include "tessera/layout/parse.hpp"

#include <sstream>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/base/error.hpp"

#include "src/base/text.hpp"

#include "support/layouts.hpp"
#include "support/odd_locale.hpp"
#include "support/seeds.hpp"

using namespace tessera;

TEST_SUITE_BEGIN("layout/parse");

TEST_CASE("what is printed is read back") {
  test::Random random(test::seed_of_all(11));
  for (int round = 0; round < 2000; ++round) {
    Shape shape;
    for (auto d = random.between(1, 4); d > 0; --d) shape.push_back(random.between(0, 12));
    auto const sharding = test::random_sharding(random, 8, shape);
    auto const printed = text(sharding);
    CAPTURE(printed);

    REQUIRE(parse_sharding(printed) == sharding);
    REQUIRE(parse_mesh(text(sharding.mesh())) == sharding.mesh());
    REQUIRE(parse_spec(text(sharding.spec())) == sharding.spec());
    for (std::size_t d = 0; d < shape.size(); ++d)
      REQUIRE(parse_cut(text(sharding.cut(d))) == sharding.cut(d));
  }
}

TEST_CASE("a name of an axis is read back, or refused when the mesh is made") {
  std::vector<std::string> names{"x",
                                 "two words",
                                 "größe",
                                 "[0]",
                                 "devices",
                                 "devices 2",
                                 "none",
                                 std::string(256, 'x'),
                                 std::string(257, 'x'),
                                 "\xff"};
  for (int letter = 0; letter < 128; ++letter) {
    auto const one = static_cast<char>(letter);
    names.insert(names.end(), {{one}, {one, 'x'}, {'x', one}, {'x', one, 'x'}});
  }
  int refused = 0;
  for (auto const& name : names) {
    CAPTURE(name);
    try {
      Mesh const mesh({{"first", 2}, {name, 3}});
      NamedSharding const sharding(mesh, P("first", name));
      REQUIRE(parse_mesh(text(mesh)) == mesh);
      REQUIRE(parse_sharding(text(sharding)) == sharding);
    } catch (ShardingError const& error) {
      CHECK(std::string(error.what()).find("none of \" = , ( ) or control characters") !=
            std::string::npos);
      ++refused;
    }
  }
  // Of each letter four names: of 33 control characters and of " = , ( ) all, of the blank three.
  CHECK(refused == 4 * (33 + 5) + 3 + 3);
}

TEST_CASE("segments are read with their rules") {
  CHECK(parse_cut("segments(4, 8 unit(2), 3 explicit_sizes(1, 2) )") ==
        Cut::segments({4, {8, Cut::unit(2)}, {3, Cut::explicit_sizes({1, 2})}}));
  CHECK(parse_cut("cyclic( 5 )") == Cut::cyclic(5));
}

TEST_CASE("spaces do not count") {
  Mesh const mesh({{"x", 2}, {"y", 4}});

  CHECK(parse_sharding(" NamedSharding ( Mesh(x = 2,y=4),P( \"x\",( \"y\" ) ) , unit( 3 ))") ==
        NamedSharding(mesh, P("x", "y"), Cut::unit(3)));
  CHECK(parse_spec("P()") == P());
  CHECK(parse_spec("P(\"x\") .partial(\"y\")") == P("x").partial("y"));
  for (auto const& spec : {P("x").partial("y"), P(none).partial({"y", "z"}, ReduceOp::prod)})
    CHECK(parse_spec(text(spec)) == spec);
  CHECK(parse_mesh("Mesh(x=3, devices 5 to 7)") == Mesh({5, 6, 7}, {3}, {"x"}));
  CHECK(parse_mesh("Mesh(devices=3)") == Mesh({{"devices", 3}}));
}

TEST_CASE("what cannot be read is refused with the place and what belongs there") {
  CHECK_THROWS_WITH_AS((void)parse_spec("P(x)"),
                       "cannot read 'P(x)': expected '\"' at character 2, before 'x)'", UsageError);
  CHECK_THROWS_WITH_AS((void)parse_spec("P(\"x\""),
                       "cannot read 'P(\"x\"': expected ')' at character 5, where it ends",
                       UsageError);
  CHECK_THROWS_WITH_AS((void)parse_spec("P(\"x\").partial(\"y\", mean)"),
                       "cannot read 'P(\"x\").partial(\"y\", mean)': expected sum, prod, min, max "
                       "or avg at character 20, before 'mean)'",
                       UsageError);
  CHECK_THROWS_WITH_AS((void)parse_cut("round"),
                       "cannot read 'round': expected balanced, ceil, strict, unit, "
                       "explicit_sizes, segments or cyclic at character 0, before 'round'",
                       UsageError);
  CHECK_THROWS_AS((void)parse_cut("unit(x)"), UsageError);
  CHECK_THROWS_AS((void)parse_cut("unit(0)"), ShardingError);
  CHECK_THROWS_AS((void)parse_cut("cyclic(0)"), ShardingError);
  CHECK_THROWS_AS((void)parse_cut("cyclic()"), UsageError);
  CHECK_THROWS_AS((void)parse_cut("segments(4 8)"), UsageError);
  CHECK_THROWS_AS((void)parse_cut("segments()"), ShardingError);
  CHECK_THROWS_AS((void)parse_cut("explicit_sizes(1, 2, ...)"), UsageError);
  CHECK_THROWS_AS((void)parse_mesh("Mesh(x=2) and more"), UsageError);
  CHECK_THROWS_AS((void)parse_mesh("Mesh()"), UsageError);
  CHECK_THROWS_AS((void)parse_mesh("Mesh(x=2, devices 0 to 1000000000000)"), UsageError);
  CHECK_THROWS_AS((void)parse_mesh("Mesh(x=0)"), ShardingError);
  CHECK_THROWS_AS((void)parse_sharding("NamedSharding(Mesh(x=2), P(\"z\"))"), ShardingError);
}

TEST_CASE("what is printed is read back whatever locale the program, or the stream, has") {
  NamedSharding const sharding(Mesh({{"x", 1024}, {"y", 4096}}), P("x", "y"),
                               {Cut::unit(1'000'000), Cut::segments({12345, {8000, Cut::ceil()}})});
  std::vector<std::int64_t> const devices{12345, 1000};
  auto const printed = text(sharding);

  test::OddLocale const odd;
  std::ostringstream of_users;
  of_users << sharding << Mesh(devices, {2}, {"x"}) << Mesh({5000, 5001}, {2}, {"x"});

  CHECK(text(sharding) == printed);
  CHECK(parse_sharding(text(sharding)) == sharding);
  CHECK(of_users.str() ==
        printed + "Mesh(x=2, devices 12345, 1000)" + "Mesh(x=2, devices 5000 to 5001)");
}

TEST_CASE("rules that are nested too deeply are refused") {
  auto const nested = [](int depth) {
    std::string whole;
    for (int k = 0; k < depth; ++k) whole += "segments(4 ";
    return whole;
  };

  CHECK_THROWS_WITH_AS((void)parse_cut(nested(200'000)),
                       doctest::Contains("expected no more than 8 rules one inside the other at "
                                         "character 88"),
                       UsageError);
  CHECK_THROWS_AS((void)parse_sharding("NamedSharding(Mesh(x=2), P(\"x\"), " + nested(200'000)),
                  UsageError);
  CHECK_THROWS_AS((void)parse_cut("segments(4 segments(2, 2))"), ShardingError);
  CHECK(parse_cut("segments(4 ceil, 4 ceil, 4 ceil, 4 ceil, 4 ceil, 4 ceil, 4 ceil, 4, 4, 4)") ==
        Cut::segments({{4, Cut::ceil()},
                       {4, Cut::ceil()},
                       {4, Cut::ceil()},
                       {4, Cut::ceil()},
                       {4, Cut::ceil()},
                       {4, Cut::ceil()},
                       {4, Cut::ceil()},
                       4,
                       4,
                       4}));
}

TEST_CASE("of a text that cannot be read, a message shows the beginning, printable") {
  auto const message = [](auto const& parse, std::string const& whole) {
    try {
      (void)parse(whole);
    } catch (Error const& error) {
      return std::string(error.what());
    }
    return std::string();
  };
  std::string const much(2'000'000, 'x');
  std::string const axes = "Mesh(" + std::string(200, 'a') + "=2, " + std::string(200, 'a') + "=2)";
  std::string entries = "P(none";
  for (int k = 0; k < 100'000; ++k) entries += ", none";

  for (auto const& words :
       {message(parse_cut, much), message(parse_mesh, "Mesh(" + much + "=2)"),
        message(parse_mesh, axes), message(parse_spec, "P(\"" + much + "\")"),
        message(parse_sharding, "NamedSharding(Mesh(x=2), " + entries + "))")}) {
    CAPTURE(words);
    CHECK(words.size() > 10);
    CHECK(words.size() < 400);
  }
  CHECK(
      message(parse_cut, "\x1b[2J") ==
      "cannot read '\\x1b[2J': expected balanced, ceil, strict, unit, explicit_sizes, segments or "
      "cyclic at character 0, before '\\x1b[2J'");
  CHECK(message(parse_mesh, "Mesh(\x1b=2)") ==
        "cannot read 'Mesh(\\x1b=2)': expected a name without control characters at character 5, "
        "before '\\x1b=2)'");
}

TEST_SUITE_END();
