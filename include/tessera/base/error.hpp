#pragma once
/// @file
/// The exceptions that Tessera throws. A caller's mistake has a class by its remedy; a failure of
/// the machine or of another process has a class by the part that failed.

#include <memory>
#include <stdexcept>
#include <string>
#include <string_view>

namespace tessera {

/// The root of everything Tessera throws.
class Error : public std::runtime_error {
 public:
  explicit Error(std::string const& what);

 private:
  std::shared_ptr<std::string const> words_;  ///< shared by all copies
};

/// The message of the last Error that this thread made, while that Error or a copy of it exists;
/// otherwise empty.
[[nodiscard]] std::string last_error_text();

/// Extents, ranks or ranges that do not fit together.
class ShapeError : public Error {
 public:
  using Error::Error;
};

/// An index outside the array.
class IndexError : public Error {
 public:
  using Error::Error;
};

/// An impossible mesh, partition spec or cut.
class ShardingError : public Error {
 public:
  using Error::Error;
};

/// A call at a time or in a way that is not allowed.
class UsageError : public Error {
 public:
  using Error::Error;
};

/// A statement that would have sent more than a CommunicationBudget or TESSERA_STRICT allows.
class BudgetExceeded : public Error {
 public:
  using Error::Error;
};

/// A setting of the environment or of the options that cannot be read or met.
class ConfigError : public Error {
 public:
  using Error::Error;
};

/// A backend that this build leaves out.
class BackendNotBuilt : public Error {
 public:
  /// `backend` for people, as "MPI"; `option` the CMake option that puts it in.
  BackendNotBuilt(std::string_view backend, std::string_view option);
};

/// A statement on arrays of GPUs that no compiler for GPUs has seen.
class KernelNotBuilt : public Error {
 public:
  using Error::Error;
};

/// A transport or the operating system beneath it failed.
class TransportError : public Error {
 public:
  using Error::Error;
};

/// A device failed.
class DeviceError : public Error {
 public:
  using Error::Error;
};

/// Another process died, was stopped or gave up; thrown in the processes that waited for it.
class PeerFailed : public Error {
 public:
  using Error::Error;
};

/// The processes run different programs.
class Mismatch : public Error {
 public:
  using Error::Error;
};

}  // namespace tessera
