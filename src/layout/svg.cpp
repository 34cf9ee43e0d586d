#include <algorithm>
#include <array>
#include <cerrno>
#include <cmath>
#include <cstdio>
#include <cstring>
#include <iomanip>
#include <vector>

#include "tessera/base/error.hpp"
#include "tessera/layout/visualize.hpp"

#include "src/base/file_bytes.hpp"
#include "src/base/text.hpp"
#include "src/layout/piece_of.hpp"

namespace tessera {
namespace {

constexpr double picture_width = 640;  // of all slabs together, in pixels
constexpr double most_height = 640;    // of a slab
constexpr double least_side = 24;      // of a slab, however thin the array
constexpr double bar_height = 48;      // of one dimension
constexpr double margin = 12;
constexpr double line_height = 20;
constexpr double letter_width = 6.8;
constexpr double slab_gap = 16;
constexpr std::int64_t most_drawn = 65536;
constexpr std::int64_t most_named = 4;

struct Rectangle {
  double x, y, width, height;
};

// "#9ad0f5": hues a golden angle apart, so that neighbours differ.
std::string colour_of(DeviceId device) {
  auto const turn = static_cast<double>(device.value()) * 0.6180339887498949;
  auto const hue = 6 * (turn - std::floor(turn));
  auto const part = [&](double shift) {
    auto const k = std::fmod(shift + hue, 6.0);
    auto const strength = std::clamp(std::min(k, 4 - k), 0.0, 1.0);
    return static_cast<int>(std::lround(255 * (0.96 - 0.38 * strength)));
  };
  std::array<char, 8> digits{};
  std::snprintf(digits.data(), digits.size(), "#%02x%02x%02x", part(5), part(3), part(1));
  return digits.data();
}

std::string escaped(std::string const& words) {
  std::string result;
  for (char const c : words) {
    if (c == '<')
      result += "&lt;";
    else if (c == '>')
      result += "&gt;";
    else if (c == '&')
      result += "&amp;";
    else
      result += c;
  }
  return result;
}

// The numbers of the pieces of a dimension that have cells.
std::vector<std::int64_t> filled_pieces(Layout const& layout, std::size_t d) {
  auto const extent = layout.shape()[d];
  auto const all =
      layout.sharding().cut(d).pieces_intersecting(extent, layout.sharding().ways(d), 0, extent);
  if (all.size() > most_drawn)
    throw UsageError(text("a picture of ", layout, " would have more than ", most_drawn,
                          " boxes; draw a smaller layout, or use visualize"));
  std::vector<std::int64_t> filled;
  for (auto k = all.lo; k < all.hi; ++k)
    if (piece_of(layout, d, k).size() > 0) filled.push_back(k);
  return filled;
}

class Picture {
 public:
  explicit Picture(Layout const& layout)
      : title_(text(layout)), layout_(layout.sharding().without_partial(), layout.shape()) {
    std::int64_t boxes = 1;
    for (std::size_t d = 0; d < layout.rank(); ++d) {
      pieces_.push_back(filled_pieces(layout, d));
      boxes *= std::ssize(pieces_.back());
      if (boxes > most_drawn)
        throw UsageError(text("a picture of ", layout, " would have more than ", most_drawn,
                              " boxes; draw a smaller layout, or use visualize"));
    }
    if (boxes == 0) return;  // no cells, no slabs
    auto const rank = layout.rank();
    auto const slabs = rank == 3 ? std::ssize(pieces_[0]) : 1;
    auto const rows = rank == 1 ? 1.0 : static_cast<double>(layout.shape()[rank - 2]);
    auto const columns = static_cast<double>(layout.shape()[rank - 1]);
    width_ = std::max(picture_width / static_cast<double>(slabs) - slab_gap, 2 * least_side);
    height_ = rank == 1 ? bar_height : std::clamp(width_ * rows / columns, least_side, most_height);
    if (rank > 1 && height_ == most_height)
      width_ = std::clamp(most_height * columns / rows, least_side, width_);
    draw_slabs(slabs);
  }

  [[nodiscard]] std::string whole() const {
    auto const title = escaped(title_);
    auto const of_title =
        letter_width * static_cast<double>(std::min<std::size_t>(title.size(), 150));
    auto const width = std::max(right_, margin + of_title) + margin;
    auto const height = 2 * margin + 2 * line_height + height_;
    TextStream out;
    out << std::fixed << std::setprecision(2)
        << R"(<svg xmlns="http://www.w3.org/2000/svg" width=")" << width << R"(" height=")"
        << height << R"(" viewBox="0 0 )" << width << ' ' << height
        << R"(" font-family="sans-serif" font-size="12">)" << '\n'
        << "<title>" << title << "</title>\n"
        << R"(<rect width="100%" height="100%" fill="white"/>)" << '\n'
        << R"(<text x=")" << margin << R"(" y=")" << margin + 12 << R"(">)" << title << "</text>\n"
        << body_.str() << "</svg>\n";
    return std::move(out).str();
  }

