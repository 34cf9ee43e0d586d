#pragma once
/// @file
/// Variables of the environment that tests set.

#include <cstdlib>
#include <optional>
#include <string>

namespace tessera::test {

/// A variable that has this value as long as the object lives, and then its old one.
class Setting {
 public:
  Setting(char const* name, std::string const& value) : name_(name) {
    if (auto const* const known = std::getenv(name)) before_ = known;
    ::setenv(name, value.c_str(), 1);
  }
  ~Setting() { before_ ? ::setenv(name_, before_->c_str(), 1) : ::unsetenv(name_); }
  Setting(Setting const&) = delete;
  Setting& operator=(Setting const&) = delete;

 private:
  char const* name_;
  std::optional<std::string> before_;
};

}  // namespace tessera::test
