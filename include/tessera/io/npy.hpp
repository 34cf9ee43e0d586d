#pragma once
/// @file
/// Arrays in NumPy's own files: numpy.load reads what save_npy writes, and the other way round.

#include <cstddef>
#include <cstdint>
#include <string>
#include <type_traits>

#include "tessera/array/dist_array.hpp"
#include "tessera/array/element.hpp"
#include "tessera/detail/array/erased/handle.hpp"

namespace tessera {
namespace detail {

/// An element type as NumPy's files name it: 'b' bool, 'i' and 'u' integers, 'f' floating, 'c'
/// complex, 'V' bytes.
struct NpyType {
  char kind = 'V';
  std::int64_t bytes = 0;
  std::string name;  ///< for people
};

/// Element types that these files hold.
template <class T>
concept NpyElement = (Number<T> && sizeof(T) <= 16 && !std::is_same_v<T, long double>);

template <Element T>
[[nodiscard]] NpyType npy_type() {
  static_assert(NpyElement<T>,
                "these files hold bool, integers, floating and complex numbers: of structs, save "
                "and load one member at a time, as field<&S::x>(u)");
  constexpr char kind = std::is_same_v<T, bool>       ? 'b'
                        : std::is_same_v<T, bfloat16> ? 'V'
                        : is_floating<T>              ? 'f'
                        : is_complex<T>               ? 'c'
                        : std::is_signed_v<T>         ? 'i'
                                                      : 'u';
  return {kind, static_cast<std::int64_t>(sizeof(T)), dtype_name<T>()};
}

/// The parts of save_npy and load_npy that need no element type, for an array of `rank` dimensions.
void save_npy(std::string const& path, StatePtr const& state, NpyType const& type,
              std::size_t rank);
[[nodiscard]] StatePtr load_npy(std::string const& path, NamedSharding const& sharding,
                                NpyType const& type, std::size_t rank);

}  // namespace detail

/// Writes an array to a file in NumPy's format, as numpy.save does: version 1.0, row-major, in this
/// machine's byte order. Each process writes the cells of its own devices at their places in the
/// file; of several copies, one is written. The file is written under a temporary name in the same
/// folder, and renamed when it is complete and on the disk. A crash therefore leaves an older file
/// of that name unchanged; what it leaves of the new one, the next save to that path removes. Links
/// are followed; a folder, a device or a pipe is not replaced. A file that is replaced keeps its
/// permissions, owner and group.
///
/// bfloat16 is written as two bytes of void ('<V2'), as the package ml_dtypes does.
/// Ranks:   collective; every process reaches the file by the same path.
/// Throws:  Error on every process, with the message of the first that failed; then there is no new
///          file. UsageError where the processes pass different paths.
/// Cost:    one write per run of cells that lie together in the file, at most 4 MiB; no memory for
///          more than that.
/// Example: save_npy("u.npy", u); in Python, u = numpy.load("u.npy").
template <Element T, std::size_t N>
void save_npy(std::string const& path, DistArray<T, N> const& u) {
  detail::save_npy(path, u.readable(), detail::npy_type<T>(), N);
}
/// The cells of a slice or another expression, which are computed first.
template <Expression E>
void save_npy(std::string const& path, E const& e) {
  save_npy(path, DistArray(e));
}

/// Reads an array from a file in NumPy's format, onto any sharding: versions 1 to 3, row-major and
/// Fortran order, either byte order. Process 0 reads the header; each process then reads the cells
/// of its own devices.
///
/// Ranks:   collective; every process reaches the file by the same path.
/// Throws:  alike on every process: Error if the file cannot be read, is not a NumPy file or is too
///          short; Mismatch if processes see files of other sizes or headers; UsageError if its
///          type is not T; ShapeError if it does not have N dimensions; ShardingError.
/// Cost:    one read per run of cells that lie together in the file, at most 4 MiB; runs with small
///          gaps between them are read with the gaps.
/// Example: auto u = load_npy<double, 2>("u.npy", {mesh, P("y", "x")});
template <Element T, std::size_t N>
[[nodiscard]] DistArray<T, N> load_npy(std::string const& path, NamedSharding const& sharding) {
  return DistArray<T, N>(detail::load_npy(path, sharding, detail::npy_type<T>(), N));
}

}  // namespace tessera
