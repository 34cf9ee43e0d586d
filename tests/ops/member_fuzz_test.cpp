#include <algorithm>
#include <cstdint>
#include <numeric>
#include <optional>
#include <string>
#include <vector>

#include <doctest/doctest.h>

#include "tessera/ops/member_collectives.hpp"

#include "src/base/text.hpp"

#include "support/brute_force.hpp"
#include "support/layouts.hpp"
#include "support/seeds.hpp"

#include "members.hpp"

using namespace tessera;
using test::Plain;
using test::PlainLists;
using test::Random;

/// Random collectives in random groups against plain loops, bit for bit.
TEST_SUITE_BEGIN("ops/member_fuzz");

namespace {

using Sizes = std::vector<std::int64_t>;

Sizes shuffled(Random& random, std::int64_t count) {
  Sizes numbers(static_cast<std::size_t>(count));
  std::iota(numbers.begin(), numbers.end(), 0);
  for (std::size_t i = numbers.size(); i > 1; --i)
    std::swap(
        numbers[i - 1],
        numbers[static_cast<std::size_t>(random.between(0, static_cast<std::int64_t>(i) - 1))]);
  return numbers;
}

Group random_group(Random& random, std::int64_t devices) {
  if (random.chance()) {
    auto const mesh = test::random_mesh(random, devices);
    std::vector<std::string> names;
    for (auto const axis : shuffled(random, static_cast<std::int64_t>(mesh.rank())))
      names.push_back(mesh.axes()[static_cast<std::size_t>(axis)].name);
    names.resize(static_cast<std::size_t>(random.between(1, std::ssize(names))));
    return mesh.group(SpecEntry(names));
  }
  auto const ids = shuffled(random, devices);
  auto const count = random.between(1, std::min<std::int64_t>(3, devices));
  auto const size = random.between(1, devices / count);
  std::vector<Sizes> lists;
  for (std::int64_t list = 0; list < count; ++list)
    lists.emplace_back(ids.begin() + list * size, ids.begin() + (list + 1) * size);
  return Group::lists(lists);
}

// Cells whose sum depends on the order in which they are added, and on the type.
template <class T>
T cell_of(std::uint64_t seed, std::int64_t device, Index const& index) {
  auto bits = mix(seed, static_cast<std::uint64_t>(device));
  for (auto const i : index) bits = mix(bits, static_cast<std::uint64_t>(i));
  if constexpr (std::is_integral_v<T>) {
    return static_cast<T>(bits);
  } else {
    auto const value = static_cast<double>(static_cast<std::int64_t>(bits % 2001) - 1000);
    return static_cast<T>(std::ldexp(value, static_cast<int>((bits >> 32U) % 100)));
  }
}

template <class T>
T combined(std::vector<T> const& terms, ReduceOp op) {
  if constexpr (std::is_integral_v<T>) {
    auto total = static_cast<std::uint64_t>(terms[0]);
    for (std::size_t k = 1; k < terms.size(); ++k) total += static_cast<std::uint64_t>(terms[k]);
    if (op == ReduceOp::sum) return static_cast<T>(total);
  } else if (op == ReduceOp::sum || op == ReduceOp::avg) {
    double sum = static_cast<double>(terms[0]);
    for (std::size_t k = 1; k < terms.size(); ++k) sum += static_cast<double>(terms[k]);
    return static_cast<T>(op == ReduceOp::sum ? sum : sum / static_cast<double>(terms.size()));
  }
  return op == ReduceOp::min ? *std::min_element(terms.begin(), terms.end())
                             : *std::max_element(terms.begin(), terms.end());
}

// Values of a group and what they should be, through some collectives.
template <class T, std::size_t N>
class Members {
 public:
  Members(Random& random, std::uint64_t seed, Group const& group, bool may_differ)
      : random_(random), group_(group) {
    Shape shape;
    for (std::size_t d = 0; d < N; ++d) shape.push_back(random.between(0, 5));
    auto const axis = static_cast<std::size_t>(random.between(0, N - 1));
    bool const differs = may_differ && random.chance();
    for (std::int64_t list = 0; list < group.count(); ++list) {
      auto& values = lists_.emplace_back();
      for (std::int64_t rank = 0; rank < group.size(); ++rank) {
        if (differs) shape[axis] = random.between(0, 4);
        auto const device = group.device(rank, list).value();
        values.push_back(test::plain<T>(
            shape, [&](Index const& index) { return cell_of<T>(seed, device, index); }));
      }
    }
    auto const f = [&](Member const& member, std::array<std::int64_t, N> const& i) {
      return cell_of<T>(seed, member.device.value(), Index(i.begin(), i.end()));
    };
    auto const extents = [&](Member const& member) {
      auto const& own = at(member.group, member.rank).shape;
      std::array<std::int64_t, N> result;
      std::copy(own.begin(), own.end(), result.begin());
      return result;
    };
    values_.emplace(per_device<T>(group, extents, f));
  }

