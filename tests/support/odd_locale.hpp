#pragma once
/// @file
/// A program that has set its locales to what people of some country expect.

#include <clocale>
#include <locale>
#include <string>

namespace tessera::test {

/// As long as it lives, numbers of C++ look like "12,345;5" unless a stream is told otherwise.
/// Those of C have a comma before the fraction, if the machine has such a locale.
class OddLocale {
 public:
  OddLocale() : before_(std::locale::global({std::locale::classic(), new Punctuation})) {
    for (char const* const name : {"de_DE.UTF-8", "de_DE.utf8", "fr_FR.UTF-8", "fr_FR.utf8"})
      if (std::setlocale(LC_ALL, name) != nullptr) return;
  }
  ~OddLocale() {
    std::locale::global(before_);
    std::setlocale(LC_ALL, "C");
  }
  OddLocale(OddLocale const&) = delete;
  OddLocale& operator=(OddLocale const&) = delete;

 private:
  struct Punctuation : std::numpunct<char> {
    [[nodiscard]] char do_decimal_point() const override { return ';'; }
    [[nodiscard]] char do_thousands_sep() const override { return ','; }
    [[nodiscard]] std::string do_grouping() const override { return "\3"; }
  };

  std::locale before_;
};

}  // namespace tessera::test
