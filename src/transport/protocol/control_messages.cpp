#include "src/transport/protocol/control_messages.hpp"

namespace tessera::control {
namespace {

void check_size(std::size_t size, std::size_t room, std::string_view what) {
  if (size > room) throw BadMessage(text(what, " of ", size, "; there is room for ", room));
}

}  // namespace

Statement::Statement(StatementTag const& tag)
    : number(tag.number), line(tag.location.line), file(tag.location.file_name()) {}

std::ostream& operator<<(std::ostream& out, Statement const& statement) {
  out << "statement " << statement.number;
  if (statement.line != 0) out << " (" << statement.file << ':' << statement.line << ')';
  return out;
}

Edge::Edge(Awaited const& what)
    : kind(what.kind),
      self(what.self),
      peer(what.peer),
      count(what.count),
      statement(what.statement) {}

std::ostream& operator<<(std::ostream& out, Edge const& edge) {
  if (edge.kind == Awaited::Kind::worker)
    return out << "the caller's thread waits for device " << edge.peer << " at " << edge.statement;
  return out << "device " << edge.self << " waits for device " << edge.peer << " at "
             << edge.statement;
}

void Invite::check() const {
  check_size(size, invitation.size(), "an invitation");
  if (static_cast<std::size_t>(route) >= route_count)
    throw BadMessage(text("an invitation by route ", static_cast<int>(route), ", which is none"));
}

void Digests::check() const {
  check_size(count, list.size(), "a number of hashes");
}

void Request::check() const {
  check_size(size, bytes.size(), "a request");
}

void Reply::check() const {
  check_size(size, bytes.size(), "a reply");
}

void Note::check() const {
  check_size(size, bytes.size(), "a note");
}

Kind kind_of(std::span<std::byte const> bytes) {
  if (bytes.empty()) throw BadMessage("a message of no bytes");
  auto const kind = std::to_integer<std::uint8_t>(bytes.front());
  if (kind > static_cast<std::uint8_t>(Kind::note))
    throw BadMessage(text("a message of kind ", int{kind}, ", which is none"));
  return Kind{kind};
}

void refuse_size(std::size_t bytes, std::size_t expected) {
  throw BadMessage(text("a message of ", bytes, " bytes, which has ", expected));
}

}  // namespace tessera::control
