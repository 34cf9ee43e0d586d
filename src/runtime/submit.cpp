#include "tessera/detail/runtime/submit.hpp"

#include <algorithm>

#include "src/execution/storage/scalar_state.hpp"
#include "src/network/network.hpp"
#include "src/runtime/allocation.hpp"
#include "src/runtime/current_runtime.hpp"
#include "src/runtime/engine.hpp"
#include "src/runtime/listener.hpp"
#include "src/statement/statement.hpp"

namespace tessera::detail {

static_assert(most_accumulator_bytes <= NetworkOptions::least_slot_bytes);
static_assert(most_scalar_bytes <= ScalarState::most_bytes);

void submit(Statement const& statement) {
  engine().run(statement);
}

std::shared_ptr<Layout const> const& layout_on_all() {
  return engine().layout_on_all();
}

ScalarPtr new_scalar() {
  return engine().make_scalar();
}

void read_scalar(ScalarPtr const& scalar, std::span<std::byte> into) {
  check_runtime(*scalar);
  engine().synchronize();
  std::copy_n(storage_of(*scalar).value(0), into.size(), into.data());
}

void note_move(StatePtr const& state) noexcept {
  tell_listeners([&](Listener& listener) { listener.note_move(state); });
}

}  // namespace tessera::detail
