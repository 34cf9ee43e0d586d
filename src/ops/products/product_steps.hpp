#pragma once
/// @file
/// The steps of a product that takes several: slices, and sums that pass from device to device.
///
/// The statements of its operation are, by number: the first terms, from zero or from the target's
/// cells; more terms, which start with the sums so far; and, where the sums do not lie in the
/// target, the copy to it.

#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "tessera/layout/cut.hpp"

#include "src/mesh/axes.hpp"
#include "src/ops/products/relay_stops.hpp"
#include "src/statement/operations/operation.hpp"

namespace tessera {

/// Equal parts of one dimension of the statements, one after the other; with a width of the whole
/// extent one step.
class ProductSlices final : public OperationSteps {
 public:
  struct Sizes {
    std::size_t dimension = 0;
    std::int64_t extent = 1;
    std::int64_t width = 1;
    bool are_terms = false;  ///< so that each slice starts with the sums of the one before
    bool is_copied = false;  ///< to the target, in the end
  };
  explicit ProductSlices(Sizes const& sizes) : sizes_(sizes) {}

  void visit(Operation const& operation, DeviceSpan const& devices,
             Visit const& visit) const override;
  [[nodiscard]] std::uint64_t hash() const override;
  [[nodiscard]] std::int64_t most_steps() const override;
  [[nodiscard]] std::string words() const override;

 private:
  [[nodiscard]] std::int64_t count() const;

  Sizes sizes_;
};

/// Sums pass along the devices that own the terms, in chunks of another dimension. The sums are an
/// array of one layer for each of these devices; the statements name its layers in dimension 0.
class ProductRelay final : public OperationSteps {
 public:
  struct Sizes {
    Mesh mesh;
    AxisNames axes;    ///< along which sums pass, the major one first
    RelayStops stops;  ///< by the cut of a's terms
    /// Of b's terms by the same axes; none if any device may own them.
    std::optional<Cut> cut_of_b;
    bool starts_with_target;
    std::optional<std::size_t> chunked;  ///< the dimension that is cut into chunks
    std::int64_t chunked_extent;
    std::int64_t chunks;
    std::size_t terms;  ///< the dimension of the terms
  };
  explicit ProductRelay(Sizes const& sizes) : sizes_(sizes) {}

  void visit(Operation const& operation, DeviceSpan const& devices,
             Visit const& visit) const override;
  [[nodiscard]] std::uint64_t hash() const override;
  [[nodiscard]] std::int64_t most_steps() const override;
  [[nodiscard]] std::string words() const override;

 private:
  [[nodiscard]] std::vector<RelayStop> stops_of(DeviceSpan const& devices) const;
  [[nodiscard]] std::optional<std::int64_t> place_of(DeviceId device) const;
  [[nodiscard]] std::vector<RelayStop> all_stops() const;
  void visit_step(Operation const& operation, std::int64_t chunk, RelayStop const& stop,
                  Visit const& visit) const;

  Sizes sizes_;
};

}  // namespace tessera
