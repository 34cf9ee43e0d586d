#pragma once
/// @file
/// Whole files, read and written byte by byte. Streams of files are not used: they convert numbers
/// by the locale that the program has set.

#include <optional>
#include <string>
#include <string_view>

namespace tessera {

/// The bytes of a file; nothing, and errno says why, if it cannot be read.
[[nodiscard]] std::optional<std::string> bytes_of_file(std::string const& path);

/// The same; empty if it cannot be read.
[[nodiscard]] std::string bytes_if_readable(std::string const& path);

/// Makes or replaces a file; false, and errno says why, if that fails. A part of it may be there
/// then.
[[nodiscard]] bool write_file(std::string const& path, std::string_view bytes);

}  // namespace tessera
