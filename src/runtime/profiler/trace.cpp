#include <cerrno>
#include <cstring>
#include <filesystem>
#include <iomanip>
#include <string_view>
#include <system_error>

#include <fcntl.h>
#include <unistd.h>

#include "tessera/base/error.hpp"

#include "src/base/file_bytes.hpp"
#include "src/base/log.hpp"
#include "src/base/text.hpp"
#include "src/runtime/profiler/observer.hpp"

namespace tessera {
namespace {

// Returns the words as a JSON string, with its quotes.
std::string quoted(std::string const& words) {
  TextStream out;
  out << '"';
  for (char const c : words) {
    if (c == '"' || c == '\\')
      out << '\\' << c;
    else if (static_cast<unsigned char>(c) < 0x20)
      out << "\\u" << std::hex << std::setw(4) << std::setfill('0') << static_cast<int>(c)
          << std::dec;
    else
      out << c;
  }
  out << '"';
  return std::move(out).str();
}

// Microseconds with three digits after the point.
void write_microseconds(std::ostream& out, std::int64_t ns) {
  auto const whole = ns < 0 ? 0 : ns;
  out << whole / 1000 << '.' << std::setw(3) << std::setfill('0') << whole % 1000;
}

char const* name_of(Phase phase) {
  switch (phase) {
    case Phase::kernel:
      return "kernel";
    case Phase::pack:
      return "pack";
    case Phase::wait:
      return "wait";
    case Phase::statement:
      break;
  }
  return "statement";
}

// True if the user that this process acts as may write the file, or make it in the folder.
bool may_write(std::string const& file, std::string const& folder) {
  auto const may = [](std::string const& path, int what) {
    return ::faccessat(AT_FDCWD, path.c_str(), what, AT_EACCESS) == 0;
  };
  return may(file, F_OK) ? may(file, W_OK) : may(folder, W_OK | X_OK);
}

void write_name(std::ostream& out, char const* what, std::int64_t process, std::int64_t thread,
                std::string const& name) {
  out << R"({"ph":"M","name":")" << what << R"(","pid":)" << process << R"(,"tid":)" << thread
      << R"(,"args":{"name":)" << quoted(name) << "}}";
}

void write_span(std::ostream& out, Span const& span, std::vector<std::string> const& names,
                std::int64_t offset_ns) {
  auto const& statement = names[span.row];
  auto const* phase = name_of(span.phase);
  out << ",\n"
      << R"({"ph":"X","cat":")" << phase << R"(","name":)"
      << (span.phase == Phase::statement ? statement : text('"', phase, '"')) << R"(,"ts":)";
  write_microseconds(out, span.begin_ns + offset_ns);
  out << R"(,"dur":)";
  write_microseconds(out, span.end_ns - span.begin_ns);
  if (span.phase != Phase::statement) out << R"(,"args":{"statement":)" << statement << '}';
}

}  // namespace

std::string trace_file(std::string const& asked, ProcessId self) {
  if (self == ProcessId{0}) return asked;
  auto const folder = asked.find_last_of('/');
  auto const name = folder == std::string::npos ? 0 : folder + 1;
  auto const dot = asked.rfind('.');
  if (dot == std::string::npos || dot <= name) return text(asked, '.', self);
  return text(asked.substr(0, dot), '.', self, asked.substr(dot));
}

void check_trace_file(std::string const& asked, ProcessId self) {
  auto const file = trace_file(asked, self);
  auto const refuse = [&](std::string_view why) {
    throw ConfigError(text("TESSERA_TRACE=", excerpt(asked), ": the file ", excerpt(file), ' ', why,
                           "; name another, or unset it"));
  };
  std::error_code ignored;
  std::error_code error;
  auto const kind = std::filesystem::status(file, error).type();
  if (kind == std::filesystem::file_type::directory) refuse("is a folder");
  if (kind == std::filesystem::file_type::not_found && std::filesystem::is_symlink(file, ignored))
    refuse("is a link that leads nowhere");
  // A link to itself, too long a name, a closed folder.
  if (kind == std::filesystem::file_type::none)
    refuse(text("cannot be written (", error.message(), ')'));
  if (kind != std::filesystem::file_type::not_found && kind != std::filesystem::file_type::regular)
    refuse("is a pipe, socket or device");  // to write a pipe without a reader would never end
  auto const folder = file.substr(0, file.find_last_of('/') + 1);
  auto const place = folder.empty() ? "." : folder;
  if (!std::filesystem::is_directory(place, ignored)) refuse("lies in a folder that is not there");
  if (!may_write(file, place)) refuse("cannot be written");
}

std::string trace_text(Observer const& observer, Job const& job,
                       std::deque<PhaseTimer> const& timers) {
  std::vector<std::string> names;
  for (auto const& location : observer.observed())
    names.push_back(quoted(text(location.location, ' ', location.kind)));
  auto const process = job.self().value();
  std::uint64_t overwritten = 0;
  TextStream out;
  out << "{\"displayTimeUnit\":\"ns\",\"traceEvents\":[\n";
  write_name(out, "process_name", process, 0, text("process ", process));
  auto device = job.first_local().value();
  for (auto const& timer : timers) {
    out << ",\n";
    write_name(out, "thread_name", process, device, text("device ", device));
    timer.ring().visit([&](Span const& span) {
      write_span(out, span, names, observer.options().clock_offset_ns);
      out << R"(,"pid":)" << process << R"(,"tid":)" << device << '}';
    });
    overwritten += timer.ring().overwritten();
    ++device;
  }
  out << "\n],\"otherData\":{\"overwritten spans\":" << overwritten << "}}\n";
  return std::move(out).str();
}

void Observer::write_trace() const {
  if (!options_.trace) return;
  auto const path = trace_file(*options_.trace, job_.self());
  if (write_file(path, trace_text(*this, job_, timers_))) return;
  auto const error = errno;
  log_error(text("the trace cannot be written to ", printable(path), ": ", std::strerror(error),
                 "; set TESSERA_TRACE to a file in a folder that ",
                 error == ENOSPC ? "has room for it" : "is there"));
  // Removes an incomplete trace, but nothing else that may be here by now.
  std::error_code ignored;
  if (std::filesystem::is_regular_file(path, ignored)) std::filesystem::remove(path, ignored);
}

}  // namespace tessera
