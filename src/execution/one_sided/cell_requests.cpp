#include "src/execution/one_sided/cell_requests.hpp"

#include <cstring>
#include <utility>

#include "src/base/text.hpp"
#include "src/device/strided.hpp"
#include "src/execution/one_sided/cell_access.hpp"
#include "src/execution/one_sided/check_request.hpp"

namespace tessera {
namespace {

Box box_of(RequestMessage const& request, std::size_t rank) {
  return {Index(request.lo.begin(), request.lo.begin() + rank),
          Index(request.hi.begin(), request.hi.begin() + rank)};
}

RequestMessage request_in(std::span<std::byte const> message) {
  RequestMessage request;
  std::memcpy(static_cast<void*>(&request), message.data(), sizeof request);
  return request;
}

std::byte* grown_by(std::vector<std::byte>& bytes, std::int64_t more) {
  auto const before = bytes.size();
  bytes.resize(before + static_cast<std::size_t>(more));
  return bytes.data() + before;
}

// Does what a request asks. Reads and writes a single cell as a whole, and copies the bytes of
// several.
void carry_out(RequestMessage const& request, Shard& shard, std::int64_t element_bytes,
               std::span<std::byte const> cells, std::vector<std::byte>& answer) {
  auto const box = box_of(request, shard.own.rank());
  auto const block = shard.padded_layout.block_of(box, element_bytes);
  auto* const first = shard.cells() + block.offset_bytes;
  bool const is_one = request.bytes == element_bytes && stream_bytes(block) == element_bytes;
  switch (request.what) {
    case RequestMessage::What::update:
      return update_cell(first, request.update, grown_by(answer, element_bytes));
    case RequestMessage::What::read: {
      auto* const into = grown_by(answer, request.bytes);
      if (is_one) return load_cell(first, element_bytes, into);
      (void)pack(shard.cells(), block, request.first_byte,
                 {into, static_cast<std::size_t>(request.bytes)});
      return;
    }
    case RequestMessage::What::write:
      if (is_one) return store_cell(first, element_bytes, cells.data());
      (void)unpack(shard.cells(), block, request.first_byte, cells);
      return;
  }
}

}  // namespace

void OpenArrays::add(std::shared_ptr<ArrayState> array, std::uint64_t epoch) {
  std::lock_guard const guard(mutex_);
  auto const number = array->number();
  arrays_[number] = {std::move(array), epoch};
}

void OpenArrays::remove(ArrayState const& array) {
  std::lock_guard const guard(mutex_);
  arrays_.erase(array.number());
}

OpenArrays::Found OpenArrays::find(std::span<std::byte const> message) const {
  if (message.size() < sizeof(RequestMessage)) return {nullptr, nullptr, "an invalid request"};
  auto const request = request_in(message);
  auto const found = arrays_.find(request.array);
  if (found == arrays_.end() || found->second.epoch != request.epoch)
    return {nullptr, nullptr,
            text("array ", request.array,
                 " has no open epoch there: the processes run different programs")};
  auto& array = *found->second.array;
  auto const shards = array.shards_of(DeviceId(request.device));
  std::string reason = "no such cells";
  if (request.box < shards.size())
    reason = reason_against(request, shards[request.box].own, array.element_bytes(),
                            std::ssize(message) - static_cast<std::int64_t>(sizeof request));
  if (!reason.empty())
    return {nullptr, nullptr,
            text("device ", request.device, " was asked for cells of array ", request.array, ": ",
                 reason)};
  return {&array, &shards[request.box], {}};
}

void OpenArrays::serve(std::span<std::byte const> message, std::vector<std::byte>& answer) {
  std::lock_guard const guard(mutex_);
  auto const found = find(message);
  auto const status = found.shard != nullptr ? AnswerStatus::done : AnswerStatus::refused;
  answer.push_back(static_cast<std::byte>(status));
  if (status == AnswerStatus::done)
    carry_out(request_in(message), *found.shard, found.array->element_bytes(),
              message.subspan(sizeof(RequestMessage)), answer);
  else
    std::memcpy(grown_by(answer, std::ssize(found.reason)), found.reason.data(),
                found.reason.size());
}

}  // namespace tessera
