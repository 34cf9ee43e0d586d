#include "tessera/detail/array/erased/one_sided.hpp"

#include "tessera/base/error.hpp"

#include "src/base/text.hpp"
#include "src/execution/one_sided/one_sided.hpp"
#include "src/runtime/one_sided_access.hpp"

namespace tessera::detail {

void pass_fence(StatePtr const& state, SourceLocation const& location) {
  one_sided().fence(storage_of(state), location);
}

void read_cell(StatePtr const& state, Cell cell, std::byte* into) {
  one_sided().read(storage_of(*state), cell, into);
}

void write_cell(StatePtr const& state, Cell cell, std::byte const* from) {
  one_sided().write(storage_of(*state), cell, from);
}

void update_cell(StatePtr const& state, Cell cell, CellUpdate const& update, std::byte* old) {
  one_sided().update(storage_of(*state), cell, update, old);
}

void check_room(Box const& box, std::int64_t cells) {
  if (box.cells() == cells) return;
  throw ShapeError(text("the box ", box, " has ", counted(box.cells(), "cell"), " but there ",
                        cells == 1 ? "is" : "are", " ", cells));
}

std::size_t cells_to_read(StatePtr const& state, Box const& box) {
  one_sided().check(storage_of(*state), box);
  return static_cast<std::size_t>(box.cells());
}

std::shared_ptr<OneSidedRequest> begin_read(StatePtr const& state, Box const& box,
                                            std::byte* into) {
  return one_sided().begin_read(storage_of(*state), box, into);
}

std::shared_ptr<OneSidedRequest> begin_write(StatePtr const& state, Box const& box,
                                             std::byte const* from, std::int64_t cells) {
  check_room(box, cells);
  return one_sided().begin_write(storage_of(*state), box, from);
}

std::shared_ptr<OneSidedRequest> begin_update(StatePtr const& state, Cell cell,
                                              CellUpdate const& update) {
  return one_sided().begin_update(storage_of(*state), cell, update);
}

bool is_done(OneSidedRequest const& request) {
  return request.has_succeeded() || one_sided().is_done(request);
}

void wait_for(OneSidedRequest const& request) {
  if (!request.has_succeeded()) one_sided().wait(request);
}

std::span<std::byte const> cells_read(OneSidedRequest const& request) {
  return request.cells;
}

}  // namespace tessera::detail
