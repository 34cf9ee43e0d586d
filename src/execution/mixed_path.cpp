// Plans whose messages take several paths.
#include "src/execution/device_task.hpp"
#include "src/execution/message_path.hpp"

namespace tessera {
namespace {

// Calls step(path, its messages) for each path of the record's plan.
template <class Step>
void visit_paths(Record const& record, Step const& step) {
  auto const& plan = *record.plan;
  for (auto const& use : plan.paths) step(*use.path, messages_of(plan, use));
}

class MixedPath final : public PathSteps<MixedPath> {
 public:
  void begin_sends(Record& record, PathMessages const& /*all*/) const override {
    visit_paths(record, [&](MessagePath const& path, PathMessages const& messages) {
      path.begin_sends(record, messages);
    });
  }
  bool put_pieces(Record& record, PathMessages const& /*all*/, std::int64_t round) const override {
    bool more = false;
    visit_paths(record, [&](MessagePath const& path, PathMessages const& messages) {
      more = path.put_pieces(record, messages, round) || more;
    });
    return more;
  }
  bool take_pieces(Record& record, PathMessages const& /*all*/, std::int64_t round) const override {
    bool more = false;
    visit_paths(record, [&](MessagePath const& path, PathMessages const& messages) {
      more = path.take_pieces(record, messages, round) || more;
    });
    return more;
  }
  void finish_receives(Record& record, PathMessages const& /*all*/) const override {
    visit_paths(record, [&](MessagePath const& path, PathMessages const& messages) {
      path.finish_receives(record, messages);
    });
  }
  [[nodiscard]] bool holds_whole(Message const& message) const override {
    return path_of(message.path).holds_whole(message);
  }
};

MixedPath const path;

}  // namespace

MessagePath const& mixed_path() {
  return path;
}

}  // namespace tessera
