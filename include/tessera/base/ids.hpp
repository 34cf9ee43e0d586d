#pragma once
/// @file
/// Integers that must not be confused, each with a type of its own.

#include <compare>
#include <cstdint>
#include <functional>
#include <ostream>

namespace tessera {

/// A number that names one thing of a kind. Converts from and to numbers only when asked.
template <class Kind>
class Id {
 public:
  constexpr Id() = default;
  constexpr explicit Id(std::int64_t value) : value_(value) {}

  [[nodiscard]] constexpr std::int64_t value() const { return value_; }

  friend constexpr auto operator<=>(Id, Id) = default;
  friend std::ostream& operator<<(std::ostream& out, Id id) { return out << id.value_; }

 private:
  std::int64_t value_ = 0;
};

/// A device of the job: 0 .. device_count() - 1. Ids follow the processes.
using DeviceId = Id<struct DeviceIdTag>;

/// A process of the job: its rank among all of them.
using ProcessId = Id<struct ProcessIdTag>;

}  // namespace tessera

template <class Kind>
struct std::hash<tessera::Id<Kind>> {
  std::size_t operator()(tessera::Id<Kind> id) const noexcept {
    return std::hash<std::int64_t>{}(id.value());
  }
};
