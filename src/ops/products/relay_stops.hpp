#pragma once
/// @file
/// Which device of a relay adds which terms of a product.

#include <cstdint>
#include <vector>

#include "tessera/layout/cut.hpp"

namespace tessera {

/// Terms [lo, hi), which one device of a relay adds to the sums that it receives.
struct RelayStop {
  std::int64_t device = 0;  ///< its position in the relay
  std::int64_t lo = 0;
  std::int64_t hi = 0;
  friend bool operator==(RelayStop const&, RelayStop const&) = default;
};

/// The stops of a relay, in the order of their terms. The device that owns the first term of a
/// block of 256 adds the whole block, so stops begin at multiples of 256. The blocks of a piece
/// that one device owns completely are one stop; a block of which several devices own terms is a
/// stop of its own.
class RelayStops {
 public:
  /// `cut` is how the terms are divided among the devices of the relay.
  RelayStops(Cut const& cut, std::int64_t terms, std::int64_t devices)
      : cut_(cut), terms_(terms), devices_(devices) {}

  [[nodiscard]] std::int64_t devices() const { return devices_; }
  [[nodiscard]] std::int64_t terms() const { return terms_; }
  [[nodiscard]] bool are_cut_as(Cut const& other) const { return cut_ == other; }
  [[nodiscard]] RelayStop first() const { return stop_of(0); }
  [[nodiscard]] RelayStop last() const { return stop_of(terms_ - 1); }
  /// The stop that adds a term. Cost: independent of the number of devices.
  [[nodiscard]] RelayStop stop_of(std::int64_t term) const;
  /// The stops, in order, that concern a device whose terms are cut as `owned`: those that add
  /// terms of its pieces, and the one after each piece, to which it passes sums. Cost: independent
  /// of the number of devices.
  [[nodiscard]] std::vector<RelayStop> of_device(std::int64_t device, Cut const& owned) const;
  [[nodiscard]] std::vector<RelayStop> of_device(std::int64_t device) const {
    return of_device(device, cut_);
  }
  /// An upper bound on the stops that concern one device, by the cut of the stops.
  [[nodiscard]] std::int64_t most_of_device() const;
  /// An upper bound on the number of stops.
  [[nodiscard]] std::int64_t most() const;

  /// Equal for equal stops.
  [[nodiscard]] std::uint64_t hash() const;

 private:
  Cut cut_;
  std::int64_t terms_;
  std::int64_t devices_;
};

}  // namespace tessera
