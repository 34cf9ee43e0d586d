// Conway's Game of Life on a torus: eight neighbours, corners included, by shift. A fleet of
// gliders flies one cell down and one to the right in every four generations, so the end is known.
#include <array>
#include <string_view>

#include <tessera/tessera.hpp>

#include "support/options.hpp"
#include "support/picture.hpp"
#include "support/report.hpp"
#include "support/run.hpp"

namespace ts = tessera;

namespace {

constexpr std::int64_t spacing = 16;  // from one glider to the next, and the smallest board

/// Whether a cell lives after some generations.
bool lives_after(std::int64_t generations, std::int64_t row, std::int64_t column,
                 std::vector<std::int64_t> const& board) {
  constexpr std::array<std::string_view, 4> phases{
      ".#.."
      "..#."
      "###."
      "....",
      "...."
      "#.#."
      ".##."
      ".#..",
      "...."
      "..#."
      "#.#."
      ".##.",
      "...."
      ".#.."
      "..##"
      ".##."};
  auto const flown = generations / 4;
  auto const y = ts::floor_mod(row - flown, board[0]);
  auto const x = ts::floor_mod(column - flown, board[1]);
  bool const whole = y / spacing < board[0] / spacing && x / spacing < board[1] / spacing;
  if (!whole || y % spacing > 3 || x % spacing > 3) return false;
  auto const& phase = phases[static_cast<std::size_t>(generations % 4)];
  return phase[static_cast<std::size_t>(y % spacing * 4 + x % spacing)] == '#';
}

void simulate(examples::Options const& options, examples::Report& report) {
  auto const& board = options.cells;
  ts::Mesh mesh({{"y", options.mesh[0]}, {"x", options.mesh[1]}});
  ts::NamedSharding tiles(mesh, ts::P("y", "x"));
  auto const gliders_after = [&](std::int64_t generations) {
    return ts::from_index<std::uint8_t>({board[0], board[1]}, tiles, [&](auto i) {
      return lives_after(generations, i[0], i[1], board) ? 1 : 0;
    });
  };
  auto u = gliders_after(0);
  auto const population_at_start = static_cast<std::uint64_t>(ts::sum(u));

  auto const seen_from = [&](std::int64_t down, std::int64_t right) {
    return ts::shift(u, {down, right}, ts::periodic);
  };
  report.start_clock();
  for (std::int64_t step = 0; step < options.steps; ++step) {
    auto const neighbours = seen_from(-1, -1) + seen_from(-1, 0) + seen_from(-1, 1) +
                            seen_from(0, -1) + seen_from(0, 1) + seen_from(1, -1) +
                            seen_from(1, 0) + seen_from(1, 1);
    u = (neighbours | u) == 3;  // three neighbours, or two and alive itself
    report.progress(step);
  }
  ts::synchronize();
  report.stop_clock();

  if (options.picture) {
    auto const corner =
        u(ts::range(0, examples::picture_rows), ts::range(0, examples::picture_columns));
    report.picture(examples::draw_cells(corner.to_host(), corner.extents()[1]));
  }
  report.total("alive", static_cast<double>(population_at_start),
               static_cast<double>(static_cast<std::uint64_t>(ts::sum(u))), 0);
  report.check("gliders", ts::all_equal(u, gliders_after(options.steps)));
  report.time();
  report.bits(ts::hash(u));
}

}  // namespace

int main(int argc, char** argv) {
  ts::Runtime runtime(argc, argv);
  return examples::run(argc, argv,
                       {.name = "life",
                        .description = "The Game of Life on a torus",
                        .defaults = {.cells = {1024, 1024}, .steps = 1000, .periodic = true},
                        .smallest_extent = spacing,
                        .chooses_ends = false},
                       simulate);
}
