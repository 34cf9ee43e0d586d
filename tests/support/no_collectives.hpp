#pragma once
/// @file
/// Collectives of a process that needs no others.

#include <cstddef>
#include <functional>
#include <span>

#include "src/execution/one_sided/host_collectives.hpp"

namespace tessera::test {

/// Leaves bytes as they are, and lets everything through.
class NoCollectives final : public HostCollectives {
 public:
  void or_over_processes(std::span<std::byte> /*bytes*/, SourceLocation const& /*location*/,
                         Collective const& /*collective*/) override {}
  void synchronize() override {}
  void guarded(std::function<void()> const& f) override { f(); }
};

}  // namespace tessera::test
