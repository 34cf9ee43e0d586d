#include "tessera/base/error.hpp"

#include "src/base/text.hpp"
#include "src/device/queue.hpp"

namespace tessera {

void refuse_in_graph(std::string_view what) {
  throw DeviceError(text("a graph of a GPU's work has no place for ", what,
                         "; it keeps kernels, fills, and copies within memory of GPUs"));
}

}  // namespace tessera
