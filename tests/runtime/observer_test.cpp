#include "src/runtime/profiler/observer.hpp"

#include <algorithm>
#include <deque>
#include <filesystem>
#include <string>
#include <string_view>

#include <doctest/doctest.h>
#include <sys/stat.h>
#include <unistd.h>

#include "tessera/base/error.hpp"

#include "src/base/text.hpp"
#include "src/statement/statement.hpp"

#include "support/odd_locale.hpp"
#include "support/one_process.hpp"

using namespace tessera;

TEST_SUITE_BEGIN("runtime/observer");

namespace {

Statement statement_at(char const* file, std::uint32_t line) {
  Statement statement;
  statement.kind = "assignment";
  statement.location = SourceLocation(file, line);
  return statement;
}

// A plan that sends one message of so many bytes.
CompiledStatement plan_sending(std::int64_t bytes) {
  CompiledStatement plan;
  plan.messages = 1;
  plan.bytes = bytes;
  return plan;
}

ObserverOptions reporting() {
  ObserverOptions options;
  options.reports = true;
  return options;
}

bool has(std::string const& words, std::string_view part) {
  return words.find(part) != std::string::npos;
}

}  // namespace

TEST_CASE("a statement has one row, however often it runs and wherever its name lies") {
  test::OneProcess const job(2);
  Observer observer(reporting(), job.job);
  std::string const copy = "heat.cpp";

  auto const row = observer.note(statement_at("heat.cpp", 3), plan_sending(8));
  CHECK(observer.note(statement_at("heat.cpp", 3), plan_sending(8)) == row);
  CHECK(observer.note(statement_at(copy.c_str(), 3), plan_sending(8)) == row);
  CHECK(observer.note(statement_at("heat.cpp", 4), plan_sending(8)) != row);

  CHECK(observer.observed()[row].runs == 3);
  CHECK(observer.observed()[row].messages == 3);
}

TEST_CASE("places beyond the table share the first row") {
  test::OneProcess const job(1);
  Observer observer(reporting(), job.job);
  for (std::uint32_t line = 1; line < Observer::most_observed; ++line)
    CHECK(observer.note(statement_at("a.cpp", line), {}) == line);

  CHECK(observer.note(statement_at("a.cpp", 9999), {}) == 0);
  CHECK(observer.note(statement_at("a.cpp", 1), {}) == 1);
  CHECK(observer.observed()[0].runs == 1);
}

TEST_CASE("fingerprints are equal for the same places in the same order") {
  test::OneProcess const job(1);
  auto const fingerprint = [&](char const* first, char const* second) {
    Observer observer(reporting(), job.job);
    (void)observer.note(statement_at(first, 1), {});
    (void)observer.note(statement_at(second, 2), {});
    return observer.fingerprint();
  };
  CHECK(fingerprint("/one/a.cpp", "b.cpp") == fingerprint("/other/a.cpp", "b.cpp"));
  CHECK(fingerprint("a.cpp", "b.cpp") != fingerprint("b.cpp", "a.cpp"));
}

TEST_CASE("numbers are sums over devices, with the most of one device beside them") {
  test::OneProcess const job(2);
  Observer observer(reporting(), job.job);
  auto const row = observer.note(statement_at("a.cpp", 1), plan_sending(8));
  for (std::size_t device : {0U, 1U}) {
    observer.timer(device).begin(row);
    observer.timer(device).end_of(Phase::kernel);
  }

  auto const numbers = observer.numbers();

  REQUIRE(numbers.size() == 3);  // others, the statement, the sum of all
  auto const first = observer.timer(0).times(row)[0];
  auto const second = observer.timer(1).times(row)[0];
  CHECK(numbers[row].times_ns[0] == first + second);
  CHECK(numbers[row].most_ns[0] == std::max(first, second));
  CHECK(numbers.back().runs == 1);
  CHECK(numbers.back().most_ns[0] == first + second);  // of this process
}

TEST_CASE("lines of processes are added, but for runs and what is the most of one") {
  ReportNumbers here;
  here.runs = 4;
  here.messages = here.most_messages = 3;
  here.times_ns = {10, 20, 30};
  here.most_ns = {9, 9, 9};
  auto there = here;
  there.messages = there.most_messages = 5;
  there.most_ns = {8, 11, 9};

  here.add(there);

  CHECK(here.runs == 4);
  CHECK(here.messages == 8);
  CHECK(here.most_messages == 5);
  CHECK(here.times_ns[2] == 60);
  CHECK(here.most_ns[1] == 11);
}

TEST_CASE("a report names places with the slowest first, and says whose numbers these are") {
  test::OneProcess const job(2);
  Observer observer(reporting(), job.job);
  (void)observer.note(statement_at("a.cpp", 1), {});
  (void)observer.note(statement_at("b.cpp", 2), {});
  auto numbers = observer.numbers();
  numbers[1].times_ns[0] = 1'000'000'000;
  numbers[1].most_ns[0] = 750'000'000;
  numbers[2].times_ns[0] = 2'000'000'000;
  numbers[2].most_ns[0] = 1'000'000'000;

  auto const words = observer.report(numbers, "");

  CHECK(has(words, "report of 2 devices of 1 process;"));
  CHECK(words.find("b.cpp:2") < words.find("a.cpp:1"));
  CHECK(has(words, "1.50"));  // the imbalance of a.cpp: 0.75 s of one device, 0.5 s on average
  CHECK_FALSE(has(words, "(others)"));
  CHECK(has(observer.report(numbers, "it is a test"), "process 0 alone, since it is a test;"));
}

