#pragma once
/// @file
/// What of a statement can be told later, when its arrays may be gone.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "tessera/exchange/statement.hpp"

namespace tessera {

/// Made quickly, and put into words only where somebody asks.
class Summary {
 public:
  explicit Summary(Statement const& statement);

  /// "assignment of 8 cells (8,) to array 1 (10,), reads 2 slices of array 1 (10,); on ..."
  [[nodiscard]] std::string describe() const;

 private:
  struct Array {
    std::uint64_t number;
    std::shared_ptr<Layout const> layout;
    std::int64_t slices;

    [[nodiscard]] std::string name() const;
  };

  char const* kind_;
  Box indices_;
  std::optional<Array> target_;
  std::vector<Array> reads_;
  std::shared_ptr<Layout const> layout_;
};

}  // namespace tessera
