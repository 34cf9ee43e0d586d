#include "cell_requests.hpp"

#include <cstring>
#include <utility>

#include "tessera/base/text.hpp"
#include "tessera/device/strided.hpp"

#include "cell_access.hpp"

namespace tessera {
namespace {

Box box_of(CellRequest const& request, std::size_t rank) {
  return {Index(request.lo.begin(), request.lo.begin() + rank),
          Index(request.hi.begin(), request.hi.begin() + rank)};
}

std::byte* grown_by(std::vector<std::byte>& bytes, std::int64_t more) {
  auto const before = bytes.size();
  bytes.resize(before + static_cast<std::size_t>(more));
  return bytes.data() + before;
}

// One cell is touched whole; of more, each byte is copied.
void carry_out(CellRequest const& request, Shard& shard, std::int64_t element_bytes,
               std::span<std::byte const> cells, std::vector<std::byte>& answer) {
  auto const box = box_of(request, shard.own.rank());
  auto const block = shard.frame.block_of(box, element_bytes);
  auto* const first = shard.cells() + block.offset_bytes;
  bool const is_one = request.bytes == element_bytes && stream_bytes(block) == element_bytes;
  switch (request.what) {
    case CellRequest::What::update:
      return update_cell(first, request.update, grown_by(answer, element_bytes));
    case CellRequest::What::read: {
      auto* const into = grown_by(answer, request.bytes);
      if (is_one) return load_cell(first, element_bytes, into);
      (void)pack(shard.cells(), block, request.first_byte,
                 {into, static_cast<std::size_t>(request.bytes)});
      return;
    }
    case CellRequest::What::write:
      if (is_one) return store_cell(first, element_bytes, cells.data());
      (void)unpack(shard.cells(), block, request.first_byte, cells);
      return;
  }
}

}  // namespace

void OpenArrays::add(std::shared_ptr<ArrayState> array) {
  std::lock_guard const guard(mutex_);
  auto const number = array->number();
  arrays_[number] = std::move(array);
}

void OpenArrays::remove(ArrayState const& array) {
  std::lock_guard const guard(mutex_);
  arrays_.erase(array.number());
}

std::string OpenArrays::trouble_with(CellRequest const& request, Shard*& shard) {
  auto const found = arrays_.find(request.array);
  if (found == arrays_.end())
    return text("array ", request.array,
                " has no open epoch there: the processes run different "
                "programs");
  auto const shards = found->second->shards_of(DeviceId(request.device));
  if (request.box >= shards.size() ||
      !shards[request.box].own.contains(box_of(request, found->second->layout()->rank())))
    return text("device ", request.device, " has no such cells of array ", request.array);
  shard = &shards[request.box];
  return {};
}

void OpenArrays::serve(std::span<std::byte const> bytes, std::vector<std::byte>& answer) {
  CellRequest request;
  std::string trouble = "a request that makes no sense";
  std::lock_guard const guard(mutex_);
  Shard* shard = nullptr;
  if (bytes.size() >= sizeof request) {
    std::memcpy(static_cast<void*>(&request), bytes.data(), sizeof request);
    trouble = trouble_with(request, shard);
  }
  answer.push_back(std::byte{trouble.empty() ? std::uint8_t{0} : std::uint8_t{1}});
  if (trouble.empty()) {
    auto const element_bytes = arrays_.at(request.array)->element_bytes();
    carry_out(request, *shard, element_bytes, bytes.subspan(sizeof request), answer);
    return;
  }
  std::memcpy(grown_by(answer, std::ssize(trouble)), trouble.data(), trouble.size());
}

}  // namespace tessera
