#pragma once
/// @file
/// What a piece of code writes on standard error, and how it ends, seen from outside.

#include <array>
#include <csignal>
#include <stdexcept>
#include <string>

#include <sys/wait.h>
#include <unistd.h>

namespace tessera::test {

struct Captured {
  std::string errors;  ///< all that was written on standard error
  int status = 0;      ///< as of waitpid
};

/// Runs `body` in a process of its own.
template <class Body>
Captured captured(Body const& body) {
  std::array<int, 2> pipe_ends{};
  if (pipe(pipe_ends.data()) != 0) throw std::runtime_error("pipe");
  pid_t const child = fork();
  if (child < 0) throw std::runtime_error("fork");
  if (child == 0) {
    dup2(pipe_ends[1], STDERR_FILENO);
    // A body that aborts is not to be caught by the handler of the test program.
    signal(SIGABRT, SIG_DFL);
    body();
    _exit(0);
  }
  close(pipe_ends[1]);
  Captured result;
  std::array<char, 256> buffer{};
  for (ssize_t n = 0; (n = read(pipe_ends[0], buffer.data(), buffer.size())) > 0;)
    result.errors.append(buffer.data(), static_cast<std::size_t>(n));
  close(pipe_ends[0]);
  waitpid(child, &result.status, 0);
  return result;
}

}  // namespace tessera::test
