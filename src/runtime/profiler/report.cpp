#include <algorithm>
#include <cstdio>
#include <cstring>
#include <iomanip>
#include <numeric>

#include "src/base/text.hpp"
#include "src/runtime/profiler/observer.hpp"

namespace tessera {
namespace {

// A table of texts: the first two columns begin where they begin, the others end where they end.
std::string aligned(std::vector<std::vector<std::string>> const& rows) {
  std::vector<std::size_t> widths(rows.front().size(), 0);
  for (auto const& row : rows)
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());
  TextStream out;
  for (auto const& row : rows) {
    for (std::size_t c = 0; c < row.size(); ++c)
      out << (c < 2 ? std::left : std::right) << std::setw(static_cast<int>(widths[c])) << row[c]
          << (c + 1 == row.size() ? "\n" : "  ");
  }
  return std::move(out).str();
}

std::string seconds(std::int64_t ns) {
  return text(std::fixed, std::setprecision(6), static_cast<double>(ns) * 1e-9);
}

std::string imbalance(std::int64_t most, std::int64_t sum, std::int64_t devices) {
  if (sum == 0) return "-";
  auto const of_mean =
      static_cast<double>(most) * static_cast<double>(devices) / static_cast<double>(sum);
  return text(std::fixed, std::setprecision(2), of_mean);
}

// The routes of GPUs have columns only where something went by them.
std::vector<Route> routes_of(ReportNumbers const& all) {
  std::vector<Route> routes;
  for (std::size_t r = 0; r < route_count; ++r) {
    auto const route = static_cast<Route>(r);
    if (route <= Route::mpi || all.bytes[r] > 0) routes.push_back(route);
  }
  return routes;
}

std::vector<std::string> cells_of(ReportNumbers const& numbers, std::string const& location,
                                  std::string const& kind, std::int64_t devices,
                                  std::span<Route const> routes) {
  std::vector<std::string> cells{location, kind, text(numbers.runs)};
  for (auto const time : numbers.times_ns) cells.push_back(seconds(time));
  cells.push_back(imbalance(numbers.most_ns[0], numbers.times_ns[0], devices));
  cells.push_back(text(numbers.messages));
  for (auto const route : routes) {
    auto const bytes = numbers.bytes[static_cast<std::size_t>(route)];
    cells.push_back(bytes == 0 ? "-" : bytes_text(bytes));
  }
  return cells;
}

std::int64_t time_of(ReportNumbers const& numbers) {
  return std::accumulate(numbers.times_ns.begin(), numbers.times_ns.end(), std::int64_t{0});
}

}  // namespace

void ReportNumbers::add(ReportNumbers const& other) {
  for (std::size_t p = 0; p < phase_count; ++p) {
    times_ns[p] += other.times_ns[p];
    most_ns[p] = std::max(most_ns[p], other.most_ns[p]);
  }
  messages += other.messages;
  for (std::size_t r = 0; r < bytes.size(); ++r) bytes[r] += other.bytes[r];
  runs = std::max(runs, other.runs);
  most_messages = std::max(most_messages, other.most_messages);
}

std::vector<ReportNumbers> Observer::numbers() const {
  std::vector<ReportNumbers> result(observed_.size() + 1);
  auto& all = result.back();
  for (std::size_t row = 0; row < observed_.size(); ++row) {
    auto& line = result[row];
    line.runs = observed_[row].runs;
    line.messages = line.most_messages = observed_[row].messages;
    line.bytes = observed_[row].bytes;
    for (auto const& timer : timers_)
      for (std::size_t p = 0; p < phase_count; ++p) {
        line.times_ns[p] += timer.times(row)[p];
        line.most_ns[p] = std::max(line.most_ns[p], timer.times(row)[p]);
      }
    auto const runs = all.runs + line.runs;
    all.add(line);
    all.runs = runs;
  }
  all.most_ns = all.times_ns;
  all.most_messages = all.messages;
  return result;
}

std::string Observer::report(std::span<ReportNumbers const> numbers,
                             std::string_view only_here) const {
  bool const is_of_all = only_here.empty();
  auto const devices = is_of_all ? job_.device_count() : job_.local_count();
  std::vector<std::size_t> order(numbers.size() - 1);
  std::iota(order.begin(), order.end(), std::size_t{0});
  std::erase_if(order, [&](std::size_t row) { return numbers[row].runs == 0; });
  std::stable_sort(order.begin(), order.end(), [&](std::size_t a, std::size_t b) {
    return time_of(numbers[a]) > time_of(numbers[b]);
  });

  std::vector<std::vector<std::string>> rows{
      {"place", "statement", "runs", "kernel s", "pack s", "wait s", "imbalance", "messages"}};
  auto const& all = numbers.back();
  auto const routes = routes_of(all);
  for (auto const route : routes) rows.front().emplace_back(to_string(route));
  for (auto const row : order)
    rows.push_back(cells_of(numbers[row], row == 0 ? "(others)" : text(observed_[row].location),
                            row == 0 ? "" : observed_[row].kind, devices, routes));
  rows.push_back(cells_of(all, "all", "", devices, routes));
  rows.back()[6] = "";

  auto const where =
      is_of_all ? text(counted(job_.device_count(), "device"), " of ",
                       job_.process_count() == 1 ? text("1 process")
                                                 : text(job_.process_count(), " processes"))
                : text("process ", job_.self(), " alone, since ", only_here);
  auto result =
      text("tessera: report of ", where, "; times are sums over devices\n", aligned(rows));
  if (is_of_all && job_.process_count() > 1)
    result += text("largest values of any one process: kernel ", seconds(all.most_ns[0]),
                   " s, pack ", seconds(all.most_ns[1]), " s, wait ", seconds(all.most_ns[2]),
                   " s, ", counted(all.most_messages, "message"), '\n');
  return result;
}

void Observer::print_report(std::span<ReportNumbers const> numbers,
                            std::string_view only_here) const {
  auto const words = report(numbers, only_here);
  std::fwrite(words.data(), 1, words.size(), stderr);
}

}  // namespace tessera