  // A random collective; false if none that was tried fits the values.
  bool step();
  [[nodiscard]] bool are_right() const { return test::members_have(*values_, lists_); }
  [[nodiscard]] std::string said() const { return said_; }

 private:
  using Value = Plain<T>;
  using Values = std::vector<Value>;

  [[nodiscard]] Value& at(std::int64_t list, std::int64_t rank) {
    return lists_[static_cast<std::size_t>(list)][static_cast<std::size_t>(rank)];
  }
  [[nodiscard]] bool have_equal_extents() const {
    for (auto const& list : lists_)
      for (auto const& value : list)
        if (!(value.shape == lists_[0][0].shape)) return false;
    return true;
  }
  // True if all values exist and differ along this dimension at most.
  [[nodiscard]] bool can_lie_along(std::size_t axis) const {
    auto first = lists_[0][0].shape;
    for (auto const& list : lists_)
      for (auto const& value : list) {
        if (value.shape.empty()) return false;
        auto shape = value.shape;
        shape[axis] = first[axis];
        if (!(shape == first)) return false;
      }
    return true;
  }
  [[nodiscard]] std::int64_t size() const { return group_.size(); }
  [[nodiscard]] std::int64_t random_rank() { return random_.between(0, size() - 1); }
  [[nodiscard]] Sizes random_sizes(std::int64_t extent) {
    return random_.chance() ? Sizes{} : test::random_sizes(random_, extent, size());
  }
  [[nodiscard]] Values pieces(Value const& value, std::size_t axis, Sizes sizes) const {
    if (sizes.empty())
      for (std::int64_t k = 0; k < size(); ++k)
        sizes.push_back(Cut::balanced().piece(value.shape[axis], size(), k).size());
    Values result;
    std::int64_t lo = 0;
    for (auto const cells : sizes) {
      result.push_back(test::piece(value, axis, lo, lo + cells));
      lo += cells;
    }
    return result;
  }
  template <class Change>
  void change_lists(Change const& change) {
    for (auto& list : lists_) list = change(std::as_const(list));
  }
  [[nodiscard]] Value sum_of(Values const& values, ReduceOp op) const {
    return test::plain<T>(values[0].shape, [&](Index const& index) {
      std::vector<T> terms;
      for (auto const& value : values) terms.push_back(test::cell(value, index));
      return combined(terms, op);
    });
  }
  [[nodiscard]] Values only(std::int64_t root, Value value) const {
    Values result(static_cast<std::size_t>(size()));
    result[static_cast<std::size_t>(root)] = std::move(value);
    return result;
  }

  bool step_counts(std::size_t axis);
  bool step_rooted();
  bool step_combining();
  bool step_moving();

