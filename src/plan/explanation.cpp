#include "tessera/plan/explanation.hpp"

#include <algorithm>

#include "src/base/text.hpp"

namespace tessera {

char const* to_string(Communication::Cause cause) {
  switch (cause) {
    case Communication::Cause::nothing:
      return "nothing to send";
    case Communication::Cause::halo:
      return "halo";
    case Communication::Cause::gather:
      return "gather";
  }
  return "?";
}

bool Explanation::has(Communication::Cause cause) const {
  return std::any_of(reads.begin(), reads.end(),
                     [&](Communication const& read) { return read.cause == cause; });
}

std::ostream& operator<<(std::ostream& out, Explanation const& explanation) {
  out << explanation.location << ": " << explanation.kind;
  if (!explanation.writes.empty()) out << ", written " << explanation.writes;
  out << "; sends " << counted(explanation.messages, "message") << ", "
      << bytes_text(explanation.bytes) << '\n';
  for (auto const& read : explanation.reads) {
    out << "  " << read.array << ": " << to_string(read.cause);
    if (read.cells > 0)
      out << ", " << counted(read.cells, "cell") << ", " << bytes_text(read.bytes) << " over "
          << read.routes;
    if (read.forwarded_bytes > 0)
      out << ", " << bytes_text(read.forwarded_bytes) << " of them forwarded within the host";
    if (!read.reason.empty()) out << "; " << read.reason;
    out << '\n';
  }
  return out;
}

std::int64_t Explanations::messages() const {
  std::int64_t sum = 0;
  for (auto const& statement : statements) sum += statement.messages;
  return sum;
}

std::int64_t Explanations::bytes() const {
  std::int64_t sum = 0;
  for (auto const& statement : statements) sum += statement.bytes;
  return sum;
}

bool Explanations::has(Communication::Cause cause) const {
  return std::any_of(statements.begin(), statements.end(),
                     [&](Explanation const& statement) { return statement.has(cause); });
}

std::ostream& operator<<(std::ostream& out, Explanations const& explanations) {
  for (auto const& statement : explanations.statements) out << statement;
  return out;
}

}  // namespace tessera
