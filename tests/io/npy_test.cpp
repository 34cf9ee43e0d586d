#include "tessera/io/npy.hpp"

#include <csignal>
#include <cstring>
#include <filesystem>
#include <string>
#include <vector>

#include <doctest/doctest.h>
#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tessera/ops/reductions.hpp"

#include "support/arrays.hpp"
#include "support/left_out.hpp"
#include "support/odd_locale.hpp"
#include "support/seeds.hpp"

#include "files.hpp"
#include "numpy_paths.hpp"

using namespace tessera;
using test::bytes_of_file;
using test::Folder;
using test::has;
using test::holds;
using test::message;
using test::over;

/// Files of NumPy's: those that it wrote itself (tests/numpy/make_files.py) are read, and what is
/// written here is the same, byte for byte.
TEST_SUITE_BEGIN("io/npy");

namespace {

// The file that NumPy wrote.
std::string file(std::string const& name) {
  return TESSERA_NUMPY_FILES "/" + name + ".npy";
}

// Element k of those files.
template <class T>
T cell(std::int64_t k) {
  auto const x = static_cast<double>(k);
  if constexpr (std::is_same_v<T, bool>)
    return k % 3 == 0;
  else if constexpr (detail::is_complex<T>)
    return T(static_cast<detail::real_of<T>>(x * 0.3 - 1.5),
             static_cast<detail::real_of<T>>(static_cast<double>(k % 4) * 0.7));
  else if constexpr (detail::is_floating<T>)
    return static_cast<T>(x * 0.3 - 1.5);
  else
    return static_cast<T>((k * 37 + 11) % 101 - (std::is_signed_v<T> ? 50 : 0));
}
template <class T>
std::vector<T> cells(std::int64_t count) {
  std::vector<T> result;
  for (std::int64_t k = 0; k < count; ++k) result.push_back(cell<T>(k));
  return result;
}

std::vector<NamedSharding> planes() {
  return {over(1, 1),
          over(2, 4),
          over(4, 2),
          over(8, 1),
          {test::row(3), P(none, "x")},
          {test::row(2), P("x", none), Cut::cyclic(1)},
          {test::row(8), P(none, none)}};
}

template <class T>
DistArray<T, 2> small_plane(NamedSharding const& sharding) {
  return from_index<T>({3, 5}, sharding, [](auto i) { return cell<T>(i[0] * 5 + i[1]); });
}

template <class T>
void check_reading(std::string const& name) {
  CAPTURE(name);
  for (auto const& sharding : planes())
    CHECK_ALL(holds(load_npy<T, 2>(file(name), sharding), cells<T>(15)));
}

template <class T>
void check_writing(Folder const& folder, std::string const& name) {
  CAPTURE(name);
  for (auto const& sharding : planes()) {
    save_npy(folder / "u.npy", small_plane<T>(sharding));
    CHECK_ALL(bytes_of_file(folder / "u.npy") == bytes_of_file(file(name)));
  }
}

}  // namespace

TEST_CASE("files of every type are read as NumPy wrote them") {
  check_reading<bool>("bool");
  check_reading<std::int8_t>("int8");
  check_reading<std::int16_t>("int16");
  check_reading<std::int32_t>("int32");
  check_reading<std::int64_t>("int64");
  check_reading<std::uint8_t>("uint8");
  check_reading<std::uint16_t>("uint16");
  check_reading<std::uint32_t>("uint32");
  check_reading<std::uint64_t>("uint64");
  check_reading<float16>("float16");
  check_reading<bfloat16>("bfloat16");
  check_reading<float>("float32");
  check_reading<double>("float64");
  check_reading<std::complex<float>>("complex64");
  check_reading<std::complex<double>>("complex128");
}

TEST_CASE("both orders and both byte orders are read") {
  for (std::string const how : {"_fortran", "_big", "_big_fortran"}) {
    check_reading<std::int16_t>("int16" + how);
    check_reading<float16>("float16" + how);
    check_reading<double>("float64" + how);
    check_reading<std::complex<float>>("complex64" + how);
    check_reading<std::complex<double>>("complex128" + how);
  }
}

TEST_CASE("all versions of the format are read, and arrays of any rank, also without cells") {
  check_reading<double>("float64_version2");
  check_reading<double>("float64_version3");
  for (std::int64_t const devices : {1, 3, 8}) {
    CAPTURE(devices);
    auto const line = load_npy<double, 1>(file("float64_line"), over(devices));
    CHECK_ALL(holds(line, cells<double>(15)));
    auto const empty = load_npy<double, 2>(file("float64_empty"), over(devices, 1));
    CHECK_ALL(empty.shape() == Shape{0, 5});
    NamedSharding const cut(test::row(devices), P(none, none, "x"));
    CHECK_ALL(holds(load_npy<double, 3>(file("float64_cube"), cut), cells<double>(60)));
    CHECK_ALL(holds(load_npy<double, 3>(file("float64_cube_fortran"), cut), cells<double>(60)));
  }
}

