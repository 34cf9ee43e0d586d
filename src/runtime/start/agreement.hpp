#pragma once
/// @file
/// Mistakes that only some processes see while the Runtime is made, told to all.

#include <exception>
#include <functional>
#include <string>

#include "src/job/bootstrap.hpp"

namespace tessera {

/// Throws alike on every process: the words of the first one whose `reason` is not empty, which
/// they name. Ranks: collective. Throws: ConfigError. Cost: one message, and a few more
/// after a mistake.
void throw_alike(Bootstrap& bootstrap, std::string const& reason);

/// Runs `f`, which makes devices, and spreads what it throws. In a job of one process an error of
/// Tessera's is thrown as it is.
/// Ranks:  collective; `f` is not.
/// Throws: ConfigError alike on every process.
void run_alike(Bootstrap& bootstrap, std::function<void()> const& f);

}  // namespace tessera
