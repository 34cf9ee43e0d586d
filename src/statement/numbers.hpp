#pragma once
/// @file
/// The numbers that a program passes to a statement or to a new array: as a hash that is the same
/// on all processes, and for people.

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>

#include "src/statement/statement.hpp"

namespace tessera {

/// Hashes numbers. All NaNs are one number; 0.0 and -0.0 are two.
class HashNumbers final : public NumberVisitor {
 public:
  void signed_integer(std::int64_t value) override;
  void unsigned_integer(std::uint64_t value) override;
  void real(float value) override;
  void real(double value) override;
  void real(long double value) override;
  void structure(std::span<std::byte const> bytes) override;
  void position(std::size_t position) override;

  [[nodiscard]] std::uint64_t hash() const { return hash_; }

 private:
  std::uint64_t hash_ = 0;
};

/// Writes the first numbers of a list: "2, 0.5, ...".
class ListNumbers final : public NumberVisitor {
 public:
  /// About the most characters of a list.
  static constexpr std::size_t most = 80;

  void signed_integer(std::int64_t value) override;
  void unsigned_integer(std::uint64_t value) override;
  void real(float value) override;
  void real(double value) override;
  void real(long double value) override;
  void structure(std::span<std::byte const> bytes) override;
  void position(std::size_t position) override;

  [[nodiscard]] std::string const& list() const { return list_; }

 private:
  void add(std::string_view number);
  /// False once the list is full.
  [[nodiscard]] bool has_room() const { return list_.size() < most; }

  std::string list_;
};

/// A hash of the numbers in a statement's kernel; 0 if it contains none.
[[nodiscard]] std::uint64_t hash_of_numbers(Statement const& statement);
/// The same with the number of the loop's step, which a recording compares apart.
[[nodiscard]] std::uint64_t hash_with_step(Statement const& statement);
/// They and the number of the loop's step, for people: "2, 0.5, step 7"; empty if there are none.
[[nodiscard]] std::string list_of_numbers(Statement const& statement);

}  // namespace tessera