TEST_CASE("an array without dimensions is one number") {
  Folder const folder;
  for (std::int64_t const devices : {1, 3, 8}) {
    CAPTURE(devices);
    NamedSharding const everywhere(test::row(devices), P());
    auto const cell_read = load_npy<double, 0>(file("float64_scalar"), everywhere);
    CHECK_ALL(static_cast<double>(cell_read) == cell<double>(0));
    save_npy(folder / "u.npy", cell_read);
    CHECK_ALL(bytes_of_file(folder / "u.npy") == bytes_of_file(file("float64_scalar")));
  }
  CHECK_ALL_THROW((void)(load_npy<double, 1>(file("float64_scalar"), over(2))), ShapeError);
}

TEST_CASE("files have the very bytes that NumPy writes, however the array lies") {
  Folder const folder;
  check_writing<bool>(folder, "bool");
  check_writing<std::int8_t>(folder, "int8");
  check_writing<std::uint16_t>(folder, "uint16");
  check_writing<std::int64_t>(folder, "int64");
  check_writing<float16>(folder, "float16");
  check_writing<bfloat16>(folder, "bfloat16");
  check_writing<float>(folder, "float32");
  check_writing<double>(folder, "float64");
  check_writing<std::complex<float>>(folder, "complex64");
  check_writing<std::complex<double>>(folder, "complex128");
  for (std::int64_t const devices : {1, 3, 8}) {
    save_npy(folder / "u.npy", from_host(cells<double>(15), {15}, over(devices)));
    CHECK_ALL(bytes_of_file(folder / "u.npy") == bytes_of_file(file("float64_line")));
    save_npy(folder / "u.npy", zeros<double>({0, 5}, over(devices, 1)));
    CHECK_ALL(bytes_of_file(folder / "u.npy") == bytes_of_file(file("float64_empty")));
    save_npy(folder / "u.npy",
             from_host(cells<double>(60), {3, 4, 5}, {test::row(devices), P(none, "x", none)}));
    CHECK_ALL(bytes_of_file(folder / "u.npy") == bytes_of_file(file("float64_cube")));
  }
  CHECK_ALL(folder.count() == 1);
}

TEST_CASE("files have the same bytes whatever locale the program has set") {
  Folder const folder;
  auto const u = iota<double>({12345}, over(8));
  save_npy(folder / "u.npy", u);
  auto const expected = bytes_of_file(folder / "u.npy");
  {
    test::OddLocale const odd;
    save_npy(folder / "u.npy", u);
    CHECK_ALL(load_npy<double, 1>(folder / "u.npy", over(3)).shape() == Shape{12345});
  }
  CHECK_ALL(has(expected, "'shape': (12345,)"));
  CHECK_ALL(bytes_of_file(folder / "u.npy") == expected);
}

TEST_CASE("what one layout wrote another one reads") {
  Folder const folder;
  auto const m = test::scrambled<double>({37, 53});
  for (auto const& written : test::layouts_of_plane(37, 53)) {
    CAPTURE(written);
    save_npy(folder / "u.npy", test::spread_out<double, 2>(m, written));
    auto const read = test::layouts_of_plane(37, 53)[3];
    CHECK_ALL(holds(load_npy<double, 2>(folder / "u.npy", read), m));
  }
  save_npy(folder / "u.npy", test::spread_out<double, 2>(m, over(2, 4)));
  for (auto const& read : test::layouts_of_plane(37, 53)) {
    CAPTURE(read);
    CHECK_ALL(holds(load_npy<double, 2>(folder / "u.npy", read), m));
  }
}

TEST_CASE("arrays longer than the buffers") {
  Folder const folder;
  auto const number = [](auto i) { return 0.1 * static_cast<double>(i[0] * 1016 + i[1]); };
  NamedSharding const columns(test::row(3), P(none, "x"));
  // The last run of a window does not end with it.
  auto const u = from_index<double>({1300, 1016}, columns, number);

  save_npy(folder / "u.npy", u);

  CHECK_ALL(all_equal(load_npy<double, 2>(folder / "u.npy", over(1, 1)), u));
  CHECK_ALL(all_equal(load_npy<double, 2>(folder / "u.npy", over(2, 4)), u));
  CHECK_ALL(all_equal(load_npy<double, 2>(folder / "u.npy", columns), u));
  CHECK_ALL(all_equal(load_npy<double, 2>(folder / "u.npy", {test::row(8), P(none, "x")}), u));
}

