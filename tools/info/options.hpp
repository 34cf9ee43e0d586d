#pragma once
/// @file
/// The command line, read before anything is started: every process comes to the same answer.

#include <string>
#include <vector>

namespace info {

struct Options {
  bool as_json = false;
  bool measures = true;
  bool wants_help = false;
  bool wants_version = false;
  std::string error;  ///< why the arguments cannot be used; empty if they can
};

[[nodiscard]] Options parse(std::vector<std::string> const& arguments);

extern char const* const help_text;

}  // namespace info
