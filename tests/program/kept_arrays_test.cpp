#include <functional>
#include <optional>
#include <sstream>
#include <string>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/tessera.hpp"

#include "src/base/text.hpp"
#include "src/execution/one_sided/one_sided_request.hpp"
#include "src/runtime/current_runtime.hpp"

#include "support/agree.hpp"
#include "support/device_kinds.hpp"
#include "support/other_engine.hpp"

// Arrays and values of reductions that a program keeps into another Runtime.

using namespace tessera;

TEST_SUITE_BEGIN("program/kept_arrays");

namespace {

using Array = DistArray<double, 1>;

constexpr std::int64_t cells = 40;

NamedSharding pieces(std::int64_t devices) {
  return {Mesh({{"x", devices}}), P("x")};
}

Array ones(std::int64_t devices) {
  return full<double>({cells}, 1.0, pieces(devices));
}

// What is kept of a Runtime, and an array of the one that lives.
struct Kept {
  Array& old;
  Scalar<double>& value;
  Array& here;
};

struct Use {
  std::string name;
  std::function<void(Kept const&)> call;
};

std::vector<Use> const reads{
    {"to_host", [](Kept const& k) { (void)k.old.to_host(); }},
    {"a cell", [](Kept const& k) { (void)static_cast<double>(k.old(3)); }},
    {"a slice", [](Kept const& k) { (void)k.old(range(1, 5)).to_host(); }},
    {"print",
     [](Kept const& k) {
       std::ostringstream out;
       out << k.old << k.old(range(1, 5));
     }},
    {"sum", [](Kept const& k) { (void)sum(k.old); }},
    {"hash", [](Kept const& k) { (void)hash(k.old); }},
    {"norm of an expression", [](Kept const& k) { (void)norm(k.here - k.old); }},
    {"copy", [](Kept const& k) { Array const copy(k.old); }},
    {"a new array", [](Kept const& k) { Array const made(2.0 * k.old); }},
    {"an operand", [](Kept const& k) { k.here = k.here + k.old; }},
    {"a shifted operand", [](Kept const& k) { k.here = shift(k.old, {1}, periodic); }},
    {"copied over", [](Kept const& k) { k.here = std::as_const(k.old); }},
    {"the value of a reduction", [](Kept const& k) { (void)k.value.value(); }},
    {"that value in a statement", [](Kept const& k) { k.here = k.here * k.value; }},
    {"reshape",
     [](Kept const& k) {
       (void)reshape(k.old, {4, 10});
     }},
    {"reshard", [](Kept const& k) { (void)reshard(k.old, k.here.sharding()); }},
    {"concatenate", [](Kept const& k) { (void)concatenate(0, k.old, k.old); }},
    {"shards to read", [](Kept const& k) { (void)k.old.addressable_shards(); }},
    {"save", [](Kept const& k) { save_npy("kept.npy", k.old); }},
};

std::vector<Use> const writes{
    {"a number", [](Kept const& k) { k.old = 2.0; }},
    {"a slice", [](Kept const& k) { k.old(range(1, 5)) = 2.0; }},
    {"an array", [](Kept const& k) { k.old = 2.0 * k.here; }},
    {"through a mask", [](Kept const& k) { k.old(k.here > 0.5) = 2.0; }},
    {"compound", [](Kept const& k) { k.old += 1.0; }},
    {"in a loop", [](Kept const& k) { iterate(5, [&] { k.old = 0.5 * k.old; }); }},
    {"shards to write", [](Kept const& k) { (void)k.old.mutable_shards(); }},
    {"pin", [](Kept const& k) { pin(k.old); }},
    {"fence", [](Kept const& k) { fence(k.old); }},
    {"one cell written", [](Kept const& k) { k.old.write({3}, 2.0); }},
    {"one cell read", [](Kept const& k) { (void)k.old.read({3}); }},
    {"one cell added to", [](Kept const& k) { k.old.accumulate({3}, 2.0); }},
    {"a box read",
     [](Kept const& k) {
       (void)k.old.read_async(Box{{0}, {4}});
     }},
};

std::string words_of(Use const& use, Kept const& kept) {
  try {
    use.call(kept);
  } catch (UsageError const& error) {
    return error.what();
  } catch (std::exception const& error) {
    return text("another error: ", error.what());
  }
  return "no error";
}

// The uses that are not refused with the remedy.
std::string not_refused(std::vector<Use> const& uses, Kept const& kept) {
  std::string result;
  for (auto const& use : uses) {
    auto const words = words_of(use, kept);
    if (words.find("Runtime that has ended") == std::string::npos ||
        words.find("before") == std::string::npos)
      result += text(use.name, ": ", words, '\n');
  }
  return result;
}

}  // namespace

