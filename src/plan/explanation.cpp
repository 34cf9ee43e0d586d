#include "tessera/plan/explanation.hpp"

#include <algorithm>
#include <cmath>

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

namespace {

std::string in_microseconds(double seconds) {
  auto const us = seconds * 1e6;
  return us < 100 ? text(us, " us") : text(std::llround(us), " us");
}

std::ostream& operator<<(std::ostream& out, PlanChoice const& choice) {
  out << "  roles " << (choice.roles.empty() ? "none" : choice.roles) << ": expected to take "
      << in_microseconds(choice.seconds) << ", a device receives "
      << bytes_text(choice.received_bytes) << " and takes " << bytes_text(choice.memory_bytes)
      << " of memory beside its arrays";
  if (!choice.runner_up.empty())
    out << "; next best " << choice.runner_up << " with "
        << in_microseconds(choice.runner_up_seconds);
  return out << '\n';
}

}  // namespace

std::ostream& operator<<(std::ostream& out, Explanation const& explanation) {
  out << explanation.location << ": " << explanation.kind;
  if (!explanation.writes.empty()) out << ", written " << explanation.writes;
  out << "; sends " << counted(explanation.messages, "message") << ", "
      << bytes_text(explanation.bytes) << '\n';
  if (explanation.choice) out << *explanation.choice;
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
