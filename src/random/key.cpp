#include "tessera/random/key.hpp"

#include "tessera/base/error.hpp"
#include "tessera/detail/base/text.hpp"

#include "src/base/host_room.hpp"

namespace tessera::random {

std::vector<Key> Key::split(std::int64_t n) const {
  if (n < 0) throw UsageError(detail::text("a key was to be split into ", n, " keys"));
  std::vector<Key> keys;
  make_room(n, sizeof(Key), "the keys of Key::split",
            [&](std::size_t count) { keys.resize(count, Key(0)); });
  for (std::size_t i = 0; i < keys.size(); ++i)
    keys[i] = Key(detail::derived_key(bits_, detail::draw_of_split, i));
  return keys;
}

StepKey Key::at(Step step) const {
  return {*this, step, 0};
}
StepKey Key::at(detail::LaterStep const& step) const {
  return {*this, step.step, step.plus};
}

std::ostream& operator<<(std::ostream& out, Key key) {
  constexpr auto digits = "0123456789abcdef";
  out << "Key(0x";
  for (unsigned shift = 64; shift > 0;) out << digits[key.bits_ >> (shift -= 4) & 15U];
  return out << ")";
}

StepKey::StepKey(Key key, Step step, std::int64_t later)
    : bits_(key.value()), has_step_(true), number_(step.number()), later_(later) {}

StepKey StepKey::derived(std::uint64_t draw, std::uint64_t number) const {
  if (count_ == most_derivations)
    throw UsageError(detail::text("a key of a step was split and folded into more than ",
                                  most_derivations,
                                  " times; do the first of these before Key::at"));
  auto result = *this;
  result.draws_[count_] = draw;
  result.numbers_[count_] = number;
  ++result.count_;
  return result;
}

void StepKey::pass_numbers(detail::NumberVisitor& visitor) const {
  visitor.unsigned_integer(bits_);
  visitor.signed_integer(later_);
  for (int i = 0; i < count_; ++i) {
    visitor.unsigned_integer(draws_[i]);
    visitor.unsigned_integer(numbers_[i]);
  }
}

}  // namespace tessera::random
