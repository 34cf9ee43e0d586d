#include "src/execution/reduction_tree.hpp"

#include <algorithm>
#include <cstdint>

namespace tessera {
namespace {

// Calls visit(node, is_parent) for each neighbour.
template <class Visit>
void visit_neighbours(TreeNeighbours const& neighbours, Visit const& visit) {
  for (auto const child : neighbours.children) visit(child, false);
  if (neighbours.parent) visit(*neighbours.parent, true);
}

// Calls visit(device, is_parent) for each neighbour in the tree of this process's devices.
template <class Visit>
void visit_inside(Job const& job, std::int64_t index, Visit const& visit) {
  visit_neighbours(neighbours_in_tree(index, job.local_count()),
                   [&](std::int64_t other, bool is_parent) {
                     visit(DeviceId{job.first_local().value() + other}, is_parent);
                   });
}

// And in that of the processes' first devices.
template <class Visit>
void visit_across(Job const& job, Visit const& visit) {
  visit_neighbours(neighbours_in_tree(job.self().value(), job.process_count()),
                   [&](std::int64_t other, bool is_parent) {
                     visit(job.first_device_of(ProcessId{other}), is_parent);
                   });
}

void add(TreeLinks& links, Receiver& receiver, bool is_parent) {
  if (is_parent)
    links.from_parent = &receiver;
  else
    links.from_children.push_back(&receiver);
}

void add(TreeLinks& links, Sender& sender, bool is_parent) {
  if (is_parent)
    links.to_parent = &sender;
  else
    links.to_children.push_back(&sender);
}

}  // namespace

TreeNeighbours neighbours_in_tree(std::int64_t node, std::int64_t count) {
  TreeNeighbours result;
  for (std::int64_t bit = 1; node + bit < count && (node & bit) == 0; bit *= 2)
    result.children.push_back(node + bit);
  if (node != 0) result.parent = node & (node - 1);
  return result;
}

ReductionTrees::ReductionTrees(Job const& job, Network& network)
    : job_(job), network_(network), devices_(static_cast<std::size_t>(job.local_count())) {}

// Opens all receivers before the first sender waits for its partner's.
void ReductionTrees::open(StatementTag const& tag) {
  if (is_open_) return;
  open_receivers();
  open_senders(tag);
  is_open_ = true;
}

void ReductionTrees::open_receivers() {
  auto const first = job_.first_local();
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    auto const index = static_cast<std::int64_t>(i);
    DeviceId const self{first.value() + index};
    visit_inside(job_, index, [&](DeviceId peer, bool is_parent) {
      add(devices_[i], network_.receiver(peer, self), is_parent);
    });
    if (i == 0)
      visit_across(job_, [&](DeviceId peer, bool is_parent) {
        auto& receiver = network_.receiver(peer, first);
        add(devices_[0], receiver, is_parent);
        add(across_, receiver, is_parent);
      });
  }
}

void ReductionTrees::open_senders(StatementTag const& tag) {
  auto const first = job_.first_local();
  for (std::size_t i = 0; i < devices_.size(); ++i) {
    auto const index = static_cast<std::int64_t>(i);
    DeviceId const self{first.value() + index};
    visit_inside(job_, index, [&](DeviceId peer, bool is_parent) {
      add(devices_[i], network_.sender(self, peer, tag), is_parent);
    });
    if (i == 0)
      visit_across(job_, [&](DeviceId peer, bool is_parent) {
        auto& sender = network_.sender(first, peer, tag);
        add(devices_[0], sender, is_parent);
        add(across_, sender, is_parent);
      });
  }
}

bool ReductionTrees::needs_this_thread() const {
  auto const driven = [](auto const* end) { return end->end().doorbell != nullptr; };
  return (across_.to_parent != nullptr &&
          (driven(across_.to_parent) || driven(across_.from_parent))) ||
         std::any_of(across_.from_children.begin(), across_.from_children.end(), driven) ||
         std::any_of(across_.to_children.begin(), across_.to_children.end(), driven);
}

}  // namespace tessera
