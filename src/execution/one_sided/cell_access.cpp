#include "src/execution/one_sided/cell_access.hpp"

#include <algorithm>
#include <atomic>
#include <cstring>

#include "tessera/base/half.hpp"

#include "src/base/float_state.hpp"

namespace tessera {
namespace {

template <class Word>
void load_words(std::byte const* cell, std::int64_t bytes, std::byte* into) {
  for (std::int64_t at = 0; at < bytes; at += static_cast<std::int64_t>(sizeof(Word))) {
    auto* const place = const_cast<Word*>(reinterpret_cast<Word const*>(cell + at));
    Word const word = std::atomic_ref(*place).load(std::memory_order_acquire);
    std::memcpy(into + at, &word, sizeof word);
  }
}

template <class Word>
void store_words(std::byte* cell, std::int64_t bytes, std::byte const* from) {
  for (std::int64_t at = 0; at < bytes; at += static_cast<std::int64_t>(sizeof(Word))) {
    Word word;
    std::memcpy(&word, from + at, sizeof word);
    std::atomic_ref(*reinterpret_cast<Word*>(cell + at)).store(word, std::memory_order_release);
  }
}

// The longest word that fills a cell evenly; buffers begin at a cache line, so cells lie at
// multiples of it.
std::int64_t widest_word_bytes(std::int64_t bytes) {
  return std::min<std::int64_t>(bytes & -bytes, 8);
}

template <class T>
T value_in(std::array<std::byte, 16> const& bytes, std::size_t at = 0) {
  T value;
  std::memcpy(static_cast<void*>(&value), bytes.data() + at, sizeof value);
  return value;
}

template <class T>
void add_number(std::byte* cell, T operand, std::byte* old) {
  T const before =
      std::atomic_ref(*reinterpret_cast<T*>(cell)).fetch_add(operand, std::memory_order_acq_rel);
  if (old != nullptr) std::memcpy(old, &before, sizeof before);
}

// Works on the bits, since the machine has no atomic addition of this type.
template <class Half16>
void add_half(std::byte* cell, Half16 operand, std::byte* old) {
  std::atomic_ref bits(*reinterpret_cast<std::uint16_t*>(cell));
  auto before = bits.load(std::memory_order_relaxed);
  std::uint16_t after = 0;
  do {
    Half16 value;
    std::memcpy(static_cast<void*>(&value), &before, sizeof before);
    Half16 const sum(static_cast<float>(value) + static_cast<float>(operand));
    std::memcpy(&after, &sum, sizeof after);
  } while (!bits.compare_exchange_weak(before, after, std::memory_order_acq_rel));
  if (old != nullptr) std::memcpy(old, &before, sizeof before);
}

template <class Real>
void add_parts(std::byte* cell, CellUpdate const& update, std::byte* old) {
  for (std::size_t at = 0; at < 2 * sizeof(Real); at += sizeof(Real))
    add_number<Real>(cell + at, value_in<Real>(update.operand, at),
                     old == nullptr ? nullptr : old + at);
}

void add_to(std::byte* cell, CellUpdate const& update, std::byte* old) {
  auto const& operand = update.operand;
  switch (update.kind) {
    case NumberKind::int8:
      return add_number(cell, value_in<std::int8_t>(operand), old);
    case NumberKind::uint8:
      return add_number(cell, value_in<std::uint8_t>(operand), old);
    case NumberKind::int16:
      return add_number(cell, value_in<std::int16_t>(operand), old);
    case NumberKind::uint16:
      return add_number(cell, value_in<std::uint16_t>(operand), old);
    case NumberKind::int32:
      return add_number(cell, value_in<std::int32_t>(operand), old);
    case NumberKind::uint32:
      return add_number(cell, value_in<std::uint32_t>(operand), old);
    case NumberKind::int64:
      return add_number(cell, value_in<std::int64_t>(operand), old);
    case NumberKind::uint64:
      return add_number(cell, value_in<std::uint64_t>(operand), old);
    case NumberKind::half:
      return add_half(cell, value_in<float16>(operand), old);
    case NumberKind::brain:
      return add_half(cell, value_in<bfloat16>(operand), old);
    case NumberKind::float32:
      return add_number(cell, value_in<float>(operand), old);
    case NumberKind::float64:
      return add_number(cell, value_in<double>(operand), old);
    case NumberKind::complex64:
      return add_parts<float>(cell, update, old);
    case NumberKind::complex128:
      return add_parts<double>(cell, update, old);
  }
}

template <class Bits>
void exchange_bits(std::byte* cell, CellUpdate const& update, std::byte* old) {
  auto found = value_in<Bits>(update.expected);
  std::atomic_ref(*reinterpret_cast<Bits*>(cell))
      .compare_exchange_strong(found, value_in<Bits>(update.operand), std::memory_order_acq_rel,
                               std::memory_order_acquire);
  if (old != nullptr) std::memcpy(old, &found, sizeof found);
}

bool has_8_bytes(NumberKind kind) {
  return kind == NumberKind::int64 || kind == NumberKind::uint64 || kind == NumberKind::float64;
}

}  // namespace

void load_cell(std::byte const* cell, std::int64_t bytes, std::byte* into) {
  if (bytes == 8) return load_words<std::uint64_t>(cell, 8, into);  // the usual one, without a loop
  switch (widest_word_bytes(bytes)) {
    case 8:
      return load_words<std::uint64_t>(cell, bytes, into);
    case 4:
      return load_words<std::uint32_t>(cell, bytes, into);
    case 2:
      return load_words<std::uint16_t>(cell, bytes, into);
    default:
      return load_words<std::uint8_t>(cell, bytes, into);
  }
}

void store_cell(std::byte* cell, std::int64_t bytes, std::byte const* from) {
  switch (widest_word_bytes(bytes)) {
    case 8:
      return store_words<std::uint64_t>(cell, bytes, from);
    case 4:
      return store_words<std::uint32_t>(cell, bytes, from);
    case 2:
      return store_words<std::uint16_t>(cell, bytes, from);
    default:
      return store_words<std::uint8_t>(cell, bytes, from);
  }
}

void update_cell(std::byte* cell, CellUpdate const& update, std::byte* old) {
  DefaultFloatState const computing;  // on the caller's thread, or one that answers others
  if (update.what == CellUpdate::What::add) return add_to(cell, update, old);
  if (has_8_bytes(update.kind)) return exchange_bits<std::uint64_t>(cell, update, old);
  exchange_bits<std::uint32_t>(cell, update, old);
}

}  // namespace tessera
