#include "tessera/layout/visualize.hpp"

#include <cstdio>
#include <cstdlib>
#include <optional>
#include <string>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <unistd.h>

#include "tessera/base/error.hpp"

#include "src/base/environment.hpp"

#include "support/odd_locale.hpp"

using namespace tessera;

TEST_SUITE_BEGIN("layout/visualize");

namespace {

// The picture without its first line, which is the layout itself.
std::string picture(NamedSharding const& sharding, Shape const& shape) {
  auto const whole_text = visualize(Layout(sharding, shape), Color::never);
  return '\n' + whole_text.substr(whole_text.find('\n') + 1);
}

Mesh row(std::int64_t devices) {
  return Mesh({{"x", devices}});
}

}  // namespace

TEST_CASE("one dimension is a bar of cells with devices and bounds") {
  CHECK(visualize(Layout(NamedSharding(row(4), P("x")), {10}), Color::never) ==
        R"(Layout((10,), NamedSharding(Mesh(x=4), P("x")))
0     3     6   8   10
|  0  |  1  | 2 | 3 |
)");
}

TEST_CASE("devices without cells are counted below the bar") {
  CHECK(picture(NamedSharding(row(8), P("x")), {3}) == R"(
0   1   2   3
| 0 | 1 | 2 |
5 devices hold no cells
)");
  CHECK(picture(NamedSharding(row(3), P("x"), Cut::explicit_sizes({2, 0, 1})), {3}) == R"(
0   2   3
| 0 | 2 |
1 device holds no cells
)");
  CHECK(picture(NamedSharding(row(3), P("x")), {0}) == R"(
3 devices hold no cells
)");
}

TEST_CASE("a device shows in each of its boxes") {
  CHECK(picture(NamedSharding(row(2), P("x"), Cut::segments({4, 8})), {12}) == R"(
0   2   4       8       12
| 0 | 1 |   0   |   1   |
)");
  CHECK(picture(NamedSharding(row(2), P("x"), Cut::cyclic(3)), {10}) == R"(
0     3     6     9   10
|  0  |  1  |  0  | 1 |
)");
  CHECK(picture(NamedSharding(row(4), P("x"), Cut::cyclic(2)), {3}) == R"(
0   2   3
| 0 | 1 |
2 devices hold no cells
)");
  CHECK(picture(NamedSharding(row(2), P(none, none, "x"), Cut::cyclic(1)), {2, 2, 3}) == R"(
device 0: [0:2, 0:2, 0:1], [0:2, 0:2, 2:3]
device 1: [0:2, 0:2, 1:2]
)");
}

TEST_CASE("copies are written together, many of them in short") {
  CHECK(picture(NamedSharding(Mesh({{"x", 2}, {"y", 2}}), P("y")), {4}) == R"(
0     2     4
| 0,2 | 1,3 |
)");
  CHECK(picture(NamedSharding(row(6), P(none)), {4}) == R"(
0             4
| 0,1,2,3,... |
)");
}

TEST_CASE("who holds an addend of cells is written as who holds a copy") {
  CHECK(visualize(Layout(NamedSharding(row(3), P(none).partial("x")), {4}), Color::never) ==
        R"(Layout((4,), NamedSharding(Mesh(x=3), P(none).partial("x")))
0       4
| 0,1,2 |
)");
  CHECK(picture(NamedSharding(Mesh({{"x", 2}, {"y", 2}}), P("y", none).partial("x")), {4, 1}) == R"(
      0:1
    +-----+
0:2 | 0,2 |
    +-----+
2:4 | 1,3 |
    +-----+
)");
}

TEST_CASE("two dimensions are a grid of devices with row and column bounds") {
  Mesh const mesh({4, 6, 0, 2, 7, 3, 1, 5}, {4, 2}, {"data", "model"});

  CHECK(picture(NamedSharding(mesh, P("data", "model")), {4, 12}) == R"(
      0:6   6:12
    +-----+------+
0:1 |  4  |  6   |
    +-----+------+
1:2 |  0  |  2   |
    +-----+------+
2:3 |  7  |  3   |
    +-----+------+
3:4 |  1  |  5   |
    +-----+------+
)");
}

