#include "tessera/detail/array/erased/one_sided.hpp"

#include "tessera/base/error.hpp"

#include "src/base/host_room.hpp"
#include "src/base/text.hpp"
#include "src/execution/one_sided/one_sided.hpp"
#include "src/runtime/allocation.hpp"
#include "src/runtime/current_runtime.hpp"
#include "src/runtime/one_sided_access.hpp"

namespace tessera::detail {
namespace {

// One-sided access to an array of the Runtime that lives.
OneSided& one_sided_to(StatePtr const& state) {
  check_runtime(*state);
  return one_sided();
}

// Throws for a request of a Runtime that has ended: nobody would answer it any more, and its
// failure is none of the Runtime that lives.
void check_alive(OneSidedRequest const& request) {
  if (request.failure && request.runtime != current_runtime.number)
    throw PeerFailed(*request.failure);
  if (request.is_abandoned)
    throw UsageError(
        "a one-sided operation was still under way when its Runtime ended; call wait() or pass the "
        "next fence of its array before that");
}

std::shared_ptr<OneSidedRequest> sent(std::shared_ptr<OneSidedRequest> request) {
  request->runtime = current_runtime.number;
  return request;
}

}  // namespace

Cell cell_of(Index const& index, std::size_t rank) {
  if (index.size() != rank)
    throw IndexError(text("the index ", index, " does not have the ",
                          counted(static_cast<std::int64_t>(rank), "dimension"), " of the array"));
  return {index.begin(), index.end()};
}

Box box_of_cell(Cell cell) {
  Box one{Index(cell.begin(), cell.end()), Index(cell.begin(), cell.end())};
  for (auto& end : one.hi) ++end;
  return one;
}

void pass_fence(StatePtr const& state, SourceLocation const& location) {
  one_sided_to(state).fence(storage_of(state), location);
}

void read_cell(StatePtr const& state, Cell cell, std::byte* into) {
  one_sided_to(state).read(storage_of(*state), cell, into);
}

void write_cell(StatePtr const& state, Cell cell, std::byte const* from) {
  one_sided_to(state).write(storage_of(*state), cell, from);
}

void update_cell(StatePtr const& state, Cell cell, CellUpdate const& update, std::byte* old) {
  one_sided_to(state).update(storage_of(*state), cell, update, old);
}

void check_room(Box const& box, std::int64_t cells) {
  if (box.cells() == cells) return;
  throw ShapeError(text("the box ", box, " has ", counted(box.cells(), "cell"), " but there ",
                        cells == 1 ? "is" : "are", " ", cells));
}

std::int64_t cells_to_read(StatePtr const& state, Box const& box) {
  one_sided_to(state).check(storage_of(*state), box);
  return box.cells();
}

void make_room_to_read(std::int64_t count, std::size_t bytes_each,
                       std::function<void(std::size_t)> const& make) {
  make_room(count, bytes_each, "read", make);
}

std::shared_ptr<OneSidedRequest> begin_read(StatePtr const& state, Box const& box,
                                            std::byte* into) {
  return sent(one_sided_to(state).begin_read(storage_of(*state), box, into));
}

std::shared_ptr<OneSidedRequest> begin_write(StatePtr const& state, Box const& box,
                                             std::byte const* from, std::int64_t cells) {
  check_room(box, cells);
  return sent(one_sided_to(state).begin_write(storage_of(*state), box, from));
}

std::shared_ptr<OneSidedRequest> begin_update(StatePtr const& state, Cell cell,
                                              CellUpdate const& update) {
  return sent(one_sided_to(state).begin_update(storage_of(*state), cell, update));
}

bool is_done(OneSidedRequest const& request) {
  check_alive(request);
  return request.has_succeeded() || one_sided().is_done(request);
}

void wait_for(OneSidedRequest const& request) {
  check_alive(request);
  if (!request.has_succeeded()) one_sided().wait(request);
}

std::span<std::byte const> cells_read(OneSidedRequest const& request) {
  return request.cells;
}

}  // namespace tessera::detail
