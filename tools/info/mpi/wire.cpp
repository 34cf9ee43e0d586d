#include "../wire.hpp"

#include <array>
#include <string>
#include <vector>

#include <mpi.h>

namespace info {
namespace {

class MpiWire final : public Wire {
 public:
  MpiWire(int peer, bool leads)
      : peer_(peer), leads_(leads), bytes_(static_cast<std::size_t>(stream_bytes)) {}

  std::int64_t round_trip(std::int64_t value) override {
    if (leads_) send(value);
    auto const heard = receive();
    if (!leads_) send(heard);
    return heard;
  }

  void stream() override {
    auto const size = static_cast<int>(bytes_.size());
    if (leads_) {
      MPI_Send(bytes_.data(), size, MPI_BYTE, peer_, 0, MPI_COMM_WORLD);
      (void)receive();
      return;
    }
    MPI_Recv(bytes_.data(), size, MPI_BYTE, peer_, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    send(0);
  }

 private:
  void send(std::int64_t value) const {
    MPI_Send(&value, 1, MPI_INT64_T, peer_, 0, MPI_COMM_WORLD);
  }
  [[nodiscard]] std::int64_t receive() const {
    std::int64_t value = 0;
    MPI_Recv(&value, 1, MPI_INT64_T, peer_, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    return value;
  }

  int peer_;
  bool leads_;
  std::vector<std::byte> bytes_;
};

}  // namespace

std::unique_ptr<Wire> make_mpi_wire(tessera::ProcessId peer, bool leads) {
  return std::make_unique<MpiWire>(static_cast<int>(peer.value()), leads);
}

std::string mpi_description() {
  std::array<char, MPI_MAX_LIBRARY_VERSION_STRING> words{};
  int length = 0;
  MPI_Get_library_version(words.data(), &length);
  std::string const all(words.data(), static_cast<std::size_t>(length));
  return all.substr(0, all.find_first_of(",\n"));
}

}  // namespace info
