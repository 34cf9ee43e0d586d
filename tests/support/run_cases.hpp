#pragma once
/// @file
/// Runs the cases of a test program, for its main function. A run also fails if it shows nothing: a
/// filter that selects no case, or a case that checks nothing and does not say why.

#include <cctype>
#include <cstddef>
#include <cstdint>
#include <ostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include <doctest/doctest.h>

namespace tessera::test {

/// The names after --test-suite= or --test-case= that a run was started with.
struct CaseFilters {
  std::vector<std::string> suites;
  std::vector<std::string> cases;
};

/// True if the pattern, in which * stands for anything, describes all of `text`; upper and lower
/// case are the same, as doctest has it.
[[nodiscard]] inline bool matches(std::string_view pattern, std::string_view text) {
  if (pattern.empty()) return text.empty();
  if (pattern.front() == '*') {
    return matches(pattern.substr(1), text) || (!text.empty() && matches(pattern, text.substr(1)));
  }
  auto const lower = [](char c) { return std::tolower(static_cast<unsigned char>(c)); };
  return !text.empty() && lower(pattern.front()) == lower(text.front()) &&
         matches(pattern.substr(1), text.substr(1));
}

/// Reads the filters as doctest does: names are separated by commas that no backslash precedes.
[[nodiscard]] inline std::vector<std::string> split_names(std::string_view list) {
  std::vector<std::string> names(1);
  for (std::size_t i = 0; i < list.size(); ++i) {
    bool const is_escaped =
        list[i] == '\\' && i + 1 < list.size() && (list[i + 1] == ',' || list[i + 1] == '\\');
    if (is_escaped) {
      names.back() += list[++i];
    } else if (list[i] == ',') {
      names.emplace_back();
    } else {
      names.back() += list[i];
    }
  }
  std::erase(names, std::string());
  return names;
}

[[nodiscard]] inline CaseFilters read_filters(int argc, char const* const* argv) {
  CaseFilters filters;
  for (int i = 1; i < argc; ++i) {
    std::string_view const argument = argv[i];
    auto const read = [&](std::string_view option, std::vector<std::string>& names) {
      if (!argument.starts_with(option)) return;
      for (auto& name : split_names(argument.substr(option.size()))) names.push_back(name);
    };
    for (std::string const dashes : {"-", "--", "--dt-", "-dt-"}) {
      read(dashes + "test-suite=", filters.suites);
      read(dashes + "ts=", filters.suites);
      read(dashes + "test-case=", filters.cases);
      read(dashes + "tc=", filters.cases);
    }
  }
  return filters;
}

/// Notes which cases ran, and those that checked nothing.
class CaseListener : public doctest::IReporter {
 public:
  explicit CaseListener(doctest::ContextOptions const& /*options*/) {}

  struct Case {
    std::string suite;
    std::string name;
    bool shows_something = false;  ///< it checked something, said something or failed
  };

  [[nodiscard]] static std::vector<Case>& cases() {
    static std::vector<Case> all;
    return all;
  }

  void test_case_start(doctest::TestCaseData const& data) override {
    cases().push_back({data.m_test_suite, data.m_name});
  }
  void test_case_end(doctest::CurrentTestCaseStats const& stats) override {
    if (stats.numAssertsCurrentTest > 0 || stats.failure_flags != 0) {
      cases().back().shows_something = true;
    }
  }
  void log_message(doctest::MessageData const& /*message*/) override {
    if (!cases().empty()) cases().back().shows_something = true;
  }

  void report_query(doctest::QueryData const& /*query*/) override {}
  void test_run_start() override {}
  void test_run_end(doctest::TestRunStats const& /*stats*/) override {}
  void test_case_reenter(doctest::TestCaseData const& /*data*/) override {}
  void test_case_exception(doctest::TestCaseException const& /*exception*/) override {}
  void subcase_start(doctest::SubcaseSignature const& /*subcase*/) override {}
  void subcase_end() override {}
  void log_assert(doctest::AssertData const& /*assertion*/) override {}
  void test_case_skipped(doctest::TestCaseData const& /*data*/) override {}
};

/// Which filters selected none of these cases: one sentence each.
[[nodiscard]] inline std::vector<std::string> idle_filters(
    std::vector<CaseListener::Case> const& cases, CaseFilters const& filters) {
  std::vector<std::string> faults;
  if (cases.empty()) faults.emplace_back("no test case was run");
  auto const expect = [&](std::string const& pattern, std::string CaseListener::Case::*field) {
    for (auto const& one : cases) {
      if (matches(pattern, one.*field)) return;
    }
    faults.push_back("the filter '" + pattern + "' selected no test case");
  };
  for (auto const& pattern : filters.suites) expect(pattern, &CaseListener::Case::suite);
  for (auto const& pattern : filters.cases) expect(pattern, &CaseListener::Case::name);
  return faults;
}

/// Which of these cases showed nothing: one sentence each.
[[nodiscard]] inline std::vector<std::string> idle_cases(
    std::vector<CaseListener::Case> const& cases) {
  std::vector<std::string> faults;
  for (auto const& one : cases) {
    if (one.shows_something) continue;
    faults.push_back("the test case '" + one.name +
                     "' checked nothing and did not say why with MESSAGE");
  }
  return faults;
}

/// The command line of a test program, and how many processes run it.
struct CaseRun {
  int argc;
  char const* const* argv;
  std::int64_t processes = 1;
};

/// Runs the cases that the arguments select, and prints to `out` why the run shows nothing, if so.
/// Returns the exit code of the program. Of several processes some may have nothing to check in a
/// case, so only a process that is alone must check something in each.
[[nodiscard]] inline int run_cases(doctest::Context& context, CaseRun const& run,
                                   std::ostream& out) {
  int const result = context.run();
  if (context.shouldExit()) return result;  // it only listed the cases, or printed a version
  auto const& cases = CaseListener::cases();
  auto faults = idle_filters(cases, read_filters(run.argc, run.argv));
  if (run.processes == 1) {
    for (auto& fault : idle_cases(cases)) faults.push_back(std::move(fault));
  }
  for (auto const& fault : faults) out << "error: " << fault << '\n';
  return faults.empty() ? result : 1;
}

}  // namespace tessera::test

DOCTEST_REGISTER_LISTENER("cases", 1, tessera::test::CaseListener);
