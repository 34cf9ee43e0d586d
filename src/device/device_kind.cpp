#include "tessera/device/device_kind.hpp"

namespace tessera {

char const* to_string(DeviceKind kind) {
  switch (kind) {
    case DeviceKind::cpu:
      return "cpu";
    case DeviceKind::cuda:
      return "cuda";
    case DeviceKind::emulated_gpu:
      return "emulated gpu";
  }
  return "";
}

}  // namespace tessera
