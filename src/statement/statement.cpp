#include "src/statement/statement.hpp"

#include "tessera/base/error.hpp"

#include "src/base/text.hpp"

namespace tessera::detail {

Statement::Statement() = default;
Statement::~Statement() = default;
Statement::Statement(Statement const&) = default;
Statement& Statement::operator=(Statement const&) = default;
Statement::Statement(Statement&&) noexcept = default;
Statement& Statement::operator=(Statement&&) noexcept = default;

// Slices by the numbers of two loops are equal in some steps only, so they are never one operand.
std::size_t Statement::add_operand(StatePtr const& array, Access const& access,
                                   std::int64_t constants_offset) {
  for (std::size_t i = 0; i < operands.size(); ++i)
    if (constants_offset < 0 && operands[i].constants_offset < 0 && operands[i].array == array &&
        operands[i].access == access && !access.map.follows_steps())
      return i;
  if (operands.size() == max_operands)
    throw UsageError(text("one statement reads more than ", max_operands,
                          " different slices; split it into several"));
  operands.emplace_back(named(array), access, constants_offset);
  return operands.size() - 1;
}

std::size_t Statement::add_scalar(ScalarPtr const& scalar) {
  for (std::size_t i = 0; i < scalars.size(); ++i)
    if (scalars[i] == scalar) return i;
  if (scalars.size() == max_scalars)
    throw UsageError(text("one statement reads more than ", max_scalars,
                          " different scalars; split it into several"));
  scalars.push_back(scalar);
  return scalars.size() - 1;
}

}  // namespace tessera::detail
