#pragma once
/// @file
/// A summary of a statement that remains valid after its arrays are gone.

#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "src/statement/statement.hpp"

namespace tessera {

/// Cheap to make; turned into text only on request.
class Summary {
 public:
  explicit Summary(Statement const& statement);
  /// Adds the statement's numbers, which its kernel holds no longer than the statement runs.
  void add_numbers(Statement const& statement);

  /// "assignment of 8 cells (8,) to array 1 (10,), reads 2 slices of array 1 (10,); on ...", with
  /// numbers "assignment of 8 cells (8,) with numbers [2, 0.5] to array 1 (10,), ..."
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
  std::string numbers_;
  std::optional<Array> target_;
  std::vector<Array> reads_;
  std::shared_ptr<Layout const> layout_;
};

}  // namespace tessera
