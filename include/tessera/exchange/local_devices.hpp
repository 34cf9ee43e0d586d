#pragma once
/// @file
/// How many devices a process drives.

#include <cstdint>

#include "tessera/exchange/runtime.hpp"
#include "tessera/transport/bootstrap.hpp"

namespace tessera {

/// What the options say; else TESSERA_DEVICES; else one device per process under a launcher, and
/// one per core for a program started alone.
///
/// Ranks:  collective over the job; the processes may differ.
/// Throws: ConfigError on every process if one of them cannot have what it is told to drive.
[[nodiscard]] std::int64_t devices_of_this_process(RuntimeOptions const& options,
                                                   Bootstrap& bootstrap);

}  // namespace tessera