TEST_CASE("pieces that are cut along several dimensions, in either order") {
  Folder const folder;
  Mesh const grid({{"y", 2}, {"x", 4}});
  NamedSharding const pieces(grid, P(none, "y", "x"));
  NamedSharding const others(grid, P("x", none, "y"));
  auto const u = from_host(cells<double>(60), {3, 4, 5}, pieces);

  save_npy(folder / "u.npy", u);

  CHECK_ALL(bytes_of_file(folder / "u.npy") == bytes_of_file(file("float64_cube")));
  for (std::string const name : {"float64_cube", "float64_cube_fortran"})
    for (auto const& sharding : {pieces, others})
      CHECK_ALL(holds(load_npy<double, 3>(file(name), sharding), cells<double>(60)));
}

TEST_CASE("slices and expressions are saved as they are") {
  Folder const folder;
  auto const u = iota<std::int32_t>({12}, over(8));

  save_npy(folder / "u.npy", u(range(1, none, 5)) * 2);

  CHECK_ALL(holds(load_npy<std::int32_t, 1>(folder / "u.npy", over(2)),
                  std::vector<std::int32_t>{2, 12, 22}));
}

TEST_CASE("another type or rank than the file's is named beside it") {
  auto const type =
      message<UsageError>([] { (void)load_npy<float, 2>(file("float64"), over(2, 4)); });
  auto const order =
      message<UsageError>([] { (void)load_npy<double, 2>(file("int16_big"), over(2, 4)); });
  auto const rank =
      message<ShapeError>([] { (void)load_npy<double, 1>(file("float64"), over(2)); });

  CHECK(has(type,
            "float64.npy holds float64 ('<f8'), but load_npy was asked for float32; load it "
            "as that type and cast the array"));
  CHECK(has(order, "holds int16 ('>i2'), but load_npy was asked for float64"));
  CHECK(has(rank, "of shape (3, 5) with 2 dimensions, but load_npy was asked for 1"));
  for (std::string const name : {"structured", "text", "dates"})
    CHECK(has(message<UsageError>([&] { (void)load_npy<double, 1>(file(name), over(2)); }),
              "no array here has such elements"));
  CHECK_ALL_THROW((void)(load_npy<double, 2>(file("float64"), over(2))), ShapeError);
}

TEST_CASE("files that are cut short anywhere are refused before anything is read") {
  Folder const folder;
  for (std::string const name : {"float64", "float64_version3", "bool"}) {
    auto const whole = bytes_of_file(file(name));
    for (std::size_t size = 0; size < whole.size(); size += size < 120 ? 7 : 1) {
      CAPTURE(size);
      auto const path = folder.put("short.npy", whole.substr(0, size));
      auto const words = message<Error>([&] { (void)load_npy<double, 2>(path, over(2, 4)); });
      CHECK((has(words, "is cut short") || has(words, "is not a NumPy file")));
      CHECK(has(words, path));
    }
  }
  auto const words = message<Error>([&] {
    (void)load_npy<double, 2>(
        folder.put("short.npy", bytes_of_file(file("float64")).substr(0, 200)), over(2, 4));
  });
  CHECK(has(words, "15 cells of <f8 take 120 bytes, but only 72 follow the header"));
}

