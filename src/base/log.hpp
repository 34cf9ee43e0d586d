#pragma once
/// @file
/// Lines on standard error, each with the process that wrote it. No step of a running program
/// prints; each line is written once or ends the job. A line longer than 16 KiB is cut there, and
/// ends with its length.

#include <string_view>

#include "tessera/base/ids.hpp"

namespace tessera {

/// Names this process in every line from now on; before that, lines carry no process.
void set_log_process(ProcessId process);

/// "tessera[process]: warning: line". Threads: any.
void log_warning(std::string_view line);

/// Like `log_warning`, but a line that was written before is not written again.
void log_warning_once(std::string_view line);

/// "tessera[process]: error: line". Threads: any.
void log_error(std::string_view line);

}  // namespace tessera
