#include "src/transport/protocol/refused.hpp"

#include <vector>

#include "src/base/text.hpp"

namespace tessera {

std::string refused_text(RefusedCounts const& counts) {
  constexpr std::array<char const*, refused_kinds> kinds{"connection", "request", "answer",
                                                         "message", "heartbeat"};
  std::vector<std::string> parts;
  for (std::size_t i = 0; i < refused_kinds; ++i)
    if (counts[i] > 0) parts.push_back(counted(counts[i], kinds[i]));
  if (parts.empty()) return {};
  return text("tessera: refused ", join(parts), ", which no process of this job had signed\n");
}

}  // namespace tessera
