// Loads a file of NumPy's and saves it again: driver <type> <rank> <from> <to>. Every dimension is
// cut over all devices in turn, so that the file is read in pieces of every form.

#include <cstdlib>
#include <iostream>
#include <map>
#include <string>
#include <vector>

#include "tessera/tessera.hpp"

namespace ts = tessera;

namespace {

template <class T, std::size_t N>
void pass_on(std::string const& from, std::string const& to) {
  ts::Mesh const mesh({{"x", ts::device_count()}});
  std::vector<ts::SpecEntry> entries(N, ts::none);
  if (N > 0) entries[N - 1] = "x";
  ts::save_npy(to, ts::load_npy<T, N>(from, {mesh, ts::PartitionSpec(entries)}));
  for (std::size_t d = 0; d < N; ++d) {
    entries.assign(N, ts::none);
    entries[d] = "x";
    ts::NamedSharding const cut(mesh, ts::PartitionSpec(entries));
    ts::save_npy(to, ts::load_npy<T, N>(to, cut));
  }
}

template <class T>
void pass_on_rank(std::string const& rank, std::string const& from, std::string const& to) {
  if (rank == "0") return pass_on<T, 0>(from, to);
  if (rank == "1") return pass_on<T, 1>(from, to);
  if (rank == "2") return pass_on<T, 2>(from, to);
  if (rank == "3") return pass_on<T, 3>(from, to);
  throw ts::UsageError("no such rank: " + rank);
}

using Pass = void (*)(std::string const&, std::string const&, std::string const&);

std::map<std::string, Pass> const passes{
    {"bool", pass_on_rank<bool>},
    {"int8", pass_on_rank<std::int8_t>},
    {"int16", pass_on_rank<std::int16_t>},
    {"int32", pass_on_rank<std::int32_t>},
    {"int64", pass_on_rank<std::int64_t>},
    {"uint8", pass_on_rank<std::uint8_t>},
    {"uint16", pass_on_rank<std::uint16_t>},
    {"uint32", pass_on_rank<std::uint32_t>},
    {"uint64", pass_on_rank<std::uint64_t>},
    {"float16", pass_on_rank<ts::float16>},
    {"float32", pass_on_rank<float>},
    {"float64", pass_on_rank<double>},
    {"complex64", pass_on_rank<std::complex<float>>},
    {"complex128", pass_on_rank<std::complex<double>>},
};

}  // namespace

int main(int argc, char** argv) {
  ts::Runtime const runtime(argc, argv);
  // Several files at once: starting a program takes longer than a small file.
  for (int i = 1; i + 3 < argc; i += 4) passes.at(argv[i])(argv[i + 1], argv[i + 2], argv[i + 3]);
  return EXIT_SUCCESS;
}
