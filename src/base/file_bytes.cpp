#include "src/base/file_bytes.hpp"

#include <array>
#include <cerrno>
#include <cstdio>

#include <fcntl.h>
#include <unistd.h>

namespace tessera {

std::optional<std::string> bytes_of_file(std::string const& path) {
  auto* const file = std::fopen(path.c_str(), "rbe");
  if (file == nullptr) return std::nullopt;
  std::string result;
  std::array<char, 4096> buffer{};
  for (std::size_t n = 0; (n = std::fread(buffer.data(), 1, buffer.size(), file)) > 0;)
    result.append(buffer.data(), n);
  bool const is_read = std::ferror(file) == 0;
  auto const error = errno;
  (void)std::fclose(file);
  if (is_read) return result;
  errno = error;
  return std::nullopt;
}

std::string bytes_if_readable(std::string const& path) {
  return bytes_of_file(path).value_or("");
}

bool write_file(std::string const& path, std::string_view bytes) {
  // A pipe without a reader is an error at once, not a wait without end.
  constexpr mode_t for_everybody = 0666;
  int const descriptor =
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_TRUNC | O_NONBLOCK | O_CLOEXEC, for_everybody);
  if (descriptor < 0) return false;
  (void)::fcntl(descriptor, F_SETFL, 0);
  auto* const file = ::fdopen(descriptor, "wb");
  if (file == nullptr) {
    ::close(descriptor);
    return false;
  }
  bool const is_written = std::fwrite(bytes.data(), 1, bytes.size(), file) == bytes.size();
  auto const error = errno;
  bool const is_closed = std::fclose(file) == 0;
  if (!is_written) errno = error;
  return is_written && is_closed;
}

}  // namespace tessera
