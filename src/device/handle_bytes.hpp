#pragma once
/// @file
/// What a backend puts into a handle.

#include <cstring>
#include <type_traits>

#include "src/device/peers.hpp"

namespace tessera {

template <class Content>
[[nodiscard]] GpuHandle handle_of(Content const& content) {
  static_assert(std::is_trivially_copyable_v<Content> && sizeof content <= sizeof(GpuHandle));
  GpuHandle handle;
  std::memcpy(handle.bytes.data(), &content, sizeof content);
  return handle;
}

template <class Content>
[[nodiscard]] Content content_of(GpuHandle const& handle) {
  Content content;
  std::memcpy(static_cast<void*>(&content), handle.bytes.data(), sizeof content);
  return content;
}

}  // namespace tessera
