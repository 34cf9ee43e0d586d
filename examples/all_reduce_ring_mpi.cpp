// all_reduce_ring without Tessera: the same ring of messages, by hand.
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <vector>

#include <mpi.h>

namespace {

class Ring {
 public:
  Ring() {
    MPI_Comm_rank(MPI_COMM_WORLD, &rank_);
    MPI_Comm_size(MPI_COMM_WORLD, &size_);
  }
  [[nodiscard]] int rank() const { return rank_; }
  [[nodiscard]] int size() const { return size_; }

  // Passes piece (rank - behind) of `x` to the next process, and adds what comes, or takes it.
  void pass_on(std::vector<std::int64_t>& x, int behind, bool adds) const {
    auto const cells = static_cast<int>(x.size()) / size_;
    auto* const sent = x.data() + std::ptrdiff_t{piece(behind)} * cells;
    auto* const own = x.data() + std::ptrdiff_t{piece(behind + 1)} * cells;
    std::vector<std::int64_t> received(static_cast<std::size_t>(cells));
    MPI_Sendrecv(sent, cells, MPI_INT64_T, (rank_ + 1) % size_, 0, received.data(), cells,
                 MPI_INT64_T, (rank_ + size_ - 1) % size_, 0, MPI_COMM_WORLD, MPI_STATUS_IGNORE);
    for (int i = 0; i < cells; ++i)
      own[i] = adds ? own[i] + received[static_cast<std::size_t>(i)]
                    : received[static_cast<std::size_t>(i)];
  }

 private:
  [[nodiscard]] int piece(int before) const { return ((rank_ - before) % size_ + size_) % size_; }

  int rank_ = 0;
  int size_ = 1;
};

int run(std::int64_t cells) {
  Ring const ring;
  if (cells < 1) {
    if (ring.rank() == 0) std::fputs("give the number of cells of a piece: 1 or more\n", stderr);
    return 2;
  }
  std::vector<std::int64_t> x(static_cast<std::size_t>(ring.size() * cells));
  for (std::size_t i = 0; i < x.size(); ++i)
    x[i] = (ring.rank() + 1) * static_cast<std::int64_t>(i);
  auto whole = x;
  MPI_Allreduce(MPI_IN_PLACE, whole.data(), static_cast<int>(whole.size()), MPI_INT64_T, MPI_SUM,
                MPI_COMM_WORLD);

  for (int round = 0; round + 1 < ring.size(); ++round) ring.pass_on(x, round, true);
  for (int round = 0; round + 1 < ring.size(); ++round) ring.pass_on(x, round - 1, false);

  int is_right = x == whole ? 1 : 0;
  MPI_Allreduce(MPI_IN_PLACE, &is_right, 1, MPI_INT, MPI_MIN, MPI_COMM_WORLD);
  if (ring.rank() == 0)
    std::printf("%zu cells on each of %d, the last is %lld: %s\n", x.size(), ring.size(),
                static_cast<long long>(x.back()), is_right != 0 ? "as all_reduce gives" : "WRONG");
  return is_right != 0 ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  MPI_Init(&argc, &argv);
  auto const code = run(argc > 1 ? std::atoll(argv[1]) : 1000);
  MPI_Finalize();
  return code;
}
