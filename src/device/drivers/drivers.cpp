#include "src/device/drivers/drivers.hpp"

#include <algorithm>
#include <array>
#include <cstddef>

#include "tessera/detail/base/assert.hpp"

#include "src/device/cuda/driver.hpp"

namespace tessera {
namespace {

bool is_always_there() {
  return true;
}

struct Entry {
  DeviceKind kind;
  char const* name;       // for people
  std::string_view word;  // of the environment
  bool is_default;        // used where nobody asks for another
  bool (*is_built)();
  std::unique_ptr<DeviceDriver> (*make)();
};

constexpr std::array<Entry, 3> entries{{
    {DeviceKind::cpu, "cpu", "host", false, is_always_there, make_host_driver},
    {DeviceKind::cuda, "cuda", "cuda", true, has_cuda_driver, make_cuda_driver},
    {DeviceKind::emulated_gpu, "emulated gpu", "emulated", false, is_always_there,
     make_emulated_driver},
}};

Entry const& entry_of(DeviceKind kind) {
  auto const found = std::ranges::find(entries, kind, &Entry::kind);
  TESSERA_ASSERT(found != entries.end(), "no kind of devices has number ", static_cast<int>(kind));
  return *found;
}

}  // namespace

char const* to_string(DeviceKind kind) {
  return entry_of(kind).name;
}

std::vector<std::string_view> const& device_words() {
  static auto const words = [] {
    std::vector<std::string_view> all;
    for (auto const& entry : entries) all.push_back(entry.word);
    return all;
  }();
  return words;
}

DeviceKind kind_of_devices(std::string_view word) {
  auto const found = std::ranges::find(entries, word, &Entry::word);
  TESSERA_ASSERT(found != entries.end(), word, " names no devices");
  return found->kind;
}

std::unique_ptr<DeviceDriver> make_driver(DeviceKind kind) {
  return entry_of(kind).make();
}

std::unique_ptr<DeviceDriver> find_gpus() {
  for (auto const& entry : entries) {
    if (!entry.is_default || !entry.is_built()) continue;
    if (auto driver = entry.make(); driver->count() > 0) return driver;
  }
  return nullptr;
}

}  // namespace tessera
