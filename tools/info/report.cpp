#include "report.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <iomanip>
#include <utility>

#include "src/base/text.hpp"

namespace info {
namespace {

std::string digits(double number) {
  return tessera::text(std::setprecision(3), number);
}

std::string in_quotes(std::string_view words) {
  std::string result = "\"";
  for (char const letter : words) {
    if (letter == '"' || letter == '\\') result += '\\';
    if (static_cast<unsigned char>(letter) >= 0x20) {
      result += letter;
      continue;
    }
    std::array<char, 8> code{};
    std::snprintf(code.data(), code.size(), "\\u%04x", static_cast<unsigned>(letter));
    result += code.data();
  }
  return result + '"';
}

char const* suffix_of_key(Unit unit) {
  constexpr std::array suffixes{"", "_bytes", "_us", "_gb_per_s", "_cores"};
  return suffixes.at(static_cast<std::size_t>(unit));
}

std::string indent(int depth) {
  return std::string(static_cast<std::size_t>(2 * depth), ' ');
}

}  // namespace

Entry& Entry::add(std::string name, Value value, Unit unit) {
  auto& made = entries_.emplace_back(std::move(name));
  made.value_ = std::move(value);
  made.unit_ = unit;
  return made;
}

void Entry::add_if(std::string name, std::optional<std::int64_t> const& value) {
  if (value) add(std::move(name), *value);
}

Entry& Entry::section(std::string name) {
  return entries_.emplace_back(std::move(name));
}

Entry& Entry::list(std::string name) {
  auto& made = section(std::move(name));
  made.is_list_ = true;
  return made;
}

Entry& Entry::item() {
  return section("");
}

std::string Entry::value_text() const {
  if (auto const* is = std::get_if<bool>(&value_)) return *is ? "yes" : "no";
  if (auto const* words = std::get_if<std::string>(&value_)) return tessera::printable(*words);
  if (auto const* count = std::get_if<std::int64_t>(&value_)) {
    if (unit_ == Unit::bytes) return tessera::bytes_text(*count);
    return unit_ == Unit::cores ? tessera::counted(*count, "core") : std::to_string(*count);
  }
  if (auto const* number = std::get_if<double>(&value_))
    return digits(*number) + (unit_ == Unit::microseconds ? " us" : " GB/s");
  return "";
}

std::string Entry::json_key() const {
  auto key = name_;
  std::replace(key.begin(), key.end(), ' ', '_');
  return key + suffix_of_key(unit_);
}

// "process 1, host h1, memory 15.6 GiB"
void Entry::print_line(std::ostream& out) const {
  bool first = true;
  for (auto const& entry : entries_) {
    out << (first ? "" : ", ") << entry.name_ << ' ' << entry.value_text();
    first = false;
  }
  out << '\n';
}

void Entry::print_text(std::ostream& out, int depth) const {
  constexpr std::size_t column = 28;
  for (auto const& entry : entries_) {
    if (is_list_) {
      out << indent(depth);
      entry.print_line(out);
      continue;
    }
    auto const begin = indent(depth) + entry.name_;
    if (entry.entries_.empty() && !entry.is_list_) {
      auto const gap = column - std::min(begin.size() + 1, column) + 1;
      out << begin << std::string(gap, ' ') << entry.value_text() << '\n';
      continue;
    }
    out << begin << '\n';
    entry.print_text(out, depth + 1);
  }
}

void Entry::print_json_value(std::ostream& out) const {
  if (auto const* words = std::get_if<std::string>(&value_))
    out << in_quotes(*words);
  else if (auto const* is = std::get_if<bool>(&value_))
    out << (*is ? "true" : "false");
  else if (auto const* count = std::get_if<std::int64_t>(&value_))
    out << std::to_string(*count);
  else if (auto const* number = std::get_if<double>(&value_))
    out << digits(*number);
}

void Entry::print_json(std::ostream& out, int depth) const {
  if (entries_.empty() && !is_list_ && !std::holds_alternative<std::monostate>(value_))
    return print_json_value(out);
  out << (is_list_ ? '[' : '{');
  bool first = true;
  for (auto const& entry : entries_) {
    out << (first ? "\n" : ",\n") << indent(depth + 1);
    if (!is_list_) out << in_quotes(entry.json_key()) << ": ";
    entry.print_json(out, depth + 1);
    first = false;
  }
  if (!first) out << '\n' << indent(depth);
  out << (is_list_ ? ']' : '}');
}

}  // namespace info