TEST_CASE("rows and columns without cells are left out of the grid") {
  CHECK(picture(NamedSharding(Mesh({{"x", 2}, {"y", 4}}), P(none, "y"), Cut::ceil()), {4, 5}) == R"(
      0:2   2:4   4:5
    +-----+-----+-----+
0:4 | 0,4 | 1,5 | 2,6 |
    +-----+-----+-----+
2 devices hold no cells
)");
  CHECK(picture(NamedSharding(Mesh({{"x", 2}, {"y", 2}}), P("x", "y")), {4, 0}) == R"(
4 devices hold no cells
)");
}

TEST_CASE("any other number of dimensions is a line per device") {
  CHECK(picture(NamedSharding(Mesh({{"x", 2}, {"y", 2}}), P("x", "y", none)), {2, 1, 3}) == R"(
device 0: [0:1, 0:1, 0:3]
device 1: no cells
device 2: [1:2, 0:1, 0:3]
device 3: no cells
)");
  CHECK(picture(NamedSharding(row(2), P()), {}) == R"(
device 0: []
device 1: []
)");
}

TEST_CASE("of many pieces the first and the last are shown, whatever their number") {
  auto const bar = picture(NamedSharding(row(1'000'000), P("x")), {2'000'000});
  CHECK(bar.size() < 300);
  CHECK(bar.find("| 7 | ... | 999992 |") != std::string::npos);
  CHECK(bar.find("| 8 |") == std::string::npos);

  Mesh const square({{"x", 1000}, {"y", 1000}});
  auto const grid = picture(NamedSharding(square, P("x", "y")), {3000, 3000});
  CHECK(grid.size() < 4500);
  CHECK(grid.find(" 6:9 |  2000  |  2001  |  2002  |  2003  | ... |   2996    |") !=
        std::string::npos);

  auto const list = picture(NamedSharding(square, P("x", "y", none)), {3000, 3000, 2});
  CHECK(list.find("device 31: [0:3, 93:96, 0:2]\n... and 999968 devices more\n") !=
        std::string::npos);
}

TEST_CASE("a long bar is scaled down to its text and a line") {
  auto const bar = picture(NamedSharding(row(2), P("x")), {1'000'000'000'000});

  CHECK(bar == R"(
0                               500000000000                    1000000000000
|               0               |               1               |
)");
}

namespace {

// The text with its colours as <number:...>.
std::string with_marks(std::string text) {
  for (std::string const begin = "\033[30;48;5;"; text.find(begin) != std::string::npos;) {
    auto const at = text.find(begin);
    text.replace(at, begin.size(), "<");
    text.replace(text.find('m', at), 1, ":");
    auto const end = text.find("\033[0m", at);
    text.replace(end, 4, ">");
  }
  return text;
}

std::string colored_picture(NamedSharding const& sharding, Shape const& shape,
                            Color color = Color::always) {
  auto const whole_text = with_marks(visualize(Layout(sharding, shape), color));
  return '\n' + whole_text.substr(whole_text.find('\n') + 1);
}

// Sets or unsets a variable as long as it lives.
class Variable {
 public:
  Variable(char const* name, char const* value) : name_(name), before_(environment(name)) {
    set(value);
  }
  ~Variable() { set(before_ ? before_->c_str() : nullptr); }
  Variable(Variable const&) = delete;
  Variable& operator=(Variable const&) = delete;

