#pragma once
/// @file
/// The steps of a product that takes several: slices of a dimension, a relay, in which sums pass
/// from device to device, or parts of a sum that stay apart.
///
/// The operation has up to three statements. Number 0 adds the first terms to zero or to the
/// target, number 1 adds more terms to the sums so far, and number 2 copies the sums to the target
/// if they lie in another array.

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

/// Computes slices of one dimension of the statements, one after the other. Each has `width`
/// indices; the last one may have fewer.
class ProductSlices final : public OperationSteps {
 public:
  struct Sizes {
    std::size_t dimension = 0;
    std::int64_t extent = 1;
    std::int64_t width = 1;
    bool are_terms = false;  ///< each slice adds to the sums of the one before
    bool is_copied = false;  ///< the sums lie in another array and are copied to the target
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

/// Passes sums along the devices that own the terms, in chunks of another dimension. The sums are
/// an array whose dimension 0 has one layer for each of these devices.
class ProductRelay final : public OperationSteps {
 public:
  struct Sizes {
    Mesh mesh;
    AxisNames axes;    ///< along which sums pass, the major one first
    RelayStops stops;  ///< follow the cut of a's terms
    /// How the same axes cut b's terms; none if any device may own them.
    std::optional<Cut> cut_of_b;
    bool starts_with_target;             ///< the first stop adds to the target's cells
    std::optional<std::size_t> chunked;  ///< the dimension that is cut into chunks
    std::int64_t chunked_extent;         ///< cells of that dimension
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
  [[nodiscard]] std::vector<RelayStop> all_stops() const;
  void visit_step(Operation const& operation, std::int64_t chunk, RelayStop const& stop,
                  Visit const& visit) const;

  Sizes sizes_;
};

/// At each place along some axes, adds up the terms that it has in its own layer of the target,
/// whose dimension 0 counts the places.
class ProductParts final : public OperationSteps {
 public:
  struct Sizes {
    Mesh mesh;
    AxisNames axes;  ///< that cut the terms of both operands
    Cut cut;         ///< of the terms
    std::int64_t terms;
    std::size_t dimension;  ///< that of the terms

    [[nodiscard]] std::int64_t places() const { return devices_along(mesh, axes); }
  };
  explicit ProductParts(Sizes const& sizes) : sizes_(sizes) {}

  void visit(Operation const& operation, DeviceSpan const& devices,
             Visit const& visit) const override;
  [[nodiscard]] std::uint64_t hash() const override;
  [[nodiscard]] std::int64_t most_steps() const override;
  [[nodiscard]] std::string words() const override;

 private:
  void visit_place(Operation const& operation, std::int64_t place, Visit const& visit) const;

  Sizes sizes_;
};

}  // namespace tessera
