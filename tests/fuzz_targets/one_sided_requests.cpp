// Requests of one-sided access, served on small arrays. A second copy of all buffers says what each
// request may change and what it is answered.
#include <algorithm>
#include <cstring>
#include <memory>
#include <vector>

#include "src/execution/one_sided/cell_requests.hpp"
#include "src/execution/one_sided/check_request.hpp"

#include "support/one_process.hpp"

#include "target.hpp"

namespace tessera::fuzz {
namespace {

constexpr std::size_t most_payload = 200;

std::shared_ptr<ArrayState> array_of(Job const& job, NamedSharding const& sharding,
                                     Shape const& shape, std::int64_t element_bytes,
                                     std::uint64_t number) {
  std::vector<LocalDevice> local;
  for (std::int64_t i = 0; i < job.local_count(); ++i)
    local.push_back({DeviceId{i}, shared_host_queue()});
  return std::make_shared<ArrayState>(std::make_shared<Layout const>(sharding, shape),
                                      element_bytes, number, local);
}

// Arrays of several kinds of cells and cuts, one of them with ghost cells, and their bytes.
class Arrays {
 public:
  Arrays() {
    Mesh const row({{"x", 2}});
    add({row, P("x", none)}, {10, 3}, 8);
    add({row, P("x"), Cut::cyclic(2)}, {9}, 12);
    add({row, P("x")}, {7}, 1);
    add({row, P(none, "x")}, {2, 5}, 16);
    add({row, P("x", none)}, {4, 6}, 4);
    arrays_.back()->grow({{1, 2}, {1, 0}});
    visit([&](std::span<std::byte> buffer, std::size_t) {
      auto& bytes = originals_.emplace_back(buffer.size());
      for (std::size_t i = 0; i < bytes.size(); ++i) bytes[i] = static_cast<std::byte>(i % 251);
    });
  }

  [[nodiscard]] std::size_t count() const { return arrays_.size(); }
  [[nodiscard]] ArrayState& operator[](std::size_t i) { return *arrays_[i]; }

  void serve(std::span<std::byte const> message, std::vector<std::byte>& answer) {
    open_.serve(message, answer);
  }
  /// All bytes are as at the beginning.
  void reset() {
    visit([&](std::span<std::byte> buffer, std::size_t place) {
      std::memcpy(buffer.data(), originals_[place].data(), buffer.size());
    });
    copies_ = originals_;
  }
  /// What a served request changes is changed in the copy as well. The bytes of the stream: the
  /// places of its cells, in the order of their indices.
  template <class Change>
  void change_copy(std::size_t array, Shard& shard, Box const& box, Change const& change) {
    auto const element_bytes = arrays_[array]->element_bytes();
    auto& copy = copies_[place_of(array, shard)];
    std::size_t k = 0;
    for (auto cell = box.lo; k < static_cast<std::size_t>(box.cells()); ++k) {
      auto const at = displacement(shard) + shard.padded_layout.offset_of(cell) * element_bytes;
      for (std::int64_t i = 0; i < element_bytes; ++i)
        change(static_cast<std::int64_t>(k) * element_bytes + i,
               copy[static_cast<std::size_t>(at + i)]);
      step(cell, box);
    }
  }
  void check_copies() {
    visit([&](std::span<std::byte> buffer, std::size_t place) {
      require(std::memcmp(buffer.data(), copies_[place].data(), buffer.size()) == 0,
              "bytes changed that were not asked for");
    });
  }

 private:
  void add(NamedSharding const& sharding, Shape const& shape, std::int64_t element_bytes) {
    arrays_.push_back(array_of(process_.job, sharding, shape, element_bytes, arrays_.size()));
    open_.add(arrays_.back(), 0);
  }
  static void step(Index& cell, Box const& box) {
    for (std::size_t d = cell.size(); d-- > 0;) {
      if (++cell[d] < box.hi[d]) return;
      cell[d] = box.lo[d];
    }
  }
  static std::int64_t displacement(Shard& shard) {
    return shard.cells() - shard.memory[shard.current].data();
  }
  // All memory of each shard's buffers, with a number for each.
  template <class Visit>
  void visit(Visit const& visit_one) {
    std::size_t place = 0;
    for (auto const& array : arrays_)
      for (auto& shard : array->shards()) {
        auto& memory = shard.memory[shard.current];
        visit_one({memory.data(), static_cast<std::size_t>(memory.size_bytes())}, place++);
      }
  }
  std::size_t place_of(std::size_t array, Shard const& shard) {
    std::size_t place = 0;
    for (std::size_t i = 0; i < array; ++i) place += arrays_[i]->shards().size();
    return place + static_cast<std::size_t>(&shard - arrays_[array]->shards().data());
  }

