#include "src/statement/array_model.hpp"

#include "tessera/base/error.hpp"

#include "src/base/text.hpp"
#include "src/plan/ghost.hpp"

namespace tessera {

std::shared_ptr<ArrayModel> ArrayModel::shared() {
  if (owner_ == nullptr || held_owner_ != nullptr) return shared_from_this();
  return {owner_->shared_from_this(), this};
}

std::vector<StoredBox> ArrayModel::boxes_on(DeviceId device) const {
  for (auto const& [owner, boxes] : adopted_)
    if (owner == device) return boxes;
  std::vector<StoredBox> boxes;
  for (auto const& own : layout_->boxes_of(device))
    boxes.push_back({own, PaddedShardLayout::around(own, widths_, element_bytes_)});
  return boxes;
}

void ArrayModel::set_widths(GhostWidths const& widths) {
  widths_ = widths;
  halo_validity_.clear();
}

std::string describe(ArrayModel const& array) {
  return text("array ", array.number(), ' ', array.layout()->shape());
}

void check_writable(ArrayModel const& array) {
  if (!array.is_frozen() && !array.layout()->sharding().is_partial()) return;
  throw UsageError(
      text("a partial array cannot be written, nor the array it was made of (an array of shape ",
           array.layout()->shape(), " on ", array.layout()->sharding().without_partial(),
           "); write to a copy of its sum, reshard(u, u.sharding().without_partial())"));
}

void detail::refuse_open_epoch(ArrayModel const& array, char const* what) {
  throw UsageError(text(what, " names an array of shape ", array.layout()->shape(),
                        " between its fences, when only one-sided access is allowed; call fence(u) "
                        "before it"));
}

}  // namespace tessera
