#include "src/plan/loop_variables.hpp"

#include <charconv>
#include <string>
#include <string_view>

#include "tessera/base/error.hpp"

#include "src/base/environment.hpp"
#include "src/base/text.hpp"

namespace tessera {
namespace {

[[noreturn]] void refuse_tile(std::string_view value) {
  throw ConfigError(text("TESSERA_TILE=", excerpt(value),
                         " is not a list of cells per dimension, as 64x256; fix or unset it"));
}

Shape tile_from(std::string_view value) {
  Shape tile;
  for (auto rest = value;; rest.remove_prefix(1)) {
    std::int64_t extent = -1;
    auto const [end, error] = std::from_chars(rest.data(), rest.data() + rest.size(), extent);
    if (error != std::errc() || extent < 0 || tile.size() == max_rank) refuse_tile(value);
    tile.push_back(extent);
    rest.remove_prefix(static_cast<std::size_t>(end - rest.data()));
    if (rest.empty()) return tile;
    if (rest.front() != 'x') refuse_tile(value);
  }
}

std::optional<bool> switched(std::string_view name) {
  auto const choice = environment_choice(name, {"0", "1"});
  return choice ? std::optional(*choice == "1") : std::nullopt;
}

}  // namespace

LoopVariables LoopVariables::from_environment() {
  LoopVariables found;
  found.depth = environment_integer("TESSERA_DEPTH", 1);
  if (auto const extents = environment("TESSERA_TILE")) found.tile = tile_from(*extents);
  found.overlap = switched("TESSERA_OVERLAP");
  found.graphs = switched("TESSERA_GRAPHS");
  return found;
}

bool steps_overlap() {
  return switched("TESSERA_OVERLAP").value_or(true);
}

}  // namespace tessera
