#include "src/base/environment.hpp"

#include <algorithm>
#include <charconv>
#include <cmath>
#include <cstdlib>

#include "tessera/base/error.hpp"

#include "src/base/text.hpp"

namespace tessera {
namespace {

std::vector<std::string> split_at_commas(std::string_view list) {
  std::vector<std::string> entries(1);
  for (char const c : list)
    if (c == ',')
      entries.emplace_back();
    else
      entries.back() += c;
  return entries;
}

}  // namespace

std::optional<std::string> environment(std::string_view name) {
  char const* value = std::getenv(std::string(name).c_str());
  if (value == nullptr || *value == '\0') return std::nullopt;
  return std::string(value);
}

std::optional<std::int64_t> environment_integer(std::string_view name, std::int64_t least) {
  auto const value = environment(name);
  if (!value) return std::nullopt;
  std::int64_t number = 0;
  auto const* end = value->data() + value->size();
  auto const [stop, error] = std::from_chars(value->data(), end, number);
  if (error != std::errc{} || stop != end || number < least)
    throw ConfigError(text(name, "=", excerpt(*value), " is not a whole number of at least ", least,
                           "; fix or unset it"));
  return number;
}

std::optional<double> environment_seconds(std::string_view name) {
  auto const value = environment(name);
  if (!value) return std::nullopt;
  double seconds = 0;
  auto const* end = value->data() + value->size();
  auto const [stop, error] = std::from_chars(value->data(), end, seconds);
  if (error != std::errc{} || stop != end || !std::isfinite(seconds) || seconds < 0)
    throw ConfigError(
        text(name, "=", excerpt(*value), " is not a number of seconds; fix or unset it"));
  return seconds;
}

std::optional<std::string> environment_choice(std::string_view name,
                                              std::vector<std::string_view> const& choices) {
  auto const value = environment(name);
  if (!value) return std::nullopt;
  for (auto const choice : choices)
    if (*value == choice) return value;
  throw ConfigError(
      text(name, "=", excerpt(*value), " is not one of ", join(choices), "; fix or unset it"));
}

std::vector<std::string> environment_words(std::string_view name,
                                           std::vector<std::string_view> const& choices) {
  auto const value = environment(name);
  if (!value) return {};
  auto words = split_at_commas(*value);
  for (auto const& word : words)
    if (std::find(choices.begin(), choices.end(), word) == choices.end())
      throw ConfigError(text(name, "=", excerpt(*value), ": '", excerpt(word), "' is not one of ",
                             join(choices), "; fix or unset it"));
  return words;
}

std::vector<std::pair<std::string, std::string>> environment_settings(std::string_view name) {
  std::vector<std::pair<std::string, std::string>> settings;
  auto const value = environment(name);
  if (!value) return settings;
  for (auto const& entry : split_at_commas(*value)) {
    auto const equals = std::min(entry.find('='), entry.size());
    settings.emplace_back(entry.substr(0, equals),
                          entry.substr(std::min(equals + 1, entry.size())));
  }
  return settings;
}

}  // namespace tessera
