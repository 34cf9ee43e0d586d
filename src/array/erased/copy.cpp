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

void copy_value(StatePtr const& to, StatePtr const& from, SourceLocation const& location,
                char const* kind) {
  check_runtime(*from);
  auto const* const partials = storage_of(*from).partials();
  if (partials == nullptr || partials->value != nullptr)
    copy_cells(to, readable(from), location, kind == nullptr ? "copy" : kind);
  else
    partials->sum_partials(partials->cells, to, kind == nullptr ? "add up" : kind, location);
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
