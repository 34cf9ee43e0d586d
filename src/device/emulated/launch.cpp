#include "src/device/emulated/launch.hpp"

#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <iterator>
#include <memory>
#include <vector>

#include "tessera/detail/base/assert.hpp"

#include "src/device/kernel_launch.hpp"
#include "src/device/native_launch.hpp"

namespace tessera::emulated {
namespace {

// Copies of all data that a host kernel reads, kept until the emulation executes it.
class DeferredCall {
 public:
  explicit DeferredCall(KernelLaunch const& launch)
      : function_(host_form(*launch.kernel->forms, launch.unit_stride, launch.non_temporal)),
        rows_(launch.rows),
        sums_(launch.sums),
        first_(*launch.box->first),
        extents_(*launch.box->extents),
        call_(*launch.box) {
    auto const* const kernel = static_cast<std::byte const*>(launch.box->kernel);
    auto* const own = copy_kernel(kernel, launch.kernel->bytes);
    call_.kernel = own;
    for (std::size_t l = 0; l < launch.operand_count; ++l) {
      auto const& operand = launch.box->operands[l];
      strides_.push_back(*operand.strides);
      bool const is_constant =
          operand.first >= kernel && operand.first < kernel + launch.kernel->bytes;
      firsts_.push_back(is_constant ? own + (operand.first - kernel) : operand.first);
      are_constant_.push_back(is_constant);
    }
    if (launch.box->target != nullptr) target_strides_ = *launch.box->target_strides;
    TESSERA_ASSERT(launch.kernel->scalar_bytes <= std::ssize(scalars_[0].bytes),
                   launch.kernel->scalar_bytes);
    for (std::size_t s = 0; s < launch.kernel->scalar_count; ++s)
      std::memcpy(scalars_[s].bytes, launch.box->scalars[s],
                  static_cast<std::size_t>(launch.kernel->scalar_bytes));
    scalar_count_ = launch.kernel->scalar_count;
  }
  DeferredCall(DeferredCall const&) = delete;
  DeferredCall& operator=(DeferredCall const&) = delete;

  // More than once where it is part of a graph.
  void run(Queue const& queue) const {
    std::vector<OperandView> operands;
    for (std::size_t l = 0; l < firsts_.size(); ++l)
      operands.push_back({reach(queue, firsts_[l], are_constant_[l]), &strides_[l]});
    std::array<std::byte const*, max_scalars> scalars{};
    for (std::size_t s = 0; s < scalar_count_; ++s) scalars[s] = scalars_[s].bytes;
    auto call = call_;
    call.first = &first_;
    call.extents = &extents_;
    call.operands = operands.data();
    call.scalars = scalars.data();
    call.target_strides = &target_strides_;
    if (call.target != nullptr) call.target = queue.reach(call.target);
    if (call.accumulator == nullptr) {
      function_(&call, 0, rows_);
      return;
    }
    // As a launch does: its parts share the rows, and each has an accumulator.
    auto* const accumulators = queue.reach(static_cast<std::byte*>(call.accumulator));
    for (std::int64_t part = 0; part < sums_.parts; ++part) {
      call.accumulator = accumulators + part * sums_.bytes;
      sums_.start(call.accumulator);
      function_(&call, rows_ * part / sums_.parts, rows_ * (part + 1) / sums_.parts);
    }
  }

 private:
  static constexpr std::int64_t alignment = 64;
  struct alignas(16) Scalar {
    std::byte bytes[16];
  };

  std::byte* copy_kernel(std::byte const* kernel, std::int64_t bytes) {
    kernel_.resize(static_cast<std::size_t>(bytes + alignment));
    auto const past =
        reinterpret_cast<std::uintptr_t>(kernel_.data()) % static_cast<std::uintptr_t>(alignment);
    auto* const own =
        kernel_.data() + (past == 0 ? 0 : alignment - static_cast<std::int64_t>(past));
    std::memcpy(own, kernel, static_cast<std::size_t>(bytes));
    return own;
  }

  static std::byte const* reach(Queue const& queue, std::byte const* first, bool is_constant) {
    return is_constant || first == nullptr ? first : queue.reach(first);
  }

  KernelFunction function_;
  std::int64_t rows_;
  PartialSums sums_;
  Index first_;
  Index extents_;
  Index target_strides_;
  KernelCall call_;
  std::vector<std::byte> kernel_;
  std::vector<std::byte const*> firsts_;
  std::vector<bool> are_constant_;
  std::vector<Index> strides_;
  std::array<Scalar, max_scalars> scalars_;
  std::size_t scalar_count_ = 0;
};

}  // namespace

void launch(Queue& queue, KernelLaunch const& launch) {
  if (launch.rows == 0 && launch.sums.parts == 0) return;
  if (launch.kernel->copied_bytes > 0) {
    launch_copy(queue, launch);
    return;
  }
  queue.defer([call = std::make_shared<DeferredCall const>(launch), &queue] { call->run(queue); });
}

}  // namespace tessera::emulated
