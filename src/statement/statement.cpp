#include "src/statement/statement.hpp"

#include <utility>

#include "tessera/base/error.hpp"

#include "src/base/text.hpp"
#include "src/statement/kernel.hpp"

namespace tessera::detail {

std::size_t Statement::add_operand(OperandRequest operand) {
  for (std::size_t i = 0; i < operands.size(); ++i)
    if (operand.constants_offset < 0 && operands[i].constants_offset < 0 &&
        operands[i].array == operand.array && operands[i].access == operand.access)
      return i;
  if (operands.size() == max_operands)
    throw UsageError(text("one statement reads more than ", max_operands,
                          " different slices; split it into several"));
  operands.push_back(std::move(operand));
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
