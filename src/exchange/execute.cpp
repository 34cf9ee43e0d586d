#include <algorithm>
#include <cstring>
#include <functional>

#include "tessera/base/assert.hpp"
#include "tessera/device/launch.hpp"

#include "execute_on_gpu.hpp"
#include "record.hpp"

namespace tessera {

std::byte* base_of(Record const& record, Storage storage, std::size_t buffer) {
  if (storage == Storage::target) return record.targets[buffer];
  return storage == Storage::shard ? record.buffers[buffer] : record.scratch;
}

namespace {

// Calls visit(block, first byte in the block, bytes in the message) for each block that has bytes
// of the piece [first, first + size) of the message.
template <class Visit>
void visit_piece(Message const& message, std::int64_t first, std::int64_t size,
                 Visit const& visit) {
  std::int64_t begin = 0;
  std::int64_t done = 0;
  for (auto const& block : message.blocks) {
    if (done == size) return;
    auto const skip = first + done - begin;
    if (skip < block.bytes) {
      auto const bytes = std::min(block.bytes - skip, size - done);
      visit(block, skip, done, bytes);
      done += bytes;
    }
    begin += block.bytes;
  }
}

template <class P>
void put_piece(Record& record, Message const& message, std::int64_t round, P& probe) {
  auto const piece = message.sender->slot_bytes();
  auto const first = round * piece;
  if (first >= message.bytes) return;
  auto const size = std::min(piece, message.bytes - first);
  auto const slot = message.sender->slot(*record.waiter, record.tag);
  probe.end_of(Phase::wait);
  visit_piece(message, first, size,
              [&](MessageBlock const& block, std::int64_t skip, std::int64_t at, std::int64_t n) {
                (void)pack(base_of(record, block.storage, block.buffer), block.block, skip,
                           slot.subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(n)));
              });
  message.sender->put(record.tag, size);
  probe.end_of(Phase::pack);
}

template <class P>
void take_piece(Record& record, Message const& message, std::int64_t round, P& probe) {
  auto const piece = message.receiver->slot_bytes();
  auto const first = round * piece;
  if (first >= message.bytes) return;
  auto const size = std::min(piece, message.bytes - first);
  auto const slot = message.receiver->take(*record.waiter, record.tag);
  probe.end_of(Phase::wait);
  visit_piece(message, first, size,
              [&](MessageBlock const& block, std::int64_t skip, std::int64_t at, std::int64_t n) {
                auto* const base = base_of(record, block.storage, block.buffer);
                auto const bytes =
                    slot.subspan(static_cast<std::size_t>(at), static_cast<std::size_t>(n));
                if (record.plan->past_caches)
                  (void)unpack_past_caches(base, block.block, skip, bytes);
                else
                  (void)unpack(base, block.block, skip, bytes);
              });
  message.receiver->release();
  probe.end_of(Phase::pack);
}

bool has_piece(Message const& message, std::int64_t piece_bytes, std::int64_t round) {
  return round * piece_bytes < message.bytes;
}

template <class P>
bool take_pieces(Record& record, std::int64_t round, P& probe) {
  bool more = false;
  for (auto const& message : record.plan->receives) {
    take_piece(record, message, round, probe);
    more = more || has_piece(message, message.receiver->slot_bytes(), round + 1);
  }
  return more;
}

// Round r puts piece r to every peer, then takes piece r from every peer: with two slots per
// channel and as many rounds as the longest message needs, nobody waits for somebody who waits for
// him.
template <class P>
void exchange(Record& record, P& probe) {
  auto const& plan = *record.plan;
  for (std::int64_t round = 0;; ++round) {
    bool more = false;
    for (auto const& message : plan.sends) {
      put_piece(record, message, round, probe);
      more = more || has_piece(message, message.sender->slot_bytes(), round + 1);
    }
    more = take_pieces(record, round, probe) || more;
    if (!more) return;
  }
}

void copy_locally(Record& record) {
  auto const copy_cells = record.plan->past_caches ? copy_block_past_caches : copy_block;
  for (auto const& copy : record.plan->copies)
    copy_cells(base_of(record, copy.storage, copy.to), copy.pair.to, record.buffers[copy.from],
               copy.pair.from);
}

std::byte const* leaf_address(Record const& record, PartLeaf const& leaf) {
  switch (leaf.storage) {
    case Storage::shard:
      return record.buffers[leaf.buffer] + leaf.offset_bytes;
    case Storage::scratch:
      return record.scratch + leaf.offset_bytes;
    case Storage::constant:
      return record.kernel.data() + leaf.offset_bytes;
    case Storage::target:
      break;  // no kernel reads what lands there
  }
  return nullptr;
}

KernelFunction form_for(Part const& part, KernelForms const& forms) {
  if (part.past_caches && forms.past_caches != nullptr) return forms.past_caches;
  return part.unit_stride ? forms.unit_stride : forms.any_stride;
}

void compute_part(Record& record, Part const& part) {
  PartCall const whole(record, part);
  auto const kernel = form_for(part, record.forms);
  if (record.accumulator != nullptr || record.plan->whole_parts)
    kernel(&whole.call, 0, part.rows);  // one accumulator: one thread
  else
    launch(part.rows, kernel, &whole.call, record.tag.place);
}

void send_bytes(Record& record, Sender& sender, std::byte const* bytes, std::int64_t size) {
  auto const slot = sender.slot(*record.waiter, record.tag);
  TESSERA_ASSERT(size <= sender.slot_bytes(), size, " bytes for a slot of ", sender.slot_bytes());
  std::memcpy(slot.data(), bytes, static_cast<std::size_t>(size));
  sender.put(record.tag, size);
}

// Accumulators meet on the way up; the finished value comes down.
template <class P>
void meet(Record& record, P& probe) {
  auto const& tree = *record.tree;
  auto const& reduction = record.reduction;
  for (auto* child : tree.from_children) {
    auto const part = child->take(*record.waiter, record.tag);
    probe.end_of(Phase::wait);
    reduction.combine(record.accumulator, part.data());
    child->release();
    probe.end_of(Phase::pack);
  }
  if (tree.to_parent == nullptr) {
    reduction.finish(record.accumulator, reduction.parameter, record.result);
  } else {
    send_bytes(record, *tree.to_parent, record.accumulator, reduction.accumulator_bytes);
    probe.end_of(Phase::pack);
    auto const value = tree.from_parent->take(*record.waiter, record.tag);
    probe.end_of(Phase::wait);
    std::memcpy(record.result, value.data(), static_cast<std::size_t>(reduction.value_bytes));
    tree.from_parent->release();
  }
  for (auto* child : tree.to_children)
    send_bytes(record, *child, record.result, reduction.value_bytes);
  probe.end_of(Phase::pack);
}

// True if there was something to copy.
bool copy_staged(Record& record) {
  bool copied = false;
  for (std::size_t w = 0; w < record.targets.size(); ++w) {
    auto const& write = record.plan->writes[w];
    if (!write.staged) continue;
    copy_block(record.targets[w], write.stage.to, record.scratch, write.stage.from);
    copied = true;
  }
  return copied;
}

template <class P>
void execute_statement(Record& record, P& probe) {
  exchange(record, probe);
  copy_locally(record);
  for (auto const& carry : record.carry) copy_block(carry.to, carry.block, carry.from, carry.block);
  probe.end_of(Phase::pack);
  if (record.accumulator != nullptr) record.reduction.start(record.accumulator);
  for (auto const& part : record.plan->parts) compute_part(record, part);
  probe.end_of(Phase::kernel);
  if (copy_staged(record)) probe.end_of(Phase::pack);
  if (record.accumulator != nullptr) meet(record, probe);
}

template <class P>
void execute_anywhere(Record& record, P& probe) {
  if (record.gpu == nullptr)
    execute_statement(record, probe);
  else
    execute_on_gpu(record);
}

void execute_statement(Record& record) {
  if (record.probe == nullptr) {
    NoProbe nobody;
    execute_anywhere(record, nobody);
    return;
  }
  auto& probe = *record.probe;
  probe.begin(record.row);
  try {
    execute_anywhere(record, probe);
  } catch (...) {
    // A wait ends so, unless a user's kernel throws. The statement that was broken off is what a
    // trace is looked at for.
    probe.end_of(Phase::wait);
    probe.end();
    throw;
  }
  probe.end();
}

// Calls use(probe), or use(NoProbe) where nobody looks.
template <class Use>
void with_probe(Record& record, Use const& use) {
  if (record.probe == nullptr) {
    NoProbe nobody;
    use(nobody);
  } else {
    use(*record.probe);
  }
}

}  // namespace

