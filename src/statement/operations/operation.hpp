#pragma once
/// @file
/// Calls that take several exchanges, such as a product whose sums pass from device to device.

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "tessera/base/source.hpp"

#include "src/base/detail.hpp"
#include "src/statement/lowering/lower_statement.hpp"
#include "src/statement/statement.hpp"

namespace tessera {

struct Operation;

/// How an operation is divided into steps. A step is a part of one of the operation's statements:
/// fewer indices, or cells at another place of its arrays.
///
/// Ranks: pure. The steps of a device are the same, in the same order, whichever process asks.
class OperationSteps {
 public:
  virtual ~OperationSteps() = default;
  OperationSteps(OperationSteps const&) = delete;
  OperationSteps& operator=(OperationSteps const&) = delete;

  struct Step {
    std::size_t statement = 0;  ///< the number of the statement of which it is a part
    /// Differs from that of the operation's other steps, and is the same on every process: a
    /// message of one step is not taken for that of another.
    std::uint64_t place = 0;
    Statement const& part;  ///< valid during the visit
  };
  using Visit = std::function<void(Step const& step)>;
  /// Calls `visit` for each step in which one of the devices sends, receives or computes, in the
  /// order in which all devices run their steps. May visit a few others.
  /// Cost: that of the steps of these devices.
  virtual void visit(Operation const& operation, DeviceSpan const& devices,
                     Visit const& visit) const = 0;

  /// Equal for equal divisions of statements that have equal plans.
  [[nodiscard]] virtual std::uint64_t hash() const = 0;
  /// No device of the job has more steps.
  [[nodiscard]] virtual std::int64_t most_steps() const = 0;
  /// For people, after "written": "in 4 slices of terms".
  [[nodiscard]] virtual std::string words() const = 0;

 protected:
  OperationSteps() = default;
};

/// What stays the same of an operation when it is replayed with other arrays.
struct OperationCall {
  char const* kind = "";  ///< for people: "matmul"
  SourceLocation location;
  std::shared_ptr<OperationSteps const> steps;
};

/// One call. It runs as a unit: it has one number and one plan, and whoever counts or explains
/// statements counts and explains it as one. It lives on the caller's stack until `submit` returns.
struct Operation : OperationCall {
  static constexpr std::size_t most_statements = 3;

  /// Of which the steps are parts. The program asks for all of them, so none is a surprising gather
  /// (Purpose::transfer); none is a reduction to a scalar.
  InlineVector<Statement const*, most_statements> statements;
};

}  // namespace tessera