TEST_CASE("garbage is refused, with what is wrong") {
  Folder const folder;
  auto const refusal = [&](std::string const& dictionary) {
    std::string bytes("\x93NUMPY\x01\x00", 8);
    bytes.push_back(static_cast<char>(dictionary.size()));
    bytes.push_back('\0');
    auto const path = folder.put("bad.npy", bytes + dictionary + std::string(64, '\0'));
    return message<Error>([&] { (void)load_npy<double, 1>(path, over(3)); });
  };
  std::string const order = "'fortran_order': False";

  CHECK(has(refusal(""), "no '{'"));
  CHECK(has(refusal("{'descr': '<f8', " + order + "}"), "lacks one of"));
  CHECK(has(refusal("{'descr': '<f8', " + order + ", 'shape': (-1,)}"), "no number"));
  CHECK(has(refusal("{'descr': '<f8', " + order + ", 'shape': (1"), "no ')'"));
  CHECK(has(refusal("{'descr': '<f8', 'fortran_order': 0"), "neither True nor False"));
  CHECK(has(refusal("{'descr': '<f8"), "inside of quotes"));
  CHECK(has(refusal("{'descr': [('x'"), "inside of a list"));
  CHECK(has(refusal("{'depth': 3}"), "has an entry 'depth'"));
  CHECK(has(refusal("{'\x1b[2J': 3}"), "has an entry '\\x1b[2J'"));
  auto const of_terminal = "{'descr': '\x1b[2J', " + order + ", 'shape': (1,)}";
  CHECK(has(refusal(of_terminal), "elements of the type \\x1b[2J"));
  CHECK(has(refusal("{'shape': (2,), 'shape': (3,)"), "two entries 'shape'"));
  CHECK(has(refusal("{'descr': '<f8', " + order + ", 'shape': (4611686018427387904, 8)}"),
            "more cells than there are numbers"));
  CHECK(has(refusal("{'descr': '<f8', " + order + ", 'shape': (99999999999999999999,)}"),
            "no number"));
  CHECK(has(message<Error>([&] { (void)load_npy<double, 1>(folder / "none.npy", over(3)); }),
            "cannot be opened: No such file or directory"));
  CHECK(has(message<Error>([&] { (void)load_npy<double, 1>(folder / "", over(3)); }),
            "is not a regular file"));
}

TEST_CASE("a header of Python 2 with other quotes and blanks is read") {
  Folder const folder;
  std::string const dictionary = "{\"shape\" :(2L , ),\"descr\":'=f8',\t\"fortran_order\":True}\n";
  std::string bytes("\x93NUMPY\x01\x00", 8);
  bytes.push_back(static_cast<char>(dictionary.size()));
  bytes.push_back('\0');
  double const numbers[] = {0.1, -2.5};
  bytes += dictionary + std::string(reinterpret_cast<char const*>(numbers), sizeof numbers);

  auto const u = load_npy<double, 1>(folder.put("old.npy", bytes), over(2));

  CHECK_ALL(holds(u, std::vector<double>{0.1, -2.5}));
}

TEST_CASE("any bytes in the header lead to an array or to an error") {
  Folder const folder;
  auto const whole = bytes_of_file(file("float64"));
  test::Random random(test::seed_of_all(7));
  int refused = 0;
  for (int i = 0; i < 300; ++i) {
    auto bytes = whole;
    for (std::int64_t k = random.between(1, 3); k > 0; --k)
      bytes[static_cast<std::size_t>(random.between(0, 70))] =
          static_cast<char>(random.between(0, 255));
    auto const path = folder.put("any.npy", bytes);
    try {
      (void)load_npy<double, 2>(path, over(2, 4));
    } catch (Error const&) {
      ++refused;
    }
  }
  CHECK(refused > 200);
  CHECK(test::total_over_processes(refused) == refused * process_count());
}

