#include "tessera/mesh/partition_spec.hpp"

#include <array>

#include "src/base/text.hpp"

namespace tessera {
namespace {

std::string quoted(std::string const& axis) {
  return text('"', axis, '"');
}

std::string entry_text(SpecEntry const& entry) {
  auto const& axes = entry.axes();
  if (axes.empty()) return "none";
  if (axes.size() == 1) return quoted(axes.front());
  return join(axes, "(\"", "\")", "\", \"");
}

}  // namespace

std::ostream& operator<<(std::ostream& out, SpecEntry const& entry) {
  return out << entry_text(entry);
}

std::ostream& operator<<(std::ostream& out, ReduceOp op) {
  constexpr std::array names{"sum", "prod", "min", "max", "avg"};
  return out << names[static_cast<std::size_t>(op)];
}

PartitionSpec PartitionSpec::partial(SpecEntry axes, ReduceOp op) const {
  auto result = *this;
  result.partial_axes_ = std::move(axes);
  result.op_ = result.is_partial() ? op : ReduceOp::sum;
  return result;
}

std::ostream& operator<<(std::ostream& out, PartitionSpec const& spec) {
  out << 'P' << join(spec.entries_, "(", ")");
  if (!spec.is_partial()) return out;
  out << ".partial(" << spec.partial_axes_;
  if (spec.op_ != ReduceOp::sum) out << ", " << spec.op_;
  return out << ')';
}

// Clarity over brevity: a variadic template would not take {"model", "x"}.
using Entries = std::vector<SpecEntry>;
using E = SpecEntry;

PartitionSpec P() {
  return PartitionSpec(Entries{});
}
PartitionSpec P(E a) {
  return PartitionSpec(Entries{std::move(a)});
}
PartitionSpec P(E a, E b) {
  return PartitionSpec(Entries{std::move(a), std::move(b)});
}
PartitionSpec P(E a, E b, E c) {
  return PartitionSpec(Entries{std::move(a), std::move(b), std::move(c)});
}
PartitionSpec P(E a, E b, E c, E d) {
  return PartitionSpec(Entries{std::move(a), std::move(b), std::move(c), std::move(d)});
}
PartitionSpec P(E a, E b, E c, E d, E e) {
  return PartitionSpec(
      Entries{std::move(a), std::move(b), std::move(c), std::move(d), std::move(e)});
}
PartitionSpec P(E a, E b, E c, E d, E e, E f) {
  return PartitionSpec(
      Entries{std::move(a), std::move(b), std::move(c), std::move(d), std::move(e), std::move(f)});
}
PartitionSpec P(E a, E b, E c, E d, E e, E f, E g) {
  return PartitionSpec(Entries{std::move(a), std::move(b), std::move(c), std::move(d), std::move(e),
                               std::move(f), std::move(g)});
}
PartitionSpec P(E a, E b, E c, E d, E e, E f, E g, E h) {
  return PartitionSpec(Entries{std::move(a), std::move(b), std::move(c), std::move(d), std::move(e),
                               std::move(f), std::move(g), std::move(h)});
}

}  // namespace tessera
