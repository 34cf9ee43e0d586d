#include "tessera/base/error.hpp"
#include "tessera/detail/array/erased/handle.hpp"
#include "tessera/detail/runtime/submit.hpp"

#include "src/base/detail.hpp"
#include "src/base/text.hpp"
#include "src/execution/storage/array_state.hpp"
#include "src/index/affine_map.hpp"
#include "src/index/index.hpp"
#include "src/runtime/allocation.hpp"
#include "src/statement/copy_kernel.hpp"
#include "src/statement/statement.hpp"

namespace tessera::detail {

void copy_value(StatePtr const& to, StatePtr const& from, SourceLocation const& location) {
  check_runtime(*from);
  auto const* const partials = storage_of(*from).partials();
  if (partials == nullptr || partials->value != nullptr)
    copy_cells(to, readable(from), location);
  else
    partials->sum_partials(partials->cells, to, location);
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

void copy_cells(StatePtr const& to, StatePtr const& from, SourceLocation const& location) {
  if (to == from) return;
  Statement statement;
  CopyKernel const kernel{to->element_bytes()};
  auto const identity = AffineMap::identity(to->layout()->rank());
  statement.kind = "copy";
  statement.location = location;
  statement.type_hash = hash_text("copy");
  statement.purpose = Purpose::transfer;
  statement.copied_bytes = to->element_bytes();
  statement.work = {to->layout(), identity, whole(to->layout()->shape())};
  statement.target = to;
  statement.operands.push_back({from, Access::plain(identity), -1});
  statement.forms = copy_forms();
  statement.kernel = &kernel;
  statement.kernel_bytes = sizeof kernel;
  submit(statement);
}

}  // namespace tessera::detail
