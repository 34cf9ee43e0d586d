#include "tessera/runtime/runtime.hpp"

#include <sstream>

#include <doctest/doctest.h>

#include "tessera/base/error.hpp"

#include "src/base/text.hpp"
#include "src/runtime/engine.hpp"

#include "support/agree.hpp"
#include "support/left_out.hpp"

using namespace tessera;

TEST_SUITE_BEGIN("runtime/runtime");

TEST_CASE("devices are numbered over the processes in order") {
  std::int64_t next = 0;
  bool numbered = true;
  std::int64_t here = 0;
  for (auto const device : devices()) {
    numbered = numbered && device.id.value() == next++;
    if (device.addressable) {
      ++here;
      numbered = numbered && device.process == process();
    }
  }

  CHECK_ALL(numbered && next == device_count());
  CHECK_ALL(here == addressable_devices().size());
  CHECK(test::total_over_processes(here) == device_count());
}

TEST_CASE("a device says what it is") {
  std::ostringstream out;
  out << devices()[0];
  CHECK_ALL(out.str() == text(to_string(devices()[0].kind), " 0 of process 0"));
}

TEST_CASE("a second Runtime is refused and the first goes on") {
  CHECK_ALL_THROW(Runtime(), UsageError);
  CHECK_ALL_THROW(Runtime(RuntimeOptions{.devices = 0}), UsageError);
  synchronize();
  CHECK_ALL(device_count() >= 1);
}

TEST_CASE("what a function on the devices throws is thrown once all have ended") {
  if (test::left_out_if(process_count() > 1, "what one process throws ends the job")) return;
  std::atomic<std::int64_t> ran{0};
  CHECK_ALL_THROW(engine().on_local_devices([&](DeviceId) {
    ++ran;
    throw std::runtime_error("a functor gives up");
  }),
                  std::runtime_error);
  CHECK_ALL(ran == addressable_devices().size());

  engine().on_local_devices([&](DeviceId) { ++ran; });
  CHECK_ALL(ran == 2 * addressable_devices().size());
}

TEST_CASE("bytes of all processes meet in one or") {
  std::vector<std::byte> bytes(300'000, std::byte{0});
  auto const mine = static_cast<std::size_t>(process().value());
  for (std::size_t i = mine; i < bytes.size(); i += static_cast<std::size_t>(process_count()))
    bytes[i] = static_cast<std::byte>(i % 251);

  detail::or_over_processes(bytes, {}, {"where a test compares"});

  bool all_there = true;
  for (std::size_t i = 0; i < bytes.size(); ++i)
    all_there = all_there && bytes[i] == static_cast<std::byte>(i % 251);
  CHECK_ALL(all_there);
}

TEST_SUITE_END();
