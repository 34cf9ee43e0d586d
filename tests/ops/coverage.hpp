#pragma once
/// @file
/// Which combinations of features the random programs came across, two by two.

#include <algorithm>
#include <array>
#include <cstdint>
#include <iostream>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "src/base/text.hpp"

namespace tessera::test {

/// What is noted of one dimension of one array that a statement reads.
enum class Feature : std::uint8_t { map, boundary, step, alias, cut, shards, type, mesh, count };

inline constexpr auto feature_count = static_cast<std::size_t>(Feature::count);

/// The names of each feature's values, in the order of their numbers.
inline std::array<std::vector<std::string_view>, feature_count> const& feature_values() {
  static std::array<std::vector<std::string_view>, feature_count> const values{{
      {"same cell", "offset", "scaled", "reversed", "repeated", "dropped", "permuted"},
      {"no boundary", "periodic", "constant", "edge", "reflect", "symmetric"},
      {"step 1", "step above 1", "step below 0"},
      {"other array", "same cells", "overlapping", "apart"},
      {"uncut", "balanced", "ceil", "strict", "unit", "explicit", "segments", "cyclic"},
      {"no empty shard", "empty shards"},
      {"double", "float", "int64", "int32"},
      {"same sharding", "same mesh", "other mesh"},
  }};
  return values;
}

/// One value per feature.
struct Combination {
  std::array<std::size_t, feature_count> values{};
  std::size_t& operator[](Feature feature) { return values[static_cast<std::size_t>(feature)]; }
};

/// True for two values that no statement of the menu can have at once.
[[nodiscard]] inline bool is_infeasible(std::string_view a, std::string_view b) {
  struct Rule {
    std::string_view a;
    std::vector<std::string_view> with;
  };
  static std::vector<Rule> const rules{
      // A dimension that nothing moves has no step, and is not shifted.
      {"repeated",
       {"step above 1", "step below 0", "periodic", "constant", "edge", "reflect", "symmetric"}},
      {"dropped",
       {"step above 1", "step below 0", "periodic", "constant", "edge", "reflect", "symmetric"}},
      // Shifted programs on slices of their own take the same slice on both sides.
      {"same cell", {"periodic", "constant", "edge", "reflect", "symmetric"}},
      {"permuted", {"periodic", "constant", "edge", "reflect", "symmetric"}},
      // One array has one sharding.
      {"same cells",
       {"same mesh", "other mesh", "offset", "scaled", "reversed", "repeated", "dropped",
        "permuted", "periodic", "constant", "edge", "reflect", "symmetric"}},
      {"overlapping", {"same mesh", "other mesh"}},
      {"apart", {"same mesh", "other mesh"}},
  };
  auto const ruled_out = [](std::string_view x, std::string_view y) {
    return std::any_of(rules.begin(), rules.end(), [&](Rule const& rule) {
      return rule.a == x && std::find(rule.with.begin(), rule.with.end(), y) != rule.with.end();
    });
  };
  return ruled_out(a, b) || ruled_out(b, a);
}

/// Counts pairs of values. One per process of the tests.
class Coverage {
 public:
  [[nodiscard]] static Coverage& instance() {
    static Coverage coverage;
    return coverage;
  }

  void note(Combination const& seen) {
    ++noted_;
    for (std::size_t f = 0; f < feature_count; ++f)
      for (std::size_t g = f + 1; g < feature_count; ++g)
        ++counts_[f][g][seen.values[f]][seen.values[g]];
  }

  /// How many combinations were noted.
  [[nodiscard]] std::int64_t noted() const { return noted_; }

  /// The pairs that came up less than `least` times though they can.
  [[nodiscard]] std::vector<std::string> rare(std::int64_t least) const {
    std::vector<std::string> pairs;
    visit([&](std::string_view a, std::string_view b, std::int64_t count) {
      if (count < least && !is_infeasible(a, b)) pairs.push_back(text(a, " with ", b, ": ", count));
    });
    return pairs;
  }

  void print(std::ostream& out) const {
    std::int64_t feasible = 0;
    std::int64_t fewest = -1;
    visit([&](std::string_view a, std::string_view b, std::int64_t count) {
      out << a << " with " << b << ": " << count;
      if (is_infeasible(a, b)) {
        out << (count == 0 ? " (cannot be)" : " (was thought not to be)");
      } else {
        ++feasible;
        fewest = fewest < 0 ? count : std::min(fewest, count);
      }
      out << '\n';
    });
    out << feasible << " pairs that can be, each at least " << fewest << " times\n";
  }

 private:
  template <class Visit>
  void visit(Visit const& visit_pair) const {
    auto const& names = feature_values();
    for (std::size_t f = 0; f < feature_count; ++f)
      for (std::size_t g = f + 1; g < feature_count; ++g)
        for (std::size_t a = 0; a < names[f].size(); ++a)
          for (std::size_t b = 0; b < names[g].size(); ++b)
            visit_pair(names[f][a], names[g][b], counts_[f][g][a][b]);
  }

  static constexpr std::size_t most_values = 8;
  using Table = std::array<std::array<std::int64_t, most_values>, most_values>;
  std::array<std::array<Table, feature_count>, feature_count> counts_{};
  std::int64_t noted_ = 0;
};

}  // namespace tessera::test
