#pragma once
/// @file
/// An engine in place of the program's own, as if the Runtime had ended and another one lived.

#include <cstddef>
#include <cstdint>
#include <memory>

#include "src/device/queue.hpp"
#include "src/job/bootstrap.hpp"
#include "src/network/network.hpp"
#include "src/runtime/engine.hpp"
#include "src/runtime/local_devices.hpp"

namespace tessera::test {

/// A job of this process alone, with so many devices of the host. The program's own engine serves
/// again when this one ends.
class OtherEngine {
 public:
  explicit OtherEngine(std::int64_t devices)
      : before_(&engine()),
        engine_(*bootstrap_,
                {devices,
                 DeviceKind::cpu,
                 {static_cast<std::size_t>(devices), shared_host_queue()},
                 {}},
                {}) {
    detail::set_engine(&engine_);
  }
  ~OtherEngine() { detail::set_engine(before_); }
  OtherEngine(OtherEngine const&) = delete;
  OtherEngine& operator=(OtherEngine const&) = delete;

 private:
  Engine* before_;
  std::unique_ptr<Bootstrap> bootstrap_ = make_single_bootstrap();
  Engine engine_;
};

}  // namespace tessera::test
