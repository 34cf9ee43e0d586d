#include "target.hpp"

#include <cstdlib>
#include <iostream>

#include "src/base/text.hpp"

namespace tessera::fuzz {
namespace {

// Excerpts have 80 characters, and a message quotes a few of them.
constexpr std::size_t most_words = 2000;

}  // namespace

void require(bool holds, std::string_view what) {
  if (holds) return;
  std::cerr << "==== finding: " << what << std::endl;
  std::abort();
}

void check_words(std::string_view words) {
  require(words.size() <= most_words, "an error of more than 2000 bytes");
  // A failure that is passed on may have several lines.
  require(printable(words, "\n") == words, text("an error with control characters: ", words));
}

}  // namespace tessera::fuzz

// What libFuzzer calls.
extern "C" int LLVMFuzzerTestOneInput(std::uint8_t const* data, std::size_t size) {
  using namespace tessera::fuzz;
  (void)refuses([&] { attack(std::as_bytes(std::span(data, size))); });
  return 0;
}
