#pragma once
/// @file
/// The environment, checked as a whole before anything is made or sent.

#include "src/job/bootstrap.hpp"

namespace tessera {

/// Reads all variables of Tessera's, also those that this job may never need: a mistake shows at
/// once, and not after a long computation.
/// Ranks:  collective.
/// Throws: ConfigError, the same on every process, if any process has a variable that cannot be
///         read.
void check_variables(Bootstrap& bootstrap);

}  // namespace tessera
