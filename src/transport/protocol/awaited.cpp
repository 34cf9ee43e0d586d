#include "src/transport/protocol/awaited.hpp"

namespace tessera {

std::ostream& operator<<(std::ostream& out, Awaited const& what) {
  switch (what.kind) {
    case Awaited::Kind::message:
      return out << "device " << what.self << " waits for message " << what.count << " of device "
                 << what.peer << " for " << what.statement;
    case Awaited::Kind::free_slot:
      return out << "device " << what.self << " waits until device " << what.peer
                 << " has read its message " << what.count << ", at " << what.statement;
    case Awaited::Kind::invitation:
      return out << "device " << what.self << " waits until device " << what.peer
                 << " opens their channel for " << what.statement;
    case Awaited::Kind::worker:
      return out << "the caller's thread waits for device " << what.peer << " at "
                 << what.statement;
    case Awaited::Kind::checker:
      return out << "device " << what.self << " waits until device " << what.peer << " is at "
                 << what.statement;
    case Awaited::Kind::answer:
      return out << "this process waits for cells of device " << what.peer;
    case Awaited::Kind::finish:
      return out << "this process is done and waits for the others";
    case Awaited::Kind::note:
      return out << "device " << what.self << " waits until device " << what.peer
                 << " opens memory for " << what.statement;
    case Awaited::Kind::gpu:
      return out << "device " << what.self << " waits for its GPU at " << what.statement;
    case Awaited::Kind::other:
      break;
  }
  return out << "device " << what.self << " waits at " << what.statement;
}

}  // namespace tessera
