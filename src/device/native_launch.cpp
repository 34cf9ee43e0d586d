#include "src/device/native_launch.hpp"

#include "tessera/detail/base/assert.hpp"

namespace tessera {
namespace {

bool has_native_kernel(KernelForms const& forms) {
  return forms.gpu != nullptr && *forms.gpu != nullptr;
}

StridedBlock block_of(Index const& extents, Index const& strides, std::int64_t element_bytes) {
  StridedBlock block;
  block.element_bytes = element_bytes;
  for (std::size_t d = 0; d < extents.size(); ++d) {
    block.extents.push_back(extents[d]);
    block.strides_bytes.push_back(strides[d] * element_bytes);
  }
  return block;
}

}  // namespace

bool can_launch(Queue const& queue, KernelForms const& forms, std::int64_t copied_bytes) {
  return !queue.traits().needs_native_kernels || copied_bytes > 0 || has_native_kernel(forms);
}

void launch_copy(Queue& queue, KernelLaunch const& launch) {
  auto const& box = *launch.box;
  auto const bytes = launch.kernel->copied_bytes;
  auto const pair = normalized({block_of(*box.extents, *box.target_strides, bytes),
                                block_of(*box.extents, *box.operands[0].strides, bytes)});
  queue.copy_block(box.target, pair.to, box.operands[0].first, pair.from);
}

int launch_natively(Queue& queue, KernelLaunch const& launch, NativeStream const& native) {
  if (launch.rows == 0 && launch.sums.parts == 0) return 0;
  auto const& forms = *launch.kernel->forms;
  if (launch.kernel->copied_bytes > 0 && !has_native_kernel(forms)) {
    launch_copy(queue, launch);
    return 0;
  }
  TESSERA_ASSERT(has_native_kernel(forms), "no kernel for a GPU at ", launch.kernel->location);
  GpuCall call;
  call.box = *launch.box;
  call.kernel_bytes = launch.kernel->bytes;
  call.operand_count = launch.operand_count;
  call.scalar_count = launch.kernel->scalar_count;
  call.unit_stride = launch.unit_stride;
  call.parts = launch.sums.parts;
  call.stream = native.stream;
  call.multiprocessors = native.multiprocessors;
  // One of the functions of detail/array/gpu/gpu_launch.hpp: g++'s objects know it by its slot
  // only.
  return (*forms.gpu)(call);
}

}  // namespace tessera
