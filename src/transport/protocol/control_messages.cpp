#include "src/transport/protocol/control_messages.hpp"

namespace tessera::control {

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

}  // namespace tessera::control