PartCall::PartCall(Record const& record, Part const& part) {
  for (auto const& leaf : part.leaves)
    leaves_.push_back({leaf_address(record, leaf), &leaf.strides});
  call.kernel = record.kernel.data();
  call.first = &part.first;
  call.extents = &part.extents;
  call.leaves = leaves_.begin();
  call.scalars = record.scalars.data();
  call.accumulator = record.accumulator;
  call.step = record.step;
  call.target_strides = &part.target_strides;
  if (record.targets.empty()) return;
  bool const is_staged = record.plan->writes[part.write].staged;
  call.target =
      (is_staged ? record.scratch : record.targets[part.write]) + part.target_offset_bytes;
}

void meet(Record& record) {
  with_probe(record, [&](auto& probe) { meet(record, probe); });
}

void exchange_cells(Record& record) {
  if (record.gpu != nullptr) return exchange_on_gpu(record);
  with_probe(record, [&](auto& probe) { exchange(record, probe); });
  copy_locally(record);
}

bool channels_hold_messages(DevicePlan const& plan) {
  return std::ranges::all_of(plan.sends, [](auto const& message) {
    return message.lane != nullptr || message.in_group() ||
           message.bytes <= slots_per_channel * message.sender->slot_bytes();
  });
}

void send_cells(Record& record) {
  if (record.gpu != nullptr) return send_from_gpu(record);
  with_probe(record, [&](auto& probe) {
    for (std::int64_t round = 0; round < slots_per_channel; ++round)
      for (auto const& message : record.plan->sends) put_piece(record, message, round, probe);
  });
  copy_locally(record);
}

