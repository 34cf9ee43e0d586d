#include "gpu_launch.hpp"

#include <algorithm>
#include <array>
#include <cstring>
#include <memory>
#include <utility>
#include <vector>

#include "tessera/base/assert.hpp"
#include "tessera/base/text.hpp"
#include "tessera/exchange/scalar_state.hpp"

namespace tessera {
namespace {

bool has_kernel(KernelForms const& forms) {
  return forms.gpu != nullptr && *forms.gpu != nullptr;
}

// Everything that a kernel of the host looks at, kept until the emulation comes to it.
class DeferredCall {
 public:
  explicit DeferredCall(GpuLaunch const& launch)
      : function_(launch.unit_stride ? launch.forms->unit_stride : launch.forms->any_stride),
        start_(launch.start),
        rows_(launch.rows),
        parts_(launch.parts),
        accumulator_bytes_(launch.accumulator_bytes),
        first_(*launch.box->first),
        extents_(*launch.box->extents),
        call_(*launch.box) {
    auto const* const kernel = static_cast<std::byte const*>(launch.box->kernel);
    kernel_.resize(static_cast<std::size_t>(launch.kernel_bytes + alignment));
    auto const past =
        reinterpret_cast<std::uintptr_t>(kernel_.data()) % static_cast<std::uintptr_t>(alignment);
    auto* const own =
        kernel_.data() + (past == 0 ? 0 : alignment - static_cast<std::int64_t>(past));
    std::memcpy(own, kernel, static_cast<std::size_t>(launch.kernel_bytes));
    call_.kernel = own;
    for (std::size_t l = 0; l < launch.leaf_count; ++l) {
      auto const& leaf = launch.box->leaves[l];
      strides_.push_back(*leaf.strides);
      bool const is_constant = leaf.first >= kernel && leaf.first < kernel + launch.kernel_bytes;
      firsts_.push_back(is_constant ? own + (leaf.first - kernel) : leaf.first);
      are_constant_.push_back(is_constant);
    }
    if (launch.box->target != nullptr) target_strides_ = *launch.box->target_strides;
    for (std::size_t s = 0; s < launch.scalar_count; ++s)
      std::memcpy(scalars_[s].bytes, launch.box->scalars[s], ScalarState::most_bytes);
    scalar_count_ = launch.scalar_count;
  }
  DeferredCall(DeferredCall const&) = delete;
  DeferredCall& operator=(DeferredCall const&) = delete;

  // As often as the work is done that it is part of: a graph's more than once.
  void run(GpuStream const& stream) const {
    std::vector<LeafView> leaves;
    for (std::size_t l = 0; l < firsts_.size(); ++l)
      leaves.push_back({reach(stream, firsts_[l], are_constant_[l]), &strides_[l]});
    std::array<std::byte const*, max_scalars> scalars{};
    for (std::size_t s = 0; s < scalar_count_; ++s) scalars[s] = scalars_[s].bytes;
    auto call = call_;
    call.first = &first_;
    call.extents = &extents_;
    call.leaves = leaves.data();
    call.scalars = scalars.data();
    call.target_strides = &target_strides_;
    if (call.target != nullptr) call.target = stream.reach(call.target);
    if (call.accumulator == nullptr) {
      function_(&call, 0, rows_);
      return;
    }
    // As a launch does: its parts share the rows, and each has an accumulator.
    auto* const accumulators = stream.reach(static_cast<std::byte*>(call.accumulator));
    for (std::int64_t part = 0; part < parts_; ++part) {
      call.accumulator = accumulators + part * accumulator_bytes_;
      start_(call.accumulator);
      function_(&call, rows_ * part / parts_, rows_ * (part + 1) / parts_);
    }
  }

 private:
  static constexpr std::int64_t alignment = 64;
  struct alignas(16) Scalar {
    std::byte bytes[ScalarState::most_bytes];
  };

  static std::byte const* reach(GpuStream const& stream, std::byte const* first, bool is_constant) {
    return is_constant || first == nullptr ? first : stream.reach(first);
  }

  KernelFunction function_;
  void (*start_)(void*);
  std::int64_t rows_;
  std::int64_t parts_;
  std::int64_t accumulator_bytes_;
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

StridedBlock block_of(Index const& extents, Index const& strides, std::int64_t element_bytes) {
  StridedBlock block;
  block.element_bytes = element_bytes;
  for (std::size_t d = 0; d < extents.size(); ++d) {
    block.extents.push_back(extents[d]);
    block.strides_bytes.push_back(strides[d] * element_bytes);
  }
  return block;
}

void launch_copy(GpuStream& stream, GpuLaunch const& launch) {
  auto const& box = *launch.box;
  auto const pair =
      normalized({block_of(*box.extents, *box.target_strides, launch.copied_bytes),
                  block_of(*box.extents, *box.leaves[0].strides, launch.copied_bytes)});
  stream.copy_block(box.target, pair.to, box.leaves[0].first, pair.from);
}

}  // namespace

bool can_launch(GpuStream const& stream, KernelForms const& forms, std::int64_t copied_bytes) {
  return stream.native() == nullptr || copied_bytes > 0 || has_kernel(forms);
}

void launch_on_gpu(GpuStream& stream, GpuLaunch const& launch) {
  if (launch.rows == 0 && launch.parts == 0) return;
  bool const is_cuda = stream.native() != nullptr;
  if (launch.copied_bytes > 0 && !(is_cuda && has_kernel(*launch.forms))) {
    launch_copy(stream, launch);
    return;
  }
  if (!is_cuda) {
    stream.defer(
        [call = std::make_shared<DeferredCall const>(launch), &stream] { call->run(stream); });
    return;
  }
  TESSERA_ASSERT(has_kernel(*launch.forms), "no kernel for a GPU at ", launch.place);
  GpuCall call;
  call.box = *launch.box;
  call.kernel_bytes = launch.kernel_bytes;
  call.leaf_count = launch.leaf_count;
  call.scalar_count = launch.scalar_count;
  call.unit_stride = launch.unit_stride;
  call.parts = launch.parts;
  call.stream = stream.native();
  call.multiprocessors = stream.multiprocessors();
  auto const error = (*launch.forms->gpu)(call);
  if (error != 0) stream.check_launch(error, text("the statement at ", launch.place));
}

}  // namespace tessera
