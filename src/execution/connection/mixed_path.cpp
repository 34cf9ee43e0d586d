// Plans whose messages take several paths.
#include "src/execution/connection/message_paths.hpp"
#include "src/execution/device_task.hpp"

namespace tessera {
namespace {

// Calls step(path, its messages) for each path of the messages.
template <class Step>
void visit_paths(PathMessages const& all, Step const& step) {
  for (auto const& use : all.paths) step(*use.path, messages_of(all, use));
}

class MixedPath final : public PathSteps<MixedPath> {
 public:
  void begin_sends(DeviceTask& task, PathMessages const& all) const override {
    visit_paths(all, [&](MessagePath const& path, PathMessages const& messages) {
      path.begin_sends(task, messages);
    });
  }
  bool put_pieces(DeviceTask& task, PathMessages const& all, std::int64_t round) const override {
    bool more = false;
    visit_paths(all, [&](MessagePath const& path, PathMessages const& messages) {
      more = path.put_pieces(task, messages, round) || more;
    });
    return more;
  }
  bool take_pieces(DeviceTask& task, PathMessages const& all, std::int64_t round) const override {
    bool more = false;
    visit_paths(all, [&](MessagePath const& path, PathMessages const& messages) {
      more = path.take_pieces(task, messages, round) || more;
    });
    return more;
  }
  void finish_receives(DeviceTask& task, PathMessages const& all) const override {
    visit_paths(all, [&](MessagePath const& path, PathMessages const& messages) {
      path.finish_receives(task, messages);
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
