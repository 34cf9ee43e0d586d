#include "src/plan/exchange/sharing.hpp"

#include <algorithm>
#include <cstddef>
#include <utility>

namespace tessera {
namespace {

std::span<Transfer const> of_operand(std::span<Transfer const> transfers, std::size_t number) {
  auto const found = std::ranges::equal_range(transfers, number, {}, &Transfer::operand);
  return {found.begin(), found.end()};
}

// True if two readers are to get the same cells, wherever they put them.
bool are_alike(std::span<Transfer const> a, std::span<Transfer const> b) {
  return std::ranges::equal(a, b, [](Transfer const& one, Transfer const& other) {
    return one.box == other.box && one.cells == other.cells;
  });
}

// True if cells of an operand are forwarded where several devices of a host need them.
bool may_be_shared(OperandUse const& operand, Forwarding const& forwarding,
                   std::span<Transfer const> cells) {
  if (operand.in_place || cells.empty()) return false;
  std::int64_t count = 0;
  for (auto const& transfer : cells) count += transfer.cells.count();
  return count * operand.element_bytes >= forwarding.least_bytes;
}

// The readers that are to get the same cells of an operand as one of them.
std::vector<DeviceId> sharers_of(std::span<HostReader const> readers, std::size_t number,
                                 std::span<Transfer const> cells) {
  std::vector<DeviceId> sharers;
  for (auto const& reader : readers)
    if (are_alike(of_operand(reader.transfers, number), cells)) sharers.push_back(reader.device);
  return sharers;
}

// The owners of a host are dealt out over the sharers: both neighbours and owners that are as far
// apart as there are sharers.
DeviceId forwarder_among(std::vector<DeviceId> const& sharers, DeviceId owner,
                         MemberHosts const& hosts) {
  auto const count = std::ssize(sharers);
  auto const place = owner.value() - hosts.first(hosts.host_of(owner.value()));
  return sharers[static_cast<std::size_t>((place + place / count) % count)];
}

}  // namespace

std::vector<Transfer> sends_to_host(DeviceId owner, std::span<OperandUse const> operands,
                                    Forwarding const& forwarding,
                                    std::span<HostReader const> readers) {
  std::vector<Transfer> sends;
  for (auto const& reader : readers)
    for (std::size_t number = 0; number < operands.size(); ++number) {
      auto const cells = of_operand(reader.transfers, number);
      bool const is_direct = !may_be_shared(operands[number], forwarding, cells) ||
                             forwarder_among(sharers_of(readers, number, cells), owner,
                                             forwarding.hosts) == reader.device;
      if (is_direct) sends.insert(sends.end(), cells.begin(), cells.end());
    }
  return sends;
}

void HostReceives::add(DeviceId owner, ExchangePlan& plan) {
  auto const own = transfers_between(owner, self_, operands_, owner);
  readers_.clear();
  for (std::size_t number = 0; number < operands_.size(); ++number) {
    auto const cells = of_operand(own, number);
    if (may_be_shared(operands_[number], forwarding_, cells)) {
      if (readers_.empty()) find_readers(owner, own);
      add_shared(owner, number, cells, plan);
    } else {
      plan.receives.insert(plan.receives.end(), cells.begin(), cells.end());
    }
  }
}

void HostReceives::add_shared(DeviceId owner, std::size_t number, std::span<Transfer const> cells,
                              ExchangePlan& plan) {
  auto const sharers = sharers_of(readers_, number, cells);
  auto const forwarder = forwarder_among(sharers, owner, forwarding_.hosts);
  auto const append = [&](std::vector<Transfer>& transfers, DeviceId peer) {
    for (auto transfer : cells) {
      transfer.peer = peer;
      transfers.push_back(std::move(transfer));
    }
  };
  if (forwarder != self_.device()) return append(plan.forwarded_receives, forwarder);
  append(plan.receives, owner);
  for (auto const sharer : sharers)
    if (sharer != forwarder) append(plan.forwarded_sends, sharer);
}

// What the devices of this host are to get from the owner.
void HostReceives::find_readers(DeviceId owner, std::vector<Transfer> const& own) {
  auto const& hosts = forwarding_.hosts;
  auto const host = hosts.host_of(self_.device().value());
  auto const first = hosts.first(host);
  if (others_.empty())
    for (std::int64_t d = 0; d < hosts.size(host); ++d)
      if (DeviceId const device{first + d}; device != self_.device())
        others_.emplace_back(device, operands_, place_);
  readers_.push_back({self_.device(), own});
  for (auto const& other : others_)
    readers_.push_back(
        {other.device(), transfers_between(owner, other, operands_, other.device())});
  std::ranges::sort(readers_, {}, &HostReader::device);
}

}  // namespace tessera