 private:
  void draw_slabs(std::int64_t slabs) {
    body_ << std::fixed << std::setprecision(2);
    for (std::int64_t s = 0; s < slabs; ++s) {
      Index pieces;
      auto const x = margin + static_cast<double>(s) * (width_ + slab_gap);
      if (layout_.rank() == 3) {
        pieces.push_back(pieces_[0][static_cast<std::size_t>(s)]);
        auto const piece = piece_of(layout_, 0, pieces[0]);
        body_ << R"(<text x=")" << x << R"(" y=")" << margin + line_height + 12 << R"(">)"
              << piece.lo << ':' << piece.hi << "</text>\n";
      }
      draw_slab(pieces, x);
      right_ = x + width_;
    }
  }

  void draw_slab(Index const& before, double x) {
    auto const rank = layout_.rank();
    if (rank == 1) {
      for (auto const k : pieces_[0]) draw_box({k}, x);
      return;
    }
    for (auto const r : pieces_[rank - 2])
      for (auto const c : pieces_[rank - 1]) {
        auto pieces = before;
        pieces.push_back(r);
        pieces.push_back(c);
        draw_box(pieces, x);
      }
  }

  // Where pieces [lo, hi) of an extent come to lie on `length` pixels.
  static std::array<double, 2> stretch(Piece const& piece, std::int64_t extent, double length) {
    auto const scale = length / static_cast<double>(extent);
    return {static_cast<double>(piece.lo) * scale, static_cast<double>(piece.size()) * scale};
  }

  [[nodiscard]] Rectangle place_of(Index const& pieces, double x) const {
    auto const rank = layout_.rank();
    auto const& shape = layout_.shape();
    auto const top = margin + 2 * line_height;
    auto const across =
        stretch(piece_of(layout_, rank - 1, pieces[rank - 1]), shape[rank - 1], width_);
    std::array<double, 2> down{0, height_};
    if (rank > 1)
      down = stretch(piece_of(layout_, rank - 2, pieces[rank - 2]), shape[rank - 2], height_);
    return {x + across[0], top + down[0], across[1], down[1]};
  }

  [[nodiscard]] std::vector<DeviceId> holders(Index const& pieces, std::int64_t most) const {
    auto const& sharding = layout_.sharding();
    std::vector<DeviceId> devices;
    for (std::int64_t copy = 0; copy < std::min(sharding.replicas(), most); ++copy)
      devices.push_back(layout_.mesh().device_at(sharding.position_holding(pieces, copy)));
    return devices;
  }

  void draw_box(Index const& pieces, double x) {
    auto const at = place_of(pieces, x);
    auto const devices = holders(pieces, most_named);
    auto const more = layout_.sharding().replicas() > most_named;
    auto const label = join(devices, "", more ? ",..." : "", ",");
    auto const box = layout_.sharding().piece_box(pieces, layout_.shape());
    body_ << R"(<rect x=")" << at.x << R"(" y=")" << at.y << R"(" width=")" << at.width
          << R"(" height=")" << at.height << R"(" fill=")" << colour_of(devices.front())
          << R"(" stroke="black" stroke-width="0.5"><title>device )" << label << ": "
          << escaped(text(box)) << "</title></rect>\n";
    if (at.width < 8.0 * static_cast<double>(label.size()) || at.height < 12) return;
    body_ << R"(<text text-anchor="middle" x=")" << at.x + at.width / 2 << R"(" y=")"
          << at.y + at.height / 2 + 4 << R"(">)" << label << "</text>\n";
  }

  std::string title_;
  Layout layout_;  // partial results are drawn as copies
  std::vector<std::vector<std::int64_t>> pieces_;
  double width_ = 0;  // of a slab
  double height_ = 0;
  double right_ = 0;  // end of the last slab
  TextStream body_;
};

}  // namespace

std::string visualize_svg(Layout const& layout) {
  if (layout.rank() < 1 || layout.rank() > 3)
    throw ShapeError(text("a picture shows 1 to 3 dimensions, and ", layout, " has ", layout.rank(),
                          "; visualize lists the boxes of any number"));
  return Picture(layout).whole();
}

void save_svg(std::string const& path, Layout const& layout) {
  if (!write_file(path, visualize_svg(layout)))
    throw Error(text("the picture cannot be written to ", printable(path), ": ",
                     std::strerror(errno), "; name a file in a folder that is there"));
}

}  // namespace tessera
