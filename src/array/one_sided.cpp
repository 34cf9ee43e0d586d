#include "tessera/array/one_sided.hpp"

#include "tessera/base/error.hpp"
#include "tessera/base/text.hpp"
#include "tessera/exchange/engine.hpp"

namespace tessera::detail {

void pass_fence(StatePtr const& state, Place const& place) {
  engine().one_sided().fence(state, place);
}

void read_cell(StatePtr const& state, Cell cell, std::byte* into) {
  engine().one_sided().read(*state, cell, into);
}

void write_cell(StatePtr const& state, Cell cell, std::byte const* from) {
  engine().one_sided().write(*state, cell, from);
}

void update_cell(StatePtr const& state, Cell cell, CellUpdate const& update, std::byte* old) {
  engine().one_sided().update(*state, cell, update, old);
}

void check_room(Box const& box, std::int64_t cells) {
  if (box.cells() == cells) return;
  throw ShapeError(text("the box ", box, " has ", counted(box.cells(), "cell"), " but there ",
                        cells == 1 ? "is" : "are", " ", cells));
}

std::size_t cells_to_read(StatePtr const& state, Box const& box) {
  engine().one_sided().check(*state, box);
  return static_cast<std::size_t>(box.cells());
}

std::shared_ptr<Operation> begin_read(StatePtr const& state, Box const& box, std::byte* into) {
  return engine().one_sided().begin_read(*state, box, into);
}

std::shared_ptr<Operation> begin_write(StatePtr const& state, Box const& box, std::byte const* from,
                                       std::int64_t cells) {
  check_room(box, cells);
  return engine().one_sided().begin_write(*state, box, from);
}

std::shared_ptr<Operation> begin_update(StatePtr const& state, Cell cell,
                                        CellUpdate const& update) {
  return engine().one_sided().begin_update(*state, cell, update);
}

bool is_done(Operation const& operation) {
  return operation.left == 0 && operation.trouble.empty() ? true
                                                          : engine().one_sided().is_done(operation);
}

void wait_for(Operation const& operation) {
  if (operation.left == 0 && operation.trouble.empty()) return;
  engine().one_sided().wait(operation);
}

}  // namespace tessera::detail
