#pragma once
/// @file
/// Shards as Kokkos views. Optional: programs that include this link tessera::kokkos, and run under
/// the Kokkos that the Runtime has initialised.

#include <cstddef>

#include <Kokkos_Core.hpp>

#include "tessera/array/shard_view.hpp"

namespace tessera {
namespace detail {

/// T with N stars behind it.
template <class T, std::size_t N>
struct KokkosData {
  using Type = typename KokkosData<T*, N - 1>::Type;
};
template <class T>
struct KokkosData<T, 0> {
  using Type = T;
};

}  // namespace detail

/// A shard as Kokkos sees it: memory that it does not own, with strides.
template <class T, std::size_t N>
using KokkosShard = Kokkos::View<typename detail::KokkosData<T, N>::Type, Kokkos::LayoutStride,
                                 Kokkos::HostSpace, Kokkos::MemoryTraits<Kokkos::Unmanaged>>;

/// The cells of a shard as a Kokkos view of N dimensions, without a copy.
/// Lifetime: of the shard's view: until the next statement that names the array.
///
/// Example: for_each_shard(u, [](ShardView<double, 2> const& shard) {
///            auto const cells = kokkos_view(shard);  // cells(i, j), extents cells.extent(d)
///          });
template <class T, std::size_t N>
[[nodiscard]] KokkosShard<T, N> kokkos_view(ShardView<T, N> const& shard) {
  Kokkos::LayoutStride layout;
  for (std::size_t d = 0; d < N; ++d) {
    layout.dimension[d] = static_cast<std::size_t>(shard.extent(d));
    layout.stride[d] = static_cast<std::size_t>(shard.stride(d));
  }
  return KokkosShard<T, N>(shard.data(), layout);
}

}  // namespace tessera
