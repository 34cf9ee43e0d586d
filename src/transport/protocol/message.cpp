#include "src/transport/protocol/message.hpp"

#include <algorithm>
#include <cstring>

#include "src/base/text.hpp"

namespace tessera {

Mismatch different_programs(std::string_view evidence, std::string_view why) {
  return Mismatch(text(evidence, " the processes run different programs",
                       why.empty() ? "" : text(" (", why, ')'),
                       "; every process must run the same statements in the same order"));
}

void MessageHeader::write_file(SourceLocation const& location) {
  auto name = location.file_name();
  if (name.size() >= sizeof file) name.remove_prefix(name.size() - sizeof file + 1);
  std::memset(file, 0, sizeof file);
  std::memcpy(file, name.data(), name.size());
}

std::string MessageHeader::describe() const {
  auto const known = text("statement ", number);
  return line == 0 ? known
                   : text(known, " (", std::string_view(file, ::strnlen(file, sizeof file)), ':',
                          line, ')');
}

}  // namespace tessera
