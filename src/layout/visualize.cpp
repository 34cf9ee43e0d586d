#include "tessera/layout/visualize.hpp"

#include <algorithm>
#include <array>
#include <charconv>
#include <cstdlib>
#include <vector>

#include <unistd.h>

#include "src/base/environment.hpp"
#include "src/base/text.hpp"
#include "src/index/index.hpp"
#include "src/layout/colors.hpp"
#include "src/layout/piece_of.hpp"

namespace tessera {
namespace {

constexpr std::size_t most_columns_of_bar = 16;
constexpr std::size_t most_rows = 16;
constexpr std::size_t most_columns = 8;
constexpr std::int64_t most_lines = 32;
constexpr std::size_t most_boxes = 4;  // on a line
constexpr std::int64_t most_copies = 4;
constexpr std::int64_t bar_width = 64;
constexpr std::int64_t gap = -1;  // in a list of piece numbers: those left out

std::string spaces(std::size_t count) {
  return std::string(count, ' ');
}

std::string centred(std::string const& words, std::size_t width) {
  auto const left = (width - words.size()) / 2;
  return spaces(left) + words + spaces(width - words.size() - left);
}

bool has_colors(Color color) {
  if (color != Color::automatic) return color == Color::always;
  if (auto const asked = colors_asked_for()) return *asked;
  if (environment("NO_COLOR") || environment("TERM") == "dumb") return false;
  return ::isatty(STDOUT_FILENO) == 1;
}

// Prints words on the background colours of devices.
class Brush {
 public:
  explicit Brush(Color color) : paints_(has_colors(color)) {}

  // `label` begins with the number of a device, or belongs to none.
  [[nodiscard]] std::string paint(std::string const& words, std::string const& label) const {
    std::uint64_t device = 0;
    auto const* const end = label.data() + label.size();
    if (!paints_ || std::from_chars(label.data(), end, device).ec != std::errc{}) return words;
    return text("\033[30;48;5;", colors[device % colors.size()], 'm', words, "\033[0m");
  }

