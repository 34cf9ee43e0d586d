#include "support/report.hpp"

#include <cinttypes>
#include <cmath>
#include <cstdio>
#include <fstream>

namespace examples {

std::string counted(std::int64_t n, std::string const& noun) {
  auto const plural = noun == "process" ? "es" : "s";
  return std::to_string(n) + ' ' + noun + (n == 1 ? "" : plural);
}

void Report::start(Program const& program, Options const& options, std::string const& workers) {
  std::string size;
  for (auto const n : options.cells) {
    size += (size.empty() ? "" : " x ") + std::to_string(n);
    cells_ *= static_cast<double>(n);
  }
  steps_ = options.steps;
  std::string const ends = options.periodic ? "joined ends" : "fixed ends";
  if (speaks_)
    std::printf("%s: %s cells, %s, %s; %s\n", program.name.c_str(), size.c_str(),
                counted(steps_, "step").c_str(), ends.c_str(), workers.c_str());
}

void Report::start_clock() {
  started_ = last_line_ = Clock::now();
}

void Report::progress(std::int64_t step) {
  if (!speaks_) return;
  auto const now = Clock::now();
  if (now - last_line_ < std::chrono::seconds(1)) return;
  last_line_ = now;
  std::printf("step      %" PRId64 " of %" PRId64 "\n", step, steps_);
  std::fflush(stdout);
}

void Report::stop_clock() {
  seconds_ = std::chrono::duration<double>(Clock::now() - started_).count();
}

void Report::stop_clock(std::int64_t steps) {
  stop_clock();
  steps_ = steps;
  if (speaks_) std::printf("steps     %" PRId64 "\n", steps);
}

void Report::picture(std::string const& drawn) {
  if (speaks_) std::fputs(drawn.c_str(), stdout);
}

void Report::file(std::string const& path, std::string const& bytes) {
  if (!speaks_) return;
  std::ofstream out(path, std::ios::binary);
  bool const written = out << bytes && out.flush();
  failed_ = failed_ || !written;
  std::printf("%-9s %s\n", written ? "picture" : "CANNOT WRITE", path.c_str());
}

void Report::total(char const* what, double before, double after, double allowed) {
  if (speaks_) std::printf("%-9s %.12g, %.12g at the start\n", what, after, before);
  auto const drift = std::abs(after - before) / std::abs(before);
  if (allowed == any_change || drift <= allowed) return;
  failed_ = true;
  if (speaks_)
    std::printf("%-9s drifted by %.2g of itself, more than %.2g\n", what, drift, allowed);
}

void Report::error(double error, double allowed) {
  bool const fine = error <= allowed;  // a NaN is not
  failed_ = failed_ || !fine;
  if (speaks_)
    std::printf("error     %.2g against the exact solution, %s %.2g\n", error,
                fine ? "allowed are" : "MORE THAN", allowed);
}

void Report::small(char const* what, double value, double wanted) {
  bool const fine = value <= wanted;  // a NaN is not
  failed_ = failed_ || !fine;
  if (speaks_)
    std::printf("%-9s %.2g, %s %.2g\n", what, value, fine ? "wanted are" : "MORE THAN", wanted);
}

void Report::check(char const* what, bool passed) {
  failed_ = failed_ || !passed;
  if (speaks_) std::printf("%-9s %s\n", what, passed ? "as expected" : "NOT AS EXPECTED");
}

void Report::time() {
  if (!speaks_ || steps_ == 0) return;
  auto const step = seconds_ / static_cast<double>(steps_);
  std::printf("time      %.3f s, %.2f us a step, %.3g cells a second\n", seconds_, step * 1e6,
              cells_ / step);
}

void Report::bits(std::uint64_t hash) {
  if (speaks_) std::printf("bits: %016" PRIx64 "\n", hash);
}

}  // namespace examples