TEST_CASE("a save that fails leaves the old file whole and nothing beside it") {
  Folder const folder;
  auto const u = iota<double>({4000}, over(8));
  save_npy(folder / "u.npy", u(range(0, 10)));
  auto const before = bytes_of_file(folder / "u.npy");
  std::signal(SIGXFSZ, SIG_IGN);
  rlimit limit{};
  ::getrlimit(RLIMIT_FSIZE, &limit);
  rlimit const small{20'000, limit.rlim_max};

  ::setrlimit(RLIMIT_FSIZE, &small);
  auto const words = message<Error>([&] { save_npy(folder / "u.npy", u); });
  ::setrlimit(RLIMIT_FSIZE, &limit);

  CHECK(has(words, "cannot be made as large as the array: File too large"));
  CHECK_ALL(bytes_of_file(folder / "u.npy") == before);
  CHECK_ALL(folder.count() == 1);
  CHECK(has(message<Error>([&] { save_npy(folder / "none/u.npy", u); }),
            "No such file or directory"));
  CHECK(has(message<Error>([&] { save_npy(folder / "", u); }), "is a folder"));
  CHECK(has(message<Error>([&] { save_npy("", u); }), "empty"));
  CHECK_ALL(folder.count() == 1);
}

TEST_CASE("what is no file is not replaced by one, nor waited for") {
  Folder const folder;
  auto const u = iota<double>({10}, over(8));
  auto const pipe = folder / "pipe";
  if (process() == ProcessId(0)) ::mkfifo(pipe.c_str(), 0600);
  CHECK_ALL(true);

  CHECK(has(message<Error>([&] { save_npy(pipe, u); }), "not a regular file"));
  CHECK(has(message<Error>([&] { (void)(load_npy<double, 1>(pipe, over(8))); }),
            "is not a regular file"));
  CHECK_ALL(std::filesystem::is_fifo(pipe));
  CHECK_ALL(folder.count() == 1);
}

TEST_CASE("a link stays one, and what it leads to is written") {
  Folder const folder;
  auto const u = iota<double>({10}, over(8));
  if (process() == ProcessId(0)) {
    std::filesystem::create_directory(folder / "runs");
    std::filesystem::create_symlink("runs/last.npy", folder / "link.npy");
  }
  CHECK_ALL(true);

  save_npy(folder / "link.npy", u);
  save_npy(folder / "link.npy", u(range(0, 4)));

  CHECK_ALL(std::filesystem::is_symlink(folder / "link.npy"));
  CHECK(holds(load_npy<double, 1>(folder / "runs/last.npy", over(8)), {0, 1, 2, 3}));
  CHECK_ALL(folder.count() == 2);
}

TEST_CASE("processes that name different files are told so") {
  Folder const folder;
  if (test::left_out_if(process_count() == 1, "it needs 2 processes")) return;
  auto const u = iota<double>({10}, over(8));
  auto const own = folder / std::to_string(process().value());

  CHECK_ALL_THROW(save_npy(own, u), UsageError);
  CHECK_ALL_THROW((void)(load_npy<double, 1>(own, over(8))), UsageError);
  CHECK_ALL(folder.count() == 0);
}

TEST_CASE("what a killed save has left is removed by the next, and what others write is not") {
  Folder const folder;
  auto const u = iota<double>({10}, over(8));
  auto const left = folder.put("u.npy.part-0123456789abcdef", "half of a file");
  auto const locked = folder.put("u.npy.part-fedcba9876543210", "another job writes this one");
  for (auto const* const name :
       {"v.npy.part-0123456789abcdef", "u.npy.part-0123456789abcde", "u.npy.part-0123456789abcdeg"})
    (void)folder.put(name, "none of ours");
  int lock = -1;
  if (process().value() == 0) {
    lock = ::open(locked.c_str(), O_RDWR | O_CLOEXEC);
    REQUIRE(::flock(lock, LOCK_EX) == 0);
  }

  save_npy(folder / "u.npy", u);
  CHECK_ALL(!std::filesystem::exists(left));
  CHECK_ALL(std::filesystem::exists(locked));
  CHECK_ALL(folder.count() == 5);

  if (process().value() == 0) ::close(lock);
  save_npy(folder / "u.npy", u);
  CHECK_ALL(!std::filesystem::exists(locked));
  CHECK_ALL(folder.count() == 4);
  CHECK_ALL(holds(load_npy<double, 1>(folder / "u.npy", over(8)), u.to_host()));
}

// Each process has a descriptor of the same number, so one path, for a file of its own.
TEST_CASE("hosts that have different files under one path are told so") {
  Folder const folder;
  if (test::left_out_if(process_count() == 1, "it needs 2 processes")) return;
  constexpr int number = 700;
  auto const path = "/proc/self/fd/" + std::to_string(number);
  auto const load_after = [&](DistArray<double, 2> const& first,
                              DistArray<double, 2> const& second) {
    save_npy(folder / "first.npy", first);
    save_npy(folder / "second.npy", second);
    bool const is_last = process().value() == process_count() - 1;
    int const file = ::open((folder / (is_last ? "second.npy" : "first.npy")).c_str(), O_RDONLY);
    REQUIRE(::dup2(file, number) == number);
    ::close(file);
    std::string what = "nothing";
    try {
      what = holds(load_npy<double, 2>(path, over(8, 1)), std::vector<double>(64, 1.0)) ? "right"
                                                                                        : "wrong";
    } catch (Mismatch const& mismatch) {
      what = mismatch.what();
    }
    ::close(number);
    return what;
  };
  auto const all_over = over(8, 1);
  auto const larger = full<double>({8, 8}, 1.0, all_over);
  auto const smaller = full<double>({4, 8}, 1.0, all_over);
  auto const turned = full<double>({16, 4}, 1.0, all_over);

  CHECK_ALL(load_after(larger, larger) == "right");
  auto const two_sizes = load_after(larger, smaller);
  CAPTURE(two_sizes);
  CHECK_ALL(
      has(two_sizes, "load_npy: /proc/self/fd/700 is not the same file everywhere: 640 bytes on "));
  CHECK_ALL(has(two_sizes, " (process 0), 384 bytes on "));
  CHECK_ALL(has(load_after(larger, turned), " with another header; do not replace it meanwhile"));
  CHECK_ALL(folder.count() == 2);
}

TEST_SUITE_END();