TEST_CASE("process 0 writes the trace to the file asked for, the others beside it") {
  CHECK(trace_file("run.json", ProcessId{0}) == "run.json");
  CHECK(trace_file("run.json", ProcessId{12}) == "run.12.json");
  CHECK(trace_file("run", ProcessId{1}) == "run.1");
  CHECK(trace_file("/tmp/v1.2/run", ProcessId{1}) == "/tmp/v1.2/run.1");
  CHECK(trace_file("/tmp/.hidden", ProcessId{1}) == "/tmp/.hidden.1");
}

TEST_CASE("a trace names its statements and has a span for each phase") {
  test::OneProcess const job(1);
  auto options = reporting();
  options.clock_offset_ns = -PhaseTimer::now();
  Observer observer(options, job.job);
  auto statement = statement_at("a \"b\".cpp", 7);
  auto const row = observer.note(statement, {});
  std::deque<PhaseTimer> timers;
  timers.emplace_back(Observer::most_observed, 3);
  for (int k = 0; k < 2; ++k) {
    timers[0].begin(row);
    timers[0].end_of(Phase::pack);
    timers[0].end();
  }

  auto const words = trace_text(observer, job.job, timers);

  CHECK(has(words, R"("name":"process 0")"));
  CHECK(has(words, R"("name":"device 0")"));
  CHECK(has(words, R"("name":"a \"b\".cpp:7 assignment")"));
  CHECK(has(words, R"("cat":"pack")"));
  CHECK(has(words, R"("overwritten spans":1)"));
}

TEST_CASE("traces and reports are the same whatever locale the program has set") {
  test::OneProcess const job(1);
  auto options = reporting();
  options.clock_offset_ns = std::int64_t{1'234'567'890'123'456};
  Observer observer(options, job.job);
  auto const row = observer.note(statement_at("heat.cpp", 12345), plan_sending(1 << 20));
  std::deque<PhaseTimer> timers;
  timers.emplace_back(Observer::most_observed, 3);
  timers[0].begin(row);
  timers[0].end();
  auto const trace = trace_text(observer, job.job, timers);
  auto const report = observer.report(observer.numbers(), "");

  test::OddLocale const odd;

  CHECK(trace_text(observer, job.job, timers) == trace);
  CHECK(observer.report(observer.numbers(), "") == report);
  CHECK(has(trace, R"("name":"heat.cpp:12345 assignment")"));
}

TEST_CASE("a trace that could not be written is refused before the job runs") {
  auto const refused = [](std::string const& asked, std::string const& why) {
    CHECK_THROWS_WITH_AS(check_trace_file(asked, ProcessId{1}), doctest::Contains(why.c_str()),
                         ConfigError);
  };

  check_trace_file("observer_test.json", ProcessId{1});
  refused("no such folder/run.json",
          "TESSERA_TRACE=no such folder/run.json: the file no such folder/run.1.json lies in a "
          "folder that is not there; name another, or unset it");
  refused("no such\x1b/run", "=no such\\x1b/run: the file no such\\x1b/run.1 lies");
  CHECK_THROWS_AS(check_trace_file("/", ProcessId{0}), ConfigError);
  CHECK_THROWS_AS(check_trace_file("/proc/version/run", ProcessId{0}), ConfigError);
}

TEST_CASE("a trace goes to a regular file: a pipe without a reader would never take it") {
  namespace files = std::filesystem;
  auto const folder = files::temp_directory_path() / text("tessera-trace.", ::getpid());
  files::create_directory(folder);
  auto const pipe = folder / "pipe";
  auto const link = folder / "link";
  auto const nowhere = folder / "nowhere";
  REQUIRE(::mkfifo(pipe.c_str(), 0600) == 0);
  files::create_symlink(pipe, link);
  files::create_symlink(folder / "no such folder" / "run.json", nowhere);
  files::create_symlink(folder / "itself", folder / "itself");
  auto const refused = [](files::path const& file, std::string const& why) {
    CHECK_THROWS_WITH_AS(check_trace_file(file.string(), ProcessId{0}),
                         doctest::Contains(why.c_str()), ConfigError);
  };

  refused(pipe, "is a pipe, socket or device; name another, or unset it");
  refused(link, "is a pipe, socket or device");
  refused("/dev/full", "is a pipe, socket or device");
  refused(nowhere, "is a link that leads nowhere");
  refused(folder / "itself", "cannot be written (Too many levels of symbolic links)");
  refused(folder / std::string(300, 'x'), "cannot be written (File name too long)");

  files::remove_all(folder);
}

TEST_SUITE_END();