 private:
  // Of the 256 that terminals have: light ones, so that black letters can be read, and neighbours
  // differ.
  static constexpr std::array<int, 12> colors{153, 217, 157, 222, 183, 159,
                                              216, 193, 189, 229, 151, 218};
  bool paints_;
};

std::string right_aligned(std::string const& words, std::size_t width) {
  return spaces(width - words.size()) + words;
}

Piece pieces_of(Layout const& layout, std::size_t d) {
  auto const extent = layout.shape()[d];
  return layout.sharding().cut(d).pieces_intersecting(extent, layout.sharding().ways(d), 0, extent);
}

// The numbers of the pieces of a dimension that have cells; of more than `most`, the first and
// last.
std::vector<std::int64_t> shown_pieces(Layout const& layout, std::size_t d, std::size_t most) {
  auto const all = pieces_of(layout, d);
  auto const has_cells = [&](std::int64_t k) { return piece_of(layout, d, k).size() > 0; };
  std::vector<std::int64_t> shown;
  for (auto k = all.lo; k < all.hi && shown.size() <= most; ++k)
    if (has_cells(k)) shown.push_back(k);
  if (shown.size() <= most) return shown;
  std::vector<std::int64_t> last;
  for (auto k = all.hi - 1; last.size() < most / 2; --k)
    if (has_cells(k)) last.push_back(k);
  shown.resize(most / 2);
  shown.push_back(gap);
  shown.insert(shown.end(), last.rbegin(), last.rend());
  return shown;
}

// "0,2": the devices that hold a piece.
std::string holders(Layout const& layout, Index const& pieces) {
  auto const& sharding = layout.sharding();
  auto const shown = std::min(sharding.replicas(), most_copies);
  std::vector<DeviceId> devices;
  for (std::int64_t copy = 0; copy < shown; ++copy)
    devices.push_back(layout.mesh().device_at(sharding.position_holding(pieces, copy)));
  return join(devices, "", shown < sharding.replicas() ? ",..." : "", ",");
}

std::string idle_devices(Layout const& layout) {
  auto const& sharding = layout.sharding();
  auto busy = sharding.replicas();
  for (std::size_t d = 0; d < layout.rank(); ++d)
    busy *= sharding.cut(d).ways_with_cells(layout.shape()[d], sharding.ways(d));
  auto const idle = layout.mesh().size() - busy;
  if (idle == 0) return "";
  return text(counted(idle, "device"), idle == 1 ? " holds" : " hold", " no cells\n");
}

// A bar of pieces, each as wide as its share of the cells and as its text allow.
std::string bar(Layout const& layout, Brush const& brush) {
  auto const cells_per_column = ceil_div(layout.cells(), bar_width);
  std::string bounds;
  std::string cells;
  std::int64_t end = 0;
  for (auto const k : shown_pieces(layout, 0, most_columns_of_bar)) {
    auto const piece = k == gap ? Piece{end, end} : piece_of(layout, 0, k);
    auto const label = k == gap ? "..." : holders(layout, {k});
    auto const lo = text(piece.lo);
    auto const columns =
        layout.cells() <= bar_width / 2 ? piece.size() * 2 : piece.size() / cells_per_column;
    auto const width = std::max({label.size() + 2, lo.size(),
                                 static_cast<std::size_t>(std::max<std::int64_t>(columns, 1)) - 1});
    bounds += lo + spaces(width + 1 - lo.size());
    cells += '|' + brush.paint(centred(label, width), label);
    end = piece.hi;
  }
  if (cells.empty()) return "";
  return text(bounds, end, '\n', cells, "|\n");
}

std::string bounds_of(Layout const& layout, std::size_t d, std::int64_t k) {
  if (k == gap) return "...";
  auto const piece = piece_of(layout, d, k);
  return text(piece.lo, ':', piece.hi);
}

// The texts of a grid: a row of column bounds first, then per row its bounds and its devices.
std::vector<std::vector<std::string>> grid_texts(Layout const& layout) {
  auto const rows = shown_pieces(layout, 0, most_rows);
  auto const columns = shown_pieces(layout, 1, most_columns);
  std::vector<std::vector<std::string>> texts{{""}};
  for (auto const c : columns) texts.front().push_back(bounds_of(layout, 1, c));
  for (auto const r : rows) {
    texts.push_back({bounds_of(layout, 0, r)});
    for (auto const c : columns)
      texts.back().push_back(r == gap || c == gap ? "..." : holders(layout, {r, c}));
  }
  return texts;
}

std::string grid(Layout const& layout, Brush const& brush) {
  auto const texts = grid_texts(layout);
  if (layout.cells() == 0) return "";
  std::vector<std::size_t> widths(texts.front().size(), 0);
  for (auto const& row : texts)
    for (std::size_t c = 0; c < row.size(); ++c) widths[c] = std::max(widths[c], row[c].size());

  std::string head = spaces(widths[0] + 1);
  std::string line = spaces(widths[0] + 1) + '+';
  for (std::size_t c = 1; c < widths.size(); ++c) {
    head += ' ' + centred(texts[0][c], widths[c] + 2);
    line += std::string(widths[c] + 2, '-') + '+';
  }
  head.erase(head.find_last_not_of(' ') + 1);
  std::string result = text(head, '\n', line, '\n');
  for (std::size_t r = 1; r < texts.size(); ++r) {
    result += right_aligned(texts[r][0], widths[0]) + " |";
    for (std::size_t c = 1; c < widths.size(); ++c)
      result += brush.paint(centred(texts[r][c], widths[c] + 2), texts[r][c]) + '|';
    result += text('\n', line, '\n');
  }
  return result;
}

// The boxes that have cells; of many the first.
std::string boxes_text(Layout const& layout, DeviceId device) {
  std::vector<std::string> boxes;
  layout.visit_boxes(device, whole(layout.shape()), [&](std::size_t, Box const& box) {
    if (boxes.size() <= most_boxes) boxes.push_back(text(box));
  });
  if (boxes.empty()) return "no cells";
  if (boxes.size() > most_boxes) boxes.back() = "...";
  return join(boxes);
}

std::string list(Layout const& layout, Brush const& brush) {
  auto const size = layout.mesh().size();
  std::string result;
  for (std::int64_t position = 0; position < std::min(size, most_lines); ++position) {
    auto const device = layout.mesh().device_at(position);
    result += text(brush.paint(text("device ", device), text(device)), ": ",
                   boxes_text(layout, device), '\n');
  }
  if (size > most_lines)
    result += text("... and ", counted(size - most_lines, "device"), " more\n");
  return result;
}

}  // namespace

std::optional<bool> colors_asked_for() {
  auto const word = environment_choice("TESSERA_COLOR", {"always", "never"});
  return word ? std::optional(*word == "always") : std::nullopt;
}

std::string visualize(Layout const& layout, Color color) {
  Brush const brush(color);
  auto const head = text(layout, '\n');
  // A device that holds a partial result is drawn as if it held a copy.
  Layout const drawn(layout.sharding().without_partial(), layout.shape());
  if (drawn.rank() == 1) return head + bar(drawn, brush) + idle_devices(drawn);
  if (drawn.rank() == 2) return head + grid(drawn, brush) + idle_devices(drawn);
  return head + list(drawn, brush);
}

}  // namespace tessera
