#include "src/runtime/statements/statement_log.hpp"

#include "src/base/detail.hpp"
#include "src/base/text.hpp"

namespace tessera {

StatementTag StatementLog::begin(std::uint64_t hash, SourceLocation const& location) {
  last_ = {++count_, hash, location};
  network_.set_last_statement(last_);
  return last_;
}

void StatementLog::compare_end() {
  StatementTag const end{count_ + 1, hash_text("the end of the program"), {}};
  auto const count = static_cast<std::int64_t>(count_);
  network_.agree_on_end(end, [count, location = known_place_] {
    return text(", after ", counted(count, "statement"),
                location.known() ? text(" (", location, ')') : "");
  });
}

}  // namespace tessera