void receive_cells(Record& record) {
  if (record.gpu != nullptr) return receive_on_gpu(record);
  with_probe(record, [&](auto& probe) {
    for (std::int64_t round = 0; take_pieces(record, round, probe);) ++round;
  });
}

void note_phase(Record& record, Phase phase) {
  if (record.probe != nullptr) record.probe->end_of(phase);
}

void execute(Record& record) {
  if (record.kind == Record::Kind::call)
    (*record.call)(record);
  else
    execute_statement(record);
  record.keeps.clear();
  record.compiled.reset();
}

void or_bytes(std::span<std::byte> into, std::span<std::byte const> from) {
  for (std::size_t i = 0; i < into.size(); ++i) into[i] |= from[i];
}

namespace {

template <class Combine>
void combine_numbers(std::span<std::byte> into, std::span<std::byte const> from,
                     Combine const& combine) {
  for (std::size_t at = 0; at < into.size(); at += sizeof(std::int64_t)) {
    std::int64_t a = 0;
    std::int64_t b = 0;
    std::memcpy(&a, into.data() + at, sizeof a);
    std::memcpy(&b, from.data() + at, sizeof b);
    std::int64_t const result = combine(a, b);
    std::memcpy(into.data() + at, &result, sizeof result);
  }
}

}  // namespace

void max_numbers(std::span<std::byte> into, std::span<std::byte const> from) {
  combine_numbers(into, from, [](std::int64_t a, std::int64_t b) { return std::max(a, b); });
}
void add_numbers(std::span<std::byte> into, std::span<std::byte const> from) {
  combine_numbers(into, from, std::plus<>());
}

namespace {

// As many bytes of a longer value as travel at once: equal all over the tree, since slots differ
// only by their route, and are longer than this, unless all were given one length.
std::size_t bytes_at_once(TreeLinks const& tree) {
  std::int64_t least = 128 * 1024;
  auto const fit = [&](auto const* end) {
    if (end != nullptr) least = std::min(least, end->slot_bytes());
  };
  fit(tree.to_parent);
  for (auto const* child : tree.to_children) fit(child);
  return static_cast<std::size_t>(least / 128 * 128);
}

}  // namespace

void combine_along_tree(Record& record, std::span<std::byte> bytes, CombineBytes combine) {
  auto const& tree = *record.tree;
  auto const step = bytes_at_once(tree);
  for (std::size_t first = 0; first < bytes.size(); first += step) {
    auto const part = bytes.subspan(first, std::min(step, bytes.size() - first));
    auto const size = static_cast<std::int64_t>(part.size());
    for (auto* child : tree.from_children) {
      combine(part, child->take(*record.waiter, record.tag));
      child->release();
    }
    if (tree.to_parent != nullptr) {
      send_bytes(record, *tree.to_parent, part.data(), size);
      auto const whole = tree.from_parent->take(*record.waiter, record.tag);
      std::memcpy(part.data(), whole.data(), part.size());
      tree.from_parent->release();
    }
    for (auto* child : tree.to_children) send_bytes(record, *child, part.data(), size);
  }
}

}  // namespace tessera
