#include "src/runtime/start/agreement.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <iterator>
#include <limits>

#include "tessera/base/error.hpp"

#include "src/base/text.hpp"
#include "src/liveness/failure_message.hpp"

namespace tessera {
namespace {

constexpr auto nothing = std::numeric_limits<std::int64_t>::min();

// Returns the words of one process on all of them. `words` of the others count for nothing.
std::string spread(Bootstrap& bootstrap, std::string words, bool is_mine) {
  auto const bytes = bootstrap.max_of(is_mine ? std::ssize(words) : nothing);
  words.resize(static_cast<std::size_t>(bytes));
  std::array<std::int64_t, 64> piece{};
  for (std::size_t at = 0; at < words.size(); at += sizeof piece) {
    auto const count = std::min(words.size() - at, sizeof piece);
    if (is_mine)
      std::memcpy(piece.data(), words.data() + at, count);
    else
      piece.fill(nothing);
    bootstrap.max_of_each(piece);
    std::memcpy(words.data() + at, piece.data(), count);
  }
  return words;
}

}  // namespace

void throw_alike(Bootstrap& bootstrap, std::string const& reason) {
  auto const self = bootstrap.self();
  auto const first = bootstrap.max_of(reason.empty() ? nothing : -self.value());
  if (first == nothing) return;
  if (bootstrap.process_count() == 1) throw ConfigError(reason);
  auto const words = spread(bootstrap, reason, first == -self.value());
  throw ConfigError(text(words, " (process ", -first, ')'));
}

void run_alike(Bootstrap& bootstrap, std::function<void()> const& f) {
  std::string reason;
  try {
    f();
  } catch (Error const& error) {
    if (bootstrap.process_count() == 1) throw;
    reason = error.what();
  } catch (...) {
    reason = text("this process cannot make its devices: ", words_of(std::current_exception()));
  }
  throw_alike(bootstrap, reason);
}

}  // namespace tessera
