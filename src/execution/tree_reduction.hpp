#pragma once
/// @file
/// Values that the devices combine along a tree: partial results go up, the final value comes down.

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "src/transport/channel/channel.hpp"

namespace tessera {

struct DeviceTask;

/// The neighbours of a device in the tree.
struct TreeLinks {
  Sender* to_parent = nullptr;
  Receiver* from_parent = nullptr;
  std::vector<Receiver*> from_children;
  std::vector<Sender*> to_children;
};

/// Combines the accumulators of all devices for a task's reduction, and gives each the value. Where
/// each device has computed the value, nothing is sent.
/// Throws: PeerFailed, Mismatch.
void reduce_along_tree(DeviceTask& task);

/// Combines `from` into `into`, which are of equal lengths.
using CombineBytes = void (*)(std::span<std::byte> into, std::span<std::byte const> from);

/// Combines `bytes` of all members of the task's tree, in pieces of a multiple of 128 bytes, and
/// gives the result to each.
/// Throws: PeerFailed, Mismatch.
void combine_along_tree(DeviceTask& task, std::span<std::byte> bytes, CombineBytes combine);

/// Bitwise or; and of each pair of std::int64_t the larger one, or the sum.
void or_bytes(std::span<std::byte> into, std::span<std::byte const> from);
void max_numbers(std::span<std::byte> into, std::span<std::byte const> from);
void add_numbers(std::span<std::byte> into, std::span<std::byte const> from);

}  // namespace tessera
