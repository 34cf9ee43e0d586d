#pragma once
/// @file
/// What is found, as a tree that is printed for people or as JSON: both show the same.

#include <cstdint>
#include <deque>
#include <optional>
#include <ostream>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

namespace info {

/// What a number counts or measures. People read it behind the number, programs in the key.
enum class Unit : std::uint8_t { none, bytes, microseconds, gigabytes_per_second, cores };

/// An entry of the report: a value, or entries of its own.
class Entry {
 public:
  using Value = std::variant<std::monostate, bool, std::int64_t, double, std::string>;

  explicit Entry(std::string name) : name_(std::move(name)) {}

  /// A value below this entry.
  Entry& add(std::string name, Value value, Unit unit = Unit::none);
  /// The same, where there is one.
  void add_if(std::string name, std::optional<std::int64_t> const& value);
  /// An entry for further ones.
  Entry& section(std::string name);
  /// A list of entries that have no name; people read each in a line.
  Entry& list(std::string name);
  Entry& item();

  void print_text(std::ostream& out, int depth = 0) const;
  void print_json(std::ostream& out, int depth = 0) const;

 private:
  [[nodiscard]] std::string value_text() const;
  [[nodiscard]] std::string json_key() const;
  void print_line(std::ostream& out) const;
  void print_json_value(std::ostream& out) const;

  std::string name_;
  Value value_;
  Unit unit_ = Unit::none;
  bool is_list_ = false;
  std::deque<Entry> entries_;  // references to them stay good
};

}  // namespace info
