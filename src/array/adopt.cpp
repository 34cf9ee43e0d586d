#include "tessera/array/adopt.hpp"

#include <algorithm>
#include <cstdint>
#include <functional>
#include <string>

#include "tessera/base/error.hpp"

#include "src/base/text.hpp"
#include "src/device/queue.hpp"
#include "src/execution/storage/array_state.hpp"
#include "src/index/index.hpp"
#include "src/job/job.hpp"
#include "src/runtime/allocation.hpp"
#include "src/runtime/current_runtime.hpp"
#include "src/runtime/over_processes.hpp"

namespace tessera::detail {
namespace {

// Describes what is wrong with the memory layout of a box that has cells; empty if it is valid.
std::string reason_against_box(BorrowedBox const& box, ElementSize element) {
  constexpr std::int64_t most = std::int64_t{1} << 62;
  if (box.first == nullptr) return text("the memory for ", box.cells, " is null");
  if (reinterpret_cast<std::uintptr_t>(box.first) % static_cast<std::uintptr_t>(element.alignment))
    return text("the memory for ", box.cells, " does not begin at a multiple of ",
                element.alignment, " bytes, as its elements have to");
  std::int64_t least = 1;
  for (std::size_t d = box.cells.rank(); d-- > 0;) {
    bool const is_last = d + 1 == box.cells.rank();
    if (is_last ? box.strides[d] != 1 : box.strides[d] < least)
      return text("the stride ", box.strides[d], " of dimension ", d, " of ", box.cells,
                  is_last ? std::string(" is not 1")
                          : text(" is less than the ", least, " elements it steps over"));
    if (box.strides[d] > most / element.bytes / box.cells.extent(d))
      return text("the stride ", box.strides[d], " of dimension ", d, " of ", box.cells,
                  " leads past all memory");
    least = box.strides[d] * box.cells.extent(d);
  }
  return {};
}

// The first element behind a box.
std::byte* end_of(BorrowedBox const& box, std::int64_t element_bytes) {
  std::int64_t last = 0;
  for (std::size_t d = 0; d < box.cells.rank(); ++d)
    last += (box.cells.extent(d) - 1) * box.strides[d];
  return box.first + (last + 1) * element_bytes;
}

// True if some cell of `a` coincides with some cell of `b`, where `b` begins `elements` elements
// after `a`, counting only dimensions `d` and up. The boxes have equal strides; the later
// dimensions together span less than a stride of this one.
bool leads_into(BorrowedBox const& a, BorrowedBox const& b, std::int64_t elements, std::size_t d) {
  if (d == a.cells.rank()) return elements == 0;
  auto const steps = floor_div(elements, a.strides[d]);
  for (auto const k : {steps, steps + 1})
    if (k > -b.cells.extent(d) && k < a.cells.extent(d) &&
        leads_into(a, b, elements - k * a.strides[d], d + 1))
      return true;
  return false;
}

// True if two boxes overlap in memory; `b` begins inside of `a`. Boxes with interleaved rows, such
// as two halves of the columns of one table, do not overlap; this is detected only if their strides
// are equal.
bool overlap(BorrowedBox const& a, BorrowedBox const& b, std::int64_t element_bytes) {
  auto const distance = b.first - a.first;
  if (a.strides != b.strides || distance % element_bytes != 0) return true;
  return leads_into(a, b, distance / element_bytes, 0);
}

// Orders boxes by device and position, as the devices hold them.
bool comes_before(BorrowedBox const& a, BorrowedBox const& b) {
  if (a.device != b.device) return a.device.value() < b.device.value();
  return std::lexicographical_compare(a.cells.lo.begin(), a.cells.lo.end(), b.cells.lo.begin(),
                                      b.cells.lo.end());
}

// `given` is sorted.
std::string reason_against_boxes(Layout const& layout, std::vector<BorrowedBox> const& given) {
  auto const& all = job();
  std::size_t expected = 0;
  for (std::int64_t i = 0; i < all.local_count(); ++i) {
    DeviceId const device{all.first_local().value() + i};
    for (auto const& box : layout.boxes_of(device)) {
      if (box.empty()) continue;
      ++expected;
      auto const [from, to] = std::equal_range(given.begin(), given.end(),
                                               BorrowedBox{device, box, nullptr, {}}, comes_before);
      auto const count =
          std::count_if(from, to, [&](BorrowedBox const& one) { return one.cells == box; });
      if (count != 1)
        return text("device ", device, " holds ", box, ", for which there ",
                    count == 0 ? "is no memory" : "are several views");
    }
  }
  if (given.size() == expected) return {};
  return text(given.size(), " views for ", counted(static_cast<std::int64_t>(expected), "box"));
}

std::string reason_against_memory(std::vector<BorrowedBox> given, ElementSize element) {
  for (auto const& box : given) {
    auto reason = reason_against_box(box, element);
    if (!reason.empty()) return reason;
  }
  std::sort(given.begin(), given.end(), [](BorrowedBox const& a, BorrowedBox const& b) {
    return std::less<>()(a.first, b.first);
  });
  for (std::size_t i = 0; i < given.size(); ++i) {
    auto const* const end = end_of(given[i], element.bytes);
    for (auto j = i + 1; j < given.size() && std::less<>()(given[j].first, end); ++j)
      if (overlap(given[i], given[j], element.bytes))
        return text("the memory for ", given[i].cells, " of device ", given[i].device,
                    " overlaps that for ", given[j].cells, " of device ", given[j].device);
  }
  return {};
}

// Cells of a GPU lie in its memory.
std::string reason_against_addresses(std::vector<BorrowedBox> const& given) try {
  for (auto const& box : given)
    if (box.first != nullptr && !is_reachable(box.device, box.first))
      return text("the memory for ", box.cells, " of device ", box.device, " is not on its GPU; ",
                  device_traits().how_to_have_memory);
  return {};
} catch (DeviceError const& error) {
  return error.what();  // reported to the other processes
}

}  // namespace

StatePtr adopt_shards(NamedSharding const& sharding, Shape const& shape, ElementSize element,
                      std::vector<BorrowedBox> const& shards) {
  if (sharding.is_partial())
    throw ShardingError(text("adopt: an array on ", sharding,
                             " is partial: adopt the partial results, then call from_partials"));
  auto const layout = std::make_shared<Layout const>(sharding, shape);
  auto sorted = shards;
  std::sort(sorted.begin(), sorted.end(), comes_before);
  auto reason = reason_against_boxes(*layout, sorted);
  if (reason.empty()) reason = reason_against_memory(sorted, element);
  if (reason.empty()) reason = reason_against_addresses(sorted);
  std::byte wrong{static_cast<unsigned char>(reason.empty() ? 0 : 1)};
  or_over_processes({&wrong, 1}, {}, {"which adopts memory"});
  constexpr char const* remedy =
      "; each process passes one view for each box that its devices hold, as "
      "sharding.boxes_of(device, shape) says";
  if (!reason.empty()) throw ShapeError(text("adopt: ", reason, remedy));
  if (wrong != std::byte{0})
    throw ShapeError(text("adopt: the memory of another process does not fit", remedy));
  return adopt_array(layout, element.bytes, sorted);
}

}  // namespace tessera::detail
