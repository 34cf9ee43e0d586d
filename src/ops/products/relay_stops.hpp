#pragma once
/// @file
/// Which device of a relay adds which terms of a product.

#include <cstdint>
#include <vector>

#include "tessera/layout/cut.hpp"

namespace tessera {

/// Terms [lo, hi), which one device of a relay adds to the sums that it receives.
struct RelayStop {
  std::int64_t device = 0;  ///< its place in the relay
  std::int64_t lo = 0;
  std::int64_t hi = 0;
  friend bool operator==(RelayStop const&, RelayStop const&) = default;
};

/// The stops of a relay, in the order of terms. They begin at multiples of 256: a block of terms is
/// added by the device that owns its first term. Blocks that a device owns whole are one stop; a
/// block in which others own terms is a stop of its own.
class RelayStops {
 public:
  /// `cut`: of the terms, over the devices of the relay.
  RelayStops(Cut const& cut, std::int64_t terms, std::int64_t devices)
      : cut_(cut), terms_(terms), devices_(devices) {}

  [[nodiscard]] std::int64_t devices() const { return devices_; }
  [[nodiscard]] std::int64_t terms() const { return terms_; }
  [[nodiscard]] bool are_cut_as(Cut const& other) const { return cut_ == other; }
  [[nodiscard]] RelayStop first() const { return with(0); }
  [[nodiscard]] RelayStop last() const { return with(terms_ - 1); }
  /// The stop that adds a term. Cost: independent of the number of devices.
  [[nodiscard]] RelayStop with(std::int64_t term) const;
  /// The stops that add terms of which the device has some by a cut of theirs, and those that
  /// follow its pieces, to which it passes sums; in order. Cost: independent of the number of
  /// devices.
  [[nodiscard]] std::vector<RelayStop> of_device(std::int64_t device, Cut const& owned) const;
  [[nodiscard]] std::vector<RelayStop> of_device(std::int64_t device) const {
    return of_device(device, cut_);
  }
  /// No device has more stops, by the stops' own cut.
  [[nodiscard]] std::int64_t most_of_device() const;
  /// There are no more stops.
  [[nodiscard]] std::int64_t most() const;

  /// Equal for equal stops.
  [[nodiscard]] std::uint64_t hash() const;

 private:
  Cut cut_;
  std::int64_t terms_;
  std::int64_t devices_;
};

}  // namespace tessera
