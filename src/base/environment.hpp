#pragma once
/// @file
/// Reads environment variables; errors name the variable and its allowed values.

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

namespace tessera {

/// The value of a variable; nothing if it is unset or empty.
[[nodiscard]] std::optional<std::string> environment(std::string_view name);

/// The variable as a whole number of at least `least`.
/// Throws: ConfigError, naming the variable, if it is anything else.
[[nodiscard]] std::optional<std::int64_t> environment_integer(std::string_view name,
                                                              std::int64_t least);

/// The variable as a number of seconds, zero or more; fractions are allowed.
/// Throws: ConfigError, naming the variable, if it is anything else.
[[nodiscard]] std::optional<double> environment_seconds(std::string_view name);

/// The variable as one of `choices`.
/// Throws: ConfigError, listing the choices, if it is anything else.
[[nodiscard]] std::optional<std::string> environment_choice(
    std::string_view name, std::vector<std::string_view> const& choices);

/// The variable as some of `choices`, with commas between them; none if it is unset or empty.
/// Throws: ConfigError, listing the choices, if one is anything else.
[[nodiscard]] std::vector<std::string> environment_words(
    std::string_view name, std::vector<std::string_view> const& choices);

/// The entries of a variable such as "x=1,y=2": names and values, in order. A value is empty where
/// an entry has no '='; the value of an unset variable has no entries.
[[nodiscard]] std::vector<std::pair<std::string, std::string>> environment_settings(
    std::string_view name);

}  // namespace tessera
