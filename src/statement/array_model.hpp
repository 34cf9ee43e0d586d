#pragma once
/// @file
/// What is known of an array without its cells.

#include <cstdint>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "tessera/base/ids.hpp"
#include "tessera/layout/layout.hpp"

#include "src/plan/ghost.hpp"
#include "src/statement/padded_shard_layout.hpp"

namespace tessera {

/// An array's layout, the widths of its ghost cells, which of these are valid, and how the boxes of
/// any device of any job lie in memory. Only where every device holds one box are there ghost
/// cells.
///
/// Ranks: pure. Plans are made from this alone; `ArrayState` adds the cells.
class ArrayModel : public std::enable_shared_from_this<ArrayModel> {
 public:
  /// Without ghost cells. `number` counts the arrays of the program.
  ArrayModel(std::shared_ptr<Layout const> layout, std::int64_t element_bytes, std::uint64_t number)
      : layout_(std::move(layout)),
        element_bytes_(element_bytes),
        number_(number),
        widths_(GhostWidths::none(layout_->rank())) {}

  [[nodiscard]] std::shared_ptr<Layout const> const& layout() const { return layout_; }
  [[nodiscard]] std::int64_t element_bytes() const { return element_bytes_; }
  [[nodiscard]] std::uint64_t number() const { return number_; }
  /// A pointer that keeps the array alive; of an alias, the array whose cells it shows.
  [[nodiscard]] std::shared_ptr<ArrayModel> shared();
  [[nodiscard]] GhostWidths const& widths() const { return widths_; }
  [[nodiscard]] HaloValidity& halo_validity() { return halo_validity_; }
  [[nodiscard]] HaloValidity const& halo_validity() const { return halo_validity_; }

  /// The boxes of a device as Layout::boxes_of lists them, each in its buffer; none where the
  /// layout gives it none.
  [[nodiscard]] std::vector<StoredBox> boxes_on(DeviceId device) const;
  /// Sets the widths of the ghost cells; none of them is valid from now on.
  void set_widths(GhostWidths const& widths);
  /// Memory of the caller's, whose rows lie as they lie: says so for the boxes of one device.
  void adopt_boxes(DeviceId device, std::vector<StoredBox> boxes) {
    adopted_.emplace_back(device, std::move(boxes));
  }

  /// The number of the Runtime that made the array, counted from 1; 0 in a model of a job.
  [[nodiscard]] std::uint64_t runtime() const { return runtime_; }
  void set_runtime(std::uint64_t number) { runtime_ = number; }
  /// True if the array must not be written any more, except by a replayed loop: it is a partial
  /// array or holds the partial results of one.
  [[nodiscard]] bool is_frozen() const { return is_frozen_; }
  void freeze() { is_frozen_ = true; }
  /// True if cells have fixed addresses: their buffers are never swapped and never get ghost cells,
  /// so reads past a shard's edge go through a temporary.
  [[nodiscard]] bool is_pinned() const { return is_pinned_; }
  void pin() { is_pinned_ = true; }
  /// True if it shows the cells of another array under another layout.
  [[nodiscard]] bool is_alias() const { return owner_ != nullptr; }
  /// Tells apart pinned arrays of one layout whose cells lie differently in memory. Aliases that
  /// show arrays of one layout in one way have the same.
  [[nodiscard]] std::uint64_t packing() const { return packing_ != 0 ? packing_ : number_; }
  /// True between two fences: only one-sided access is allowed.
  [[nodiscard]] bool has_open_epoch() const { return epoch_ != 0; }
  /// The number of the open epoch among those of the job, from 1; 0 if none is open.
  [[nodiscard]] std::uint64_t epoch() const { return epoch_; }
  void open_epoch(std::uint64_t number) { epoch_ = number; }
  void close_epoch() { epoch_ = 0; }

 protected:
  /// Makes this a pinned alias of another array, which has it.
  void show(ArrayModel& owner, std::uint64_t packing) {
    owner_ = &owner;
    packing_ = packing;
    runtime_ = owner.runtime_;
    pin();
  }
  /// Keeps the owner of an alias alive, which does not keep the alias.
  void hold_owner() { held_owner_ = owner_->shared_from_this(); }
  /// Gives the cells another layout, without ghost cells.
  void set_layout(std::shared_ptr<Layout const> layout) {
    layout_ = std::move(layout);
    set_widths(GhostWidths::none(layout_->rank()));
  }
  /// Gives the array a new number and makes it writable again.
  void start_again(std::uint64_t number) {
    number_ = number;
    is_frozen_ = false;
  }

 private:
  std::shared_ptr<Layout const> layout_;
  std::int64_t element_bytes_;
  std::uint64_t number_;
  GhostWidths widths_;
  HaloValidity halo_validity_;
  std::vector<std::pair<DeviceId, std::vector<StoredBox>>> adopted_;
  ArrayModel* owner_ = nullptr;  ///< of the cells of an alias
  std::shared_ptr<ArrayModel> held_owner_;
  std::uint64_t packing_ = 0;  ///< of an alias
  std::uint64_t runtime_ = 0;
  std::uint64_t epoch_ = 0;
  bool is_frozen_ = false;
  bool is_pinned_ = false;
};

/// An array as explanations name it: "array 3 (10, 12)".
[[nodiscard]] std::string describe(ArrayModel const& array);

/// Throws: UsageError if the array must not be written any more.
void check_writable(ArrayModel const& array);

namespace detail {
[[noreturn]] void refuse_open_epoch(ArrayModel const& array, char const* what);
}  // namespace detail

/// Throws: UsageError, on every process, if only one-sided access is allowed. `what` is for people,
///         as "a statement".
inline void check_closed(ArrayModel const& array, char const* what) {
  if (array.has_open_epoch()) detail::refuse_open_epoch(array, what);
}

}  // namespace tessera