TEST_CASE("an array that is kept into a Runtime of fewer or more devices is refused by every use") {
  auto old = ones(device_count());
  auto value = sum(old);
  for (std::int64_t const devices : {1, 3, 9}) {
    std::string wrong;
    {
      test::OtherEngine const other(devices);
      auto here = ones(devices);
      wrong = not_refused(reads, {old, value, here}) + not_refused(writes, {old, value, here});
      wrong += sum(here).value() == cells ? "" : "the new array has changed";
    }
    CHECK_ALL(wrong == "");
    INFO(wrong);
    CHECK(wrong == "");
  }
  CHECK(value.value() == cells);
  CHECK(sum(old).value() == cells);
}

TEST_CASE("arrays outlive their Runtime, whatever was done with them") {
  std::vector<Array> kept;
  std::optional<Program> program;
  std::optional<View<double, 1, 1>> view;
  std::optional<Scalar<double>> value;
  {
    test::OtherEngine const other(3);
    for (int i = 0; i < 5; ++i) kept.push_back(ones(3));
    fence(kept[0]);
    fence(kept[0]);
    fence(kept[1]);
    kept[1].write({3}, 2.0);
    pin(kept[2]);
    program.emplace(record([&] { kept[3] = 0.5 * kept[3] + 0.5 * shift(kept[3], {1}, periodic); }));
    program->run(10);
    view.emplace(kept[4](range(2, 7)));
    value.emplace(max(kept[4]));
  }
  auto here = ones(device_count());
  std::string wrong;
  for (auto& old : kept) wrong += not_refused(reads, {old, *value, here});
  CHECK_ALL(wrong == "");
  CHECK_ALL_THROW((void)view->to_host(), UsageError);
  CHECK_ALL_THROW(program->run(10), UsageError);

  kept[3] = ones(device_count());
  program->run(10);

  CHECK(program->statements() == 1);
  CHECK(sum(kept[3]).value() == cells);
  kept.clear();
  program.reset();
  CHECK(sum(here).value() == cells);
}

TEST_CASE(
    "a request that failed in an earlier Runtime fails again, and not the Runtime that lives") {
  OneSidedRequest request;
  request.failure = "process 7: no such cells";
  request.runtime = detail::current_runtime.number;
  {
    test::OtherEngine const other(1);
    CHECK_THROWS_WITH_AS(detail::wait_for(request), "process 7: no such cells", PeerFailed);
    CHECK_THROWS_WITH_AS((void)detail::is_done(request), "process 7: no such cells", PeerFailed);
    CHECK(sum(ones(1)).value() == cells);
  }
  CHECK(sum(ones(device_count())).value() == cells);
}

TEST_CASE("partial results that are kept into another Runtime are refused") {
  auto const devices = device_count();
  NamedSharding const rows({Mesh({{"x", devices}}), P("x", none)});
  auto partials = full<double>({devices, 5}, 1.0, rows);
  auto whole = from_partials(partials);
  std::string wrong;
  {
    test::OtherEngine const other(1);
    auto here = ones(1);
    auto value = sum(here);
    auto const try_it = [&](char const* name, auto const& call) {
      wrong += words_of({name, [&](Kept const&) { call(); }}, {here, value, here}) + '\n';
    };
    try_it("from_partials", [&] { (void)from_partials(std::move(partials)); });
    try_it("reading them", [&] { (void)whole.to_host(); });
  }
  CHECK_ALL(wrong.find("no error") == std::string::npos);
  CHECK_ALL(wrong.find("another error") == std::string::npos);
  CHECK(whole.to_host() == std::vector<double>(5, static_cast<double>(devices)));
}

TEST_SUITE_END();
