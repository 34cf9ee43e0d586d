#include "tessera/base/error.hpp"
#include "tessera/detail/array/erased/handle.hpp"
#include "tessera/detail/runtime/submit.hpp"

#include "src/base/detail.hpp"
#include "src/base/text.hpp"
#include "src/execution/storage/array_state.hpp"
#include "src/index/affine_map.hpp"
#include "src/index/index.hpp"
#include "src/runtime/allocation.hpp"
#include "src/statement/copy_statement.hpp"
#include "src/statement/statement.hpp"

namespace tessera::detail {
namespace {

// True of a partial array of which nobody has read the value.
bool is_unread_sum(StatePtr const& state) {
  auto const* const partials = storage_of(*state).partials();
  return partials != nullptr && partials->value == nullptr;
}

}  // namespace

void copy_value(StatePtr const& to, StatePtr const& from, SourceLocation const& location) {
  check_runtime(*from);
  copy_value(to, from, location, is_unread_sum(from) ? "add up" : "copy");
}

void copy_value(StatePtr const& to, StatePtr const& from, SourceLocation const& location,
                char const* kind) {
  check_runtime(*from);
  if (!is_unread_sum(from)) return copy_cells(to, readable(from), location, kind);
  auto const& partials = *storage_of(*from).partials();
  partials.sum_partials(partials.cells, to, kind, location);
}

void assign_array(StatePtr& to, StatePtr const& from) {
  if (to == from) return;
  if (to == nullptr) {
    to = copied(from);
    return;
  }
  check_writable(to);
  check_runtime(*from);
  auto const& target = to->layout()->shape();
  auto const& value = from->layout()->shape();
  if (target != value)
    throw ShapeError(text("an array of shape ", value, " is assigned to one of shape ", target,
                          ", which keeps its shape and its place; r = DistArray(u) replaces r by a "
                          "copy of u, and r = 1 * u writes cells that broadcast"));
  copy_value(to, from, {});
}

void copy_cells(StatePtr const& to, StatePtr const& from, SourceLocation const& location,
                char const* kind) {
  if (to == from) return;
  submit(CopyStatement(to, from, location, kind).statement());
}

}  // namespace tessera::detail