 private:
  void set(char const* value) const {
    if (value == nullptr)
      unsetenv(name_);
    else
      setenv(name_, value, 1);
  }
  char const* name_;
  std::optional<std::string> before_;
};

// The standard output is a terminal as long as it lives.
class Terminal {
 public:
  Terminal() : before_(dup(STDOUT_FILENO)), own_(posix_openpt(O_RDWR | O_NOCTTY)) {
    std::fflush(stdout);
    REQUIRE(own_ >= 0);
    REQUIRE(grantpt(own_) == 0);
    REQUIRE(unlockpt(own_) == 0);
    other_ = open(ptsname(own_), O_RDWR | O_NOCTTY);
    REQUIRE(other_ >= 0);
    dup2(other_, STDOUT_FILENO);
  }
  ~Terminal() {
    dup2(before_, STDOUT_FILENO);
    for (int const file : {before_, own_, other_}) close(file);
  }
  Terminal(Terminal const&) = delete;
  Terminal& operator=(Terminal const&) = delete;

 private:
  int before_;
  int own_;
  int other_ = -1;
};

bool is_colored() {
  return visualize(Layout(NamedSharding(row(2), P("x")), {4})).find('\033') != std::string::npos;
}

}  // namespace

TEST_CASE("with colours each piece has that of its first device, and lies where it did") {
  CHECK(colored_picture(NamedSharding(row(3), P("x")), {5}) == R"(
0   2   4   5
|<153: 0 >|<217: 1 >|<157: 2 >|
)");
  CHECK(colored_picture(NamedSharding(Mesh({{"x", 2}, {"y", 2}}), P("y", "x")), {2, 3}) == R"(
      0:2   2:3
    +-----+-----+
0:1 |<153:  0  >|<157:  2  >|
    +-----+-----+
1:2 |<217:  1  >|<222:  3  >|
    +-----+-----+
)");
  CHECK(colored_picture(NamedSharding(row(2), P("x", none, none)), {1, 1, 3}) == R"(
<153:device 0>: [0:1, 0:1, 0:3]
<217:device 1>: no cells
)");
}

TEST_CASE("devices beyond the last colour begin again with the first") {
  auto const bar = colored_picture(NamedSharding(row(13), P("x")), {13});

  CHECK(bar.find("<153: 0 >") != std::string::npos);
  CHECK(bar.find("<153: 12 >") != std::string::npos);
}

TEST_CASE("what is left out has no colour") {
  auto const bar = colored_picture(NamedSharding(row(40), P("x")), {40});

  CHECK(bar.find("| ... |") != std::string::npos);
}

TEST_CASE("TESSERA_COLOR decides, then NO_COLOR") {
  {
    Variable const asked("TESSERA_COLOR", "always");
    CHECK(is_colored());
    Variable const unwanted("NO_COLOR", "1");
    CHECK(is_colored());
  }
  Variable const asked("TESSERA_COLOR", "never");
  bool on_terminal = true;
  {
    Terminal const terminal;
    on_terminal = is_colored();
  }
  CHECK_FALSE(on_terminal);
}

TEST_CASE("a terminal gets colours, unless they are unwanted") {
  Variable const nothing_asked("TESSERA_COLOR", nullptr);
  Variable const wanted("NO_COLOR", nullptr);
  Variable const kind("TERM", "xterm");
  bool on_terminal = false;
  bool where_unwanted = true;
  bool on_dumb_terminal = true;
  {
    Terminal const terminal;
    on_terminal = is_colored();
    Variable const unwanted("NO_COLOR", "1");
    where_unwanted = is_colored();
  }
  {
    Terminal const terminal;
    Variable const dumb("TERM", "dumb");
    on_dumb_terminal = is_colored();
  }

  CHECK(on_terminal);
  CHECK_FALSE(where_unwanted);
  CHECK_FALSE(on_dumb_terminal);
}

TEST_CASE("another TESSERA_COLOR is refused with what it may be") {
  Variable const asked("TESSERA_COLOR", "pink");

  CHECK_THROWS_WITH_AS((void)is_colored(),
                       "TESSERA_COLOR=pink is not one of always, never; fix or unset it",
                       ConfigError);
}

TEST_CASE("the text is the same whatever locale the program has set") {
  Layout const layout(NamedSharding(row(2), P("x")), {12345});
  auto const before = visualize(layout, Color::always);

  test::OddLocale const odd;

  CHECK(visualize(layout, Color::always) == before);
}

TEST_SUITE_END();