  test::OneProcess process_{2};
  std::vector<std::shared_ptr<ArrayState>> arrays_;
  OpenArrays open_;
  std::vector<std::vector<std::byte>> originals_;
  std::vector<std::vector<std::byte>> copies_;
};

Box box_of(RequestMessage const& request, std::size_t rank) {
  return {Index(request.lo.begin(), request.lo.begin() + rank),
          Index(request.hi.begin(), request.hi.begin() + rank)};
}

// Of a request that was served.
void check_served(Arrays& arrays, RequestMessage const& request, std::span<std::byte const> payload,
                  std::span<std::byte const> cells) {
  require(request.array < arrays.count(), "an array that is not open was served");
  auto& array = arrays[request.array];
  auto const shards = array.shards_of(DeviceId(request.device));
  require(request.box < shards.size(), "a box that the device has not was served");
  auto& shard = shards[request.box];
  auto const box = box_of(request, shard.own.rank());
  require(!box.empty() && shard.own.contains(box), "cells of others were served");
  auto const first = request.first_byte;
  auto const count = request.bytes;
  require(first >= 0 && count > 0 && first + count <= box.cells() * array.element_bytes(),
          "bytes that the cells do not have were served");
  bool const answers = request.what != RequestMessage::What::write;
  require(std::ssize(cells) == (answers ? count : 0), "an answer of another length");
  auto const at = [&](std::int64_t k) { return static_cast<std::size_t>(k - first); };
  arrays.change_copy(request.array, shard, box, [&](std::int64_t k, std::byte& byte) {
    if (k < first || k >= first + count) return;
    if (answers) require(cells[at(k)] == byte, "an answer of other cells");
    if (!answers) byte = payload[at(k)];
  });
  if (request.what != RequestMessage::What::update) return arrays.check_copies();
  // An update changes its cell, as cell_access_test says, and nothing else.
  auto const* const now =
      shard.cells() + shard.padded_layout.block_of(box, array.element_bytes()).offset_bytes;
  arrays.change_copy(request.array, shard, box,
                     [&](std::int64_t k, std::byte& byte) { byte = now[k]; });
  arrays.check_copies();
}

// A request that may be right as far as the input leaves it so, and bytes behind it.
std::vector<std::byte> request_in(Input& in) {
  auto const payload_bytes = in.below(most_payload);
  auto const message = in.bytes(offsetof(RequestMessage, epoch));
  std::vector<std::byte> bytes(message.begin(), message.end());
  if (message.size() == offsetof(RequestMessage, epoch)) bytes.resize(sizeof(RequestMessage));
  auto const payload = in.bytes(payload_bytes);
  bytes.insert(bytes.end(), payload.begin(), payload.end());
  return bytes;
}

}  // namespace

void attack(std::span<std::byte const> bytes) {
  static auto& arrays = *new Arrays;  // never ends
  arrays.reset();
  std::vector<std::byte> answer;
  for (Input in(bytes); !in.is_empty();) {
    auto const message = request_in(in);
    answer.clear();
    arrays.serve(message, answer);
    require(!answer.empty() && std::ssize(answer) <= 1 + most_request_bytes, "the answer's length");
    auto const rest = std::span<std::byte const>(answer).subspan(1);
    if (answer[0] == static_cast<std::byte>(AnswerStatus::refused)) {
      check_words(as_text(rest));
      arrays.check_copies();
      continue;
    }
    require(message.size() >= sizeof(RequestMessage), "half a request was served");
    RequestMessage request;
    std::memcpy(static_cast<void*>(&request), message.data(), sizeof request);
    check_served(arrays, request, std::span(message).subspan(sizeof request), rest);
  }
}

}  // namespace tessera::fuzz
