#pragma once
/// @file
/// Finds the devices of a host that read the same cells of an owner on another host, and which of
/// them forwards the cells to the others.

#include <cstddef>
#include <span>
#include <vector>

#include "src/plan/exchange/delivery.hpp"
#include "src/plan/exchange/exchange_plan.hpp"
#include "src/plan/exchange/forwarding.hpp"

namespace tessera {

/// A device of a host, and the cells that it needs from one owner on another host.
struct HostReader {
  DeviceId device;
  std::vector<Transfer> transfers = {};  ///< as `transfers_between`
};

/// The transfers by which an owner sends cells to all its readers on one other host, which come in
/// rising order.
[[nodiscard]] std::vector<Transfer> sends_to_host(DeviceId owner,
                                                  std::span<OperandUse const> operands,
                                                  Forwarding const& forwarding,
                                                  std::span<HostReader const> readers);

/// Plans what one device receives from owners on other hosts, directly or from a device of its own
/// host, and what it forwards there.
///
/// Cost: that of planning what the other devices of its host read, once they may share cells.
class HostReceives {
 public:
  HostReceives(Reader const& self, std::span<OperandUse const> operands,
               ComputePlacement const& place, Forwarding const& forwarding)
      : self_(self), operands_(operands), place_(place), forwarding_(forwarding) {}

  /// Adds the cells of an owner on another host. Owners come in rising order.
  void add(DeviceId owner, ExchangePlan& plan);

 private:
  void find_readers(DeviceId owner, std::vector<Transfer> const& own);
  void add_shared(DeviceId owner, std::size_t number, std::span<Transfer const> cells,
                  ExchangePlan& plan);

  Reader const& self_;
  std::span<OperandUse const> operands_;
  ComputePlacement const& place_;
  Forwarding const& forwarding_;
  std::vector<Reader> others_;       ///< of this host, once they are asked for
  std::vector<HostReader> readers_;  ///< of the current owner's cells, once they are asked for
};

}  // namespace tessera
