#include "misuse.hpp"

#include <cstdint>
#include <cstdlib>
#include <optional>
#include <thread>

#include "tessera/array/shards.hpp"
#include "tessera/layout/parse.hpp"
#include "tessera/layout/visualize.hpp"
#include "tessera/runtime/budget.hpp"

#include "src/base/environment.hpp"
#include "src/network/network.hpp"
#include "src/runtime/engine.hpp"

using namespace tessera;
using test::check_misuses;
using test::is;
using test::over;
using test::row;

/// What is wrong before there is an expression: meshes, shardings, texts, new arrays, settings.
TEST_SUITE_BEGIN("ops/misuse");

namespace {

constexpr std::int64_t huge = std::int64_t{1} << 40;

// Twelve cells and a device more than the job has.
void use_a_device_too_many() {
  auto const devices = device_count();
  (void)zeros<double>({12}, NamedSharding(Mesh({devices}, {1}, {"x"}), P("x")));
}

std::vector<double> const& eight_numbers() {
  static std::vector<double> const numbers{0, 1, 2, 3, 4, 5, 6, 7};
  return numbers;
}

// Each process passes these pieces of an array of eight cells.
void pass_pieces(std::vector<LocalPiece<double>> const& pieces) {
  (void)from_local<double>(pieces, {8}, over(8));
}

std::span<double const> first_numbers(std::size_t count) {
  return std::span<double const>(eight_numbers()).first(count);
}

// What is thrown on another thread, thrown again on this one.
template <class Body>
void on_another_thread(Body const& body) {
  std::exception_ptr error;
  std::thread thread([&] {
    try {
      body();
    } catch (...) {
      error = std::current_exception();
    }
  });
  thread.join();
  if (error) std::rethrow_exception(error);
}

// The same as if the Runtime had ended.
template <class Body>
void without_runtime(Body const& body) {
  struct Restore {
    Engine* engine;
    ~Restore() { detail::set_engine(engine); }
  } const restore{&engine()};
  detail::set_engine(nullptr);
  body();
}

// Reads a variable of the environment that is set for as long.
template <class Read>
void with_setting(char const* name, char const* value, Read const& read) {
  struct Restore {
    char const* name;
    std::optional<std::string> before;
    ~Restore() { before ? setenv(name, before->c_str(), 1) : unsetenv(name); }
  } const restore{name, environment(name)};
  setenv(name, value, 1);
  read();
}
void read_network_options() {
  (void)NetworkOptions::from_environment();
}

std::vector<test::Misuse> const meshes{
    {"a mesh without axes", [] { (void)Mesh(std::vector<MeshAxis>{}); }, is<ShardingError>,
     "a mesh needs at least one axis; for one device use Mesh({{\"x\", 1}})"},
    {"a mesh of nine axes",
     [] {
       (void)Mesh(std::vector<MeshAxis>(9, MeshAxis{"x", 1}));
     },
     is<ShardingError>, "a mesh of 9 axes is asked for; it may have at most 8"},
    {"a mesh axis of no devices",
     [] {
       (void)Mesh({{"x", 2}, {"y", 0}});
     },
     is<ShardingError>, "mesh axis 'y' has size 0; sizes are 1 or more"},
    {"a mesh axis without a name",
     [] {
       (void)Mesh({{"x", 2}, {"", 2}});
     },
     is<ShardingError>, "axis 1 of a mesh has an empty name"},
    {"two mesh axes of one name",
     [] {
       (void)Mesh({{"x", 2}, {"x", 4}});
     },
     is<ShardingError>, "mesh axis 'x' is listed twice in (x=2, x=4); names must differ"},
    {"more devices than numbers",
     [] {
       (void)Mesh({{"x", huge}, {"y", huge}});
     },
     is<ShardingError>, "has more than 2^62 devices"},
    {"fewer names than mesh dimensions",
     [] {
       (void)Mesh({0, 1, 2, 3}, {2, 2}, {"x"});
     },
     is<ShardingError>, "axis names are (x); give one name per dimension"},
    {"a list that does not fill the mesh",
     [] {
       (void)Mesh({0, 1, 2}, {2, 2}, {"x", "y"});
     },
     is<ShardingError>, "3 devices are listed for a mesh of (x=2, y=2), which has 4 places"},
    {"a device listed twice",
     [] {
       (void)Mesh({0, 1, 0}, {3}, {"x"});
     },
     is<ShardingError>,
     "device 0 is listed twice, at positions 0 and 2; a device has one place in a mesh"},
    {"a negative device",
     [] {
       (void)Mesh({0, -1}, {2}, {"x"});
     },
     is<ShardingError>, "device -1 is listed at position 1; device ids are 0 or more"},
    {"an axis the mesh does not have", [] { (void)row(2).axis("rows"); }, is<ShardingError>,
     "there is no mesh axis 'rows'; the mesh has x"},
    {"a position outside the mesh", [] { (void)row(2).device_at(2); }, is<IndexError>,
     "position 2 is outside Mesh(x=2), which has 2 places"},
    {"coordinates outside the mesh", [] { (void)row(2).position({3}); }, is<IndexError>,
     "the coordinates (3,) lie outside Mesh(x=2): mesh axis 'x' has size 2"},
    {"coordinates of another rank",
     [] {
       (void)row(2).position({0, 0});
     },
     is<IndexError>, "the coordinates (0, 0) do not fit Mesh(x=2), which has 1 axis"},
    {"a device that the job does not have", use_a_device_too_many, is<ShardingError>,
     "; ask device_count() or start more processes"},
    {"a device outside a range", [] { (void)devices()[-1]; }, is<IndexError>,
     "there is no device -1 in a range of "},
};

std::vector<test::Misuse> const shardings{
    {"a spec with a name the mesh lacks", [] { (void)NamedSharding(row(2), P("rows")); },
     is<ShardingError>, "there is no mesh axis 'rows'; the mesh has x"},
    {"a mesh axis that cuts two dimensions", [] { (void)NamedSharding(row(2), P("x", "x")); },
     is<ShardingError>,
     "mesh axis 'x' is named twice in P(\"x\", \"x\"); an axis may cut one dimension only"},
    {"a spec of nine entries",
     [] { (void)NamedSharding(row(2), PartitionSpec(std::vector<SpecEntry>(9, none))); },
     is<ShardingError>, "has 9 entries; an array has at most 8 dimensions"},
    {"the pieces of a dimension that is not there", [] { (void)over(2, 3).ways(2); },
     is<ShapeError>,
     "there is no dimension 2 in P(\"y\", \"x\"), which has 2 entries; they are counted from 0"},
    {"the cut of a dimension that is not there", [] { (void)over(4).cut(1); }, is<ShapeError>,
     "there is no dimension 1 in P(\"x\"), which has 1 entry; they are counted from 0"},
    {"cuts for another number of dimensions",
     [] { (void)NamedSharding(row(2), P("x", none), std::vector{Cut::ceil()}); }, is<ShardingError>,
     "give one cut per entry, or one for all"},
    {"a unit of no cells", [] { (void)Cut::unit(0); }, is<ShardingError>,
     "Cut::unit has blocks of 0 cells; a block has 1 to 2^62"},
    {"a unit of a negative number of cells", [] { (void)Cut::unit(-4); }, is<ShardingError>,
     "Cut::unit has blocks of -4 cells; a block has 1 to 2^62"},
    {"explicit sizes without a size", [] { (void)Cut::explicit_sizes({}); }, is<ShardingError>,
     "Cut::explicit_sizes has an empty list; give one size per piece"},
    {"a negative size",
     [] {
       (void)Cut::explicit_sizes({3, -1});
     },
     is<ShardingError>, "Cut::explicit_sizes has size -1 for piece 1; sizes are 0 or more"},
    {"sizes beyond any number of cells",
     [] {
       (void)Cut::explicit_sizes({std::int64_t{1} << 62, 1});
     },
     is<ShardingError>, "the sizes of Cut::explicit_sizes add up to more than 2^62 cells"},
    {"a cut into no pieces", [] { Cut::strict().check(10, 0); }, is<ShardingError>,
     "10 cells cannot be cut 0 ways; extents are 0 or more, ways 1 or more"},
    {"a strict cut that does not divide",
     [] { (void)zeros<double>({10}, NamedSharding(row(4), P("x"), Cut::strict())); },
     is<ShardingError>,
     "array dimension 0 (10 cells) is cut 4 ways by mesh axis 'x': 10 cells cannot be cut 4 ways "
     "equally; use Cut::balanced() or pad to 12"},
    {"more sizes than pieces",
     [] {
       (void)zeros<double>({6}, NamedSharding(row(2), P("x"), Cut::explicit_sizes({2, 2, 2})));
     },
     is<ShardingError>, "has 3 sizes for 2 pieces; give one size per piece"},
    {"sizes that add up to another extent",
     [] {
       (void)zeros<double>({7}, NamedSharding(row(2), P("x"), Cut::explicit_sizes({2, 4})));
     },
     is<ShardingError>, "the sizes of explicit_sizes(2, 4) add up to 6 but there are 7 cells"},
    {"segments without a segment", [] { (void)Cut::segments({}); }, is<ShardingError>,
     "Cut::segments has an empty list; give the cells of each segment"},
    {"a segment that is dealt out",
     [] {
       (void)Cut::segments({4, {4, Cut::cyclic(1)}});
     },
     is<ShardingError>, "give it a rule that makes one piece for each way"},
    {"segments that cover another extent",
     [] {
       (void)zeros<double>({7}, NamedSharding(row(2), P("x"), Cut::segments({2, 4})));
     },
     is<ShardingError>, "segments(2, 4) covers 6 cells but there are 7 cells"},
    {"blocks without cells", [] { (void)Cut::cyclic(0); }, is<ShardingError>,
     "Cut::cyclic has blocks of 0 cells; a block has 1 to 2^62"},
    {"more boxes than a device may hold",
     [] { (void)zeros<double>({200'000}, NamedSharding(row(2), P("x"), Cut::cyclic(1))); },
     is<ShardingError>, "a device would hold more than 65536 boxes"},
    {"the one box of a device with several",
     [] { (void)Layout(NamedSharding(row(2), P("x"), Cut::cyclic(1)), {4}).box_of(DeviceId{0}); },
     is<ShardingError>, "ask boxes_of"},
    {"the copy of a device that the mesh lacks",
     [] { (void)Layout(over(2), {4}).replica_of(DeviceId{5}); }, is<ShardingError>,
     "device 5 is not of Mesh(x=2)"},
    {"the box of a shape of another rank",
     [] {
       (void)over(2).box_of(DeviceId{0}, {4, 4});
     },
     is<ShapeError>, "P(\"x\") has 1 entry but the array has 2 dimensions"},
    {"a picture of four dimensions",
     [] {
       Layout const layout(NamedSharding(row(2), P("x", none, none, none)), {2, 2, 2, 2});
       (void)visualize_svg(layout);
     },
     is<ShapeError>, "a picture shows 1 to 3 dimensions"},
    {"a picture where no file can be",
     [] { save_svg("/nowhere/layout.svg", Layout(over(2), {4})); }, is<Error>,
     "the picture cannot be written to /nowhere/layout.svg"},
};

std::vector<test::Misuse> const texts{
    {"a mesh that ends too early", [] { (void)parse_mesh("Mesh(x=2"); }, is<UsageError>,
     "cannot read 'Mesh(x=2': expected ')' at character 8, where it ends"},
    {"a mesh with a word for a number", [] { (void)parse_mesh("Mesh(x=two)"); }, is<UsageError>,
     "cannot read 'Mesh(x=two)': expected a number at character 7, before 'two)'"},
    {"a mesh with a number that no integer holds",
     [] { (void)parse_mesh("Mesh(x=99999999999999999999)"); }, is<UsageError>,
     "expected a number at character 7"},
    {"a range of devices that does not fill the mesh",
     [] { (void)parse_mesh("Mesh(x=2, devices 3 to 7)"); }, is<UsageError>,
     "expected a range of 2 devices"},
    {"a range of devices with extreme ends",
     [] { (void)parse_mesh("Mesh(x=2, devices -9223372036854775807 to 9223372036854775807)"); },
     is<UsageError>, "expected a range of 2 devices"},
    {"a range of more devices than memory holds",
     [] { (void)parse_mesh("Mesh(x=1099511627776, devices 1 to 1099511627776)"); }, is<UsageError>,
     "expected a mesh of at most 16777216 devices before a range of them"},
    {"a spec without quotes", [] { (void)parse_spec("P(x)"); }, is<UsageError>,
     "cannot read 'P(x)': expected '\"' at character 2, before 'x)'"},
    {"a cut that does not exist", [] { (void)parse_cut("even"); }, is<UsageError>,
     "expected balanced, ceil, strict, unit, explicit_sizes, segments or cyclic at character 0, "
     "before 'even'"},
    {"a cut in two units", [] { (void)parse_cut("unit(2, 3)"); }, is<UsageError>,
     "expected ')' at character 6, before ', 3)'"},
    {"a unit that cannot be", [] { (void)parse_cut("unit(0)"); }, is<ShardingError>,
     "Cut::unit has blocks of 0 cells; a block has 1 to 2^62"},
    {"a sharding with something behind it",
     [] { (void)parse_sharding("NamedSharding(Mesh(x=2), P(\"x\")) and more"); }, is<UsageError>,
     "expected the end at character 33, before 'and more'"},
    {"no text at all", [] { (void)parse_sharding(""); }, is<UsageError>,
     "cannot read '': expected 'NamedSharding' at character 0, where it ends"},
};

std::vector<test::Misuse> const new_arrays{
    {"a negative extent", [] { (void)zeros<double>({-3}, over(2)); }, is<ShapeError>,
     "the shape (-3,) has a negative extent; extents are 0 or more"},
    {"more cells than numbers",
     [] {
       (void)iota<double>({huge, huge}, over(2, 2));
     },
     is<ShapeError>, "has more than 2^62 cells"},
    {"a shard beyond any memory",
     [] {
       (void)zeros<double>({std::int64_t{1} << 61, 2}, NamedSharding(row(1), P("x", none)));
     },
     is<DeviceError>, "elements"},
    {"a sharding of one dimension for an array of two",
     [] {
       (void)full<double>({4, 4}, 1.0, over(2));
     },
     is<ShapeError>,
     "P(\"x\") has 1 entry but the array has 2 dimensions; add none for a dimension that is not "
     "cut"},
    {"a sharding of two dimensions for an array of one",
     [] { (void)iota<double>({4}, over(2, 2)); }, is<ShapeError>,
     "has 2 entries but the array has 1 dimension; leave out the entries without a dimension"},
    {"a shape of another rank than the type",
     [] {
       (void)DistArray<double, 1>({4, 4}, over(2));
     },
     is<ShapeError>, "the shape (4, 4) has 2 dimensions but the array has 1"},
    {"fewer numbers than the shape has cells",
     [] { (void)from_host(eight_numbers(), {9}, over(2)); }, is<ShapeError>,
     "from_host: 8 cells given, but the shape (9,) has 9"},
    {"a piece of another rank",
     [] {
       pass_pieces({{Box{{0, 0}, {2, 4}}, first_numbers(8)}});
     },
     is<ShapeError>, "has another number of dimensions than the array, 1; each process passes"},
    {"a piece with fewer numbers than cells",
     [] {
       pass_pieces({{Box{{0}, {8}}, first_numbers(5)}});
     },
     is<ShapeError>,
     "has 8 cells, but 5 were passed; each process passes the cells of its own devices"},
    {"two pieces that overlap",
     [] {
       pass_pieces({{Box{{0}, {5}}, first_numbers(5)}, {Box{{4}, {8}}, first_numbers(4)}});
     },
     is<ShapeError>, "overlaps another one; each process passes the cells of its own devices"},
    {"a sharding of another rank for a copy",
     [] { (void)reshard(iota<double>({4}, over(2)), over(2, 2)); }, is<ShapeError>,
     "has 2 entries but the array has 1 dimension"},
};

std::vector<test::Misuse> const settings{
    {"a number of devices that is a word",
     [] {
       with_setting("TESSERA_DEVICES", "many",
                    [] { (void)environment_integer("TESSERA_DEVICES", 1); });
     },
     is<ConfigError>, "TESSERA_DEVICES=many is not a whole number of at least 1; fix or unset it"},
    {"no devices",
     [] {
       with_setting("TESSERA_DEVICES", "0",
                    [] { (void)environment_integer("TESSERA_DEVICES", 1); });
     },
     is<ConfigError>, "TESSERA_DEVICES=0 is not a whole number of at least 1; fix or unset it"},
    {"a route that does not exist",
     [] { with_setting("TESSERA_ROUTE", "pigeon", read_network_options); }, is<ConfigError>,
     "TESSERA_ROUTE=pigeon is not one of shm, ucx, mpi; fix or unset it"},
    {"a comparison that there is not",
     [] { with_setting("TESSERA_CHECK", "communication,records", read_network_options); },
     is<ConfigError>,
     "TESSERA_CHECK=communication,records: 'records' is not one of communication, numbers, "
     "recording, none; fix or unset it"},
    {"a time that is none", [] { with_setting("TESSERA_STALL", "soon", read_network_options); },
     is<ConfigError>, "TESSERA_STALL=soon is not a number of seconds; fix or unset it"},
    {"a negative time", [] { with_setting("TESSERA_SILENCE", "-1", read_network_options); },
     is<ConfigError>, "TESSERA_SILENCE=-1 is not a number of seconds; fix or unset it"},
    {"a second Runtime", [] { Runtime const second; }, is<UsageError>,
     "a tessera::Runtime already exists; a process has one at a time"},
    {"an array without a Runtime",
     [] { without_runtime([] { (void)zeros<double>({4}, over(2)); }); }, is<UsageError>,
     "there is no tessera::Runtime; make one at the start of main, before the first array"},
    {"devices without a Runtime", [] { without_runtime([] { (void)device_count(); }); },
     is<UsageError>, "there is no tessera::Runtime; make one at the start of main"},
    {"an array on another thread",
     [] { on_another_thread([] { (void)zeros<double>({4}, over(2)); }); }, is<UsageError>,
     "Tessera was called from another thread than the one that made the Runtime"},
    {"a negative limit", [] { CommunicationBudget const budget({.messages = -1}); }, is<UsageError>,
     "a communication budget of -1 messages; a limit is 0 or more, and a limit that is left "
     "out does not apply"},
    {"a budget without a Runtime",
     [] { without_runtime([] { CommunicationBudget const budget({.bytes = 8}); }); },
     is<UsageError>, "there is no tessera::Runtime"},
};

}  // namespace

TEST_CASE("meshes that cannot be") {
  check_misuses(meshes);
}

TEST_CASE("shardings that cannot be") {
  check_misuses(shardings);
}

TEST_CASE("texts that cannot be read") {
  check_misuses(texts);
}

TEST_CASE("arrays that cannot be made") {
  check_misuses(new_arrays);
}

TEST_CASE("settings and threads that cannot be") {
  check_misuses(settings);
}

TEST_SUITE_END();