  Random& random_;
  Group group_;
  std::optional<PerDevice<T, N>> values_;
  PlainLists<T> lists_;
  std::string said_;
};

template <class T, std::size_t N>
bool Members<T, N>::step_rooted() {
  auto const root = random_rank();
  auto const r = static_cast<std::size_t>(root);
  auto const axis = static_cast<std::size_t>(random_.between(0, N - 1));
  auto const a = static_cast<std::int64_t>(axis);
  if (random_.chance()) {
    if (!can_lie_along(axis)) return false;
    said_ += text(" gather(", root, ", ", axis, ")");
    values_ = gather(*values_, root, a);
    change_lists([&](Values const& list) { return only(root, test::joined(list, axis)); });
    return true;
  }
  for (auto const& list : lists_)
    if (list[r].shape.empty() || !(list[r].shape == lists_[0][r].shape)) return false;
  if (random_.chance()) {
    said_ += text(" broadcast(", root, ")");
    values_ = broadcast(*values_, root);
    change_lists([&](Values const& list) { return Values(list.size(), list[r]); });
    return true;
  }
  auto const sizes = random_sizes(lists_[0][r].shape[axis]);
  said_ += text(" scatter(", root, ", ", axis, ", {", join(sizes), "})");
  values_ = scatter(*values_, root, a, sizes);
  change_lists([&](Values const& list) { return pieces(list[r], axis, sizes); });
  return true;
}

template <class T, std::size_t N>
bool Members<T, N>::step_combining() {
  if (!can_lie_along(0) || !have_equal_extents()) return false;
  constexpr std::array ops{ReduceOp::sum, ReduceOp::min, ReduceOp::max, ReduceOp::avg};
  auto const op = ops[static_cast<std::size_t>(random_.between(0, std::is_integral_v<T> ? 2 : 3))];
  auto const root = random_rank();
  switch (random_.between(0, 2)) {
    case 0:
      said_ += text(" all_reduce(", op, ")");
      values_ = all_reduce(*values_, op);
      change_lists([&](Values const& list) { return Values(list.size(), sum_of(list, op)); });
      break;
    case 1:
      said_ += text(" reduce(", root, ", ", op, ")");
      values_ = reduce(*values_, root, op);
      change_lists([&](Values const& list) { return only(root, sum_of(list, op)); });
      break;
    default: {
      auto const axis = static_cast<std::size_t>(random_.between(0, N - 1));
      auto const sizes = random_sizes(lists_[0][0].shape[axis]);
      said_ += text(" reduce_scatter(", axis, ", ", op, ", {", join(sizes), "})");
      values_ = reduce_scatter(*values_, static_cast<std::int64_t>(axis), op, sizes);
      change_lists([&](Values const& list) { return pieces(sum_of(list, op), axis, sizes); });
    }
  }
  return true;
}

template <class T, std::size_t N>
bool Members<T, N>::step_counts(std::size_t axis) {
  std::vector<std::vector<Sizes>> table;  // by list and sender
  for (auto const& list : lists_) {
    auto& of_list = table.emplace_back();
    for (auto const& value : list)
      of_list.push_back(test::random_sizes(random_, value.shape[axis], size()));
  }
  auto const count = [&](Member const& from, std::int64_t to) {
    return table[static_cast<std::size_t>(from.group)][static_cast<std::size_t>(from.rank)]
                [static_cast<std::size_t>(to)];
  };
  auto const a = static_cast<std::int64_t>(axis);
  if (random_.chance()) {
    said_ += text(" all_to_all(", axis, ", counts)");
    values_ = all_to_all(*values_, a, count);
  } else {
    said_ += text(" all_to_all(", axis, ", counts of senders)");
    values_ = all_to_all(*values_, a,
                         per_device<std::int64_t>(group_, {size()}, [&](Member const& m, auto i) {
                           return count(m, i[0]);
                         }));
  }
  for (std::size_t l = 0; l < lists_.size(); ++l) {
    Values received;
    for (std::size_t to = 0; to < lists_[l].size(); ++to) {
      Values from_all;
      for (std::size_t from = 0; from < lists_[l].size(); ++from)
        from_all.push_back(pieces(lists_[l][from], axis, table[l][from])[to]);
      received.push_back(test::joined(from_all, axis));
    }
    lists_[l] = std::move(received);
  }
  return true;
}

template <class T, std::size_t N>
bool Members<T, N>::step_moving() {
  auto const axis = static_cast<std::size_t>(random_.between(0, N - 1));
  auto const a = static_cast<std::int64_t>(axis);
  if (!can_lie_along(axis)) return false;
  switch (random_.between(0, 4)) {
    case 4:
      return step_counts(axis);
    case 0:
      said_ += text(" all_gather(", axis, ")");
      values_ = all_gather(*values_, a);
      change_lists(
          [&](Values const& list) { return Values(list.size(), test::joined(list, axis)); });
      return true;
    case 1: {
      auto const split = static_cast<std::size_t>(random_.between(0, N - 1));
      auto const extent = lists_[0][0].shape[split];
      bool const is_same = split == axis;
      if (is_same && (!have_equal_extents() || extent % size() != 0)) return false;
      for (auto const& list : lists_)
        if (!is_same &&
            test::joined(list, axis).shape[axis] != test::joined(lists_[0], axis).shape[axis])
          return false;
      auto const sizes = is_same ? Sizes{} : random_sizes(extent);
      said_ += text(" all_to_all(", split, ", ", axis, ", {", join(sizes), "})");
      values_ = all_to_all(*values_,
                           {.split = static_cast<std::int64_t>(split), .join = a, .sizes = sizes});
      change_lists([&](Values const& list) {
        std::vector<Values> cut;
        for (auto const& value : list) cut.push_back(pieces(value, split, sizes));
        Values result;
        for (std::size_t to = 0; to < list.size(); ++to) {
          Values received;
          for (auto const& of_sender : cut) received.push_back(of_sender[to]);
          result.push_back(test::joined(received, axis));
        }
        return result;
      });
      return true;
    }
    case 2: {
      auto const from = random_rank(), to = random_rank();
      said_ += text(" send_recv(", from, ", ", to, ")");
      values_ = send_recv(*values_, from, to);
      change_lists(
          [&](Values const& list) { return only(to, list[static_cast<std::size_t>(from)]); });
      return true;
    }
    default: {
      auto const from = shuffled(random_, size()), to = shuffled(random_, size());
      Moves moves;
      for (std::int64_t k = random_.between(0, size()); k > 0; --k)
        moves.emplace_back(from[static_cast<std::size_t>(k - 1)],
                           to[static_cast<std::size_t>(k - 1)]);
      said_ += text(" permute(", moves.size(), ")");
      values_ = permute(*values_, moves);
      change_lists([&](Values const& list) {
        Values result;
        for (auto const& value : list)
          result.push_back(test::plain<T>(value.shape, [](auto const&) { return T{}; }));
        for (auto const& [source, target] : moves)
          result[static_cast<std::size_t>(target)] = list[static_cast<std::size_t>(source)];
        return result;
      });
      return true;
    }
  }
}

template <class T, std::size_t N>
bool Members<T, N>::step() {
  for (int tries = 0; tries < 10; ++tries) {
    auto const kind = random_.between(0, 2);
    if (kind == 0 ? step_rooted() : kind == 1 ? step_combining() : step_moving()) return true;
  }
  return false;
}

template <class T, std::size_t N>
bool run_case(Random& random, std::uint64_t seed) {
  auto const group = random_group(random, random.between(1, device_count()));
  Members<T, N> members(random, seed, group, true);
  bool is_right = test::agree(members.are_right());
  for (int n = 0; n < 2 && is_right && members.step(); ++n)
    is_right = test::agree(members.are_right());
  if (!is_right) MESSAGE(group, ":", members.said());
  return is_right;
}

bool run_case(std::uint64_t seed) {
  Random random(seed);
  switch (random.between(0, 3)) {
    case 0:
      return run_case<std::int32_t, 1>(random, seed);
    case 1:
      return run_case<double, 1>(random, seed);
    case 2:
      return run_case<float, 3>(random, seed);
    default:
      return run_case<double, 2>(random, seed);
  }
}

}  // namespace

TEST_CASE("random collectives of members give what plain loops give") {
  CHECK(test::failed_seeds(150, [](std::uint64_t seed) { return test::agree(run_case(seed)); }) ==
        0);
}

TEST_SUITE_END();
