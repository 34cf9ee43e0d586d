// A halo step between neighbours in a ring, beside the same written by hand with MPI. Both run in
// turn in the same processes and have to end with the same bits.
//
//   bench_transport LABEL DIMENSIONS CELLS STEPS PAIRS     prints a line of JSON for each form
//
// Each device has two rows of CELLS doubles and reads the nearest row of either neighbour:
// DIMENSIONS is 1, whatever is asked. The forms, and what stands beside them:
//
//   step      the statement v = 0.7 * (row below) + 0.3 * (row above)     MPI, and the same loop
//   exchange  the same without the time it takes where nothing has to     MPI: packed, sent,
//   unpacked
//             be sent
//   in-place  as exchange                                                 MPI from and to the rows
//   channel   the library's channels alone: packed, sent, unpacked        MPI: packed, sent,
//   unpacked
#include <algorithm>
#include <array>
#include <cstring>
#include <utility>

#include <mpi.h>
#include <tessera/tessera.hpp>

#include "src/base/detail.hpp"
#include "src/runtime/engine.hpp"

#include "pairs.hpp"
#include "raw/aligned.hpp"

namespace ts = tessera;

using bench::Case;
using bench::Pair;
using bench::start_at;
using bench::time;

namespace {

constexpr double next_part = 0.7, last_part = 0.3;
constexpr int rows = 2;  // of each process

/// The neighbours of this process.
struct Ring {
  int self = 0;
  int before = 0;
  int after = 0;

  static Ring here() {
    int rank = 0, size = 0;
    MPI_Comm_rank(MPI_COMM_WORLD, &rank);
    MPI_Comm_size(MPI_COMM_WORLD, &size);
    return {rank, (rank + size - 1) % size, (rank + 1) % size};
  }
};

/// Two rows between two ghost rows, twice, and buffers to pack into.
class RawRows {
 public:
  explicit RawRows(std::int64_t cells) : cells_(cells), packed_(raw::make_doubles(4 * cells)) {
    for (auto* memory : {&now_, &next_}) *memory = raw::make_doubles((rows + 2) * cells);
    for (int row = 0; row < rows; ++row)
      for (std::int64_t i = 0; i < cells; ++i)
        now(row)[i] = start_at((ring_.self * rows + row) * cells + i);
  }

  void step() {
    exchange();
    compute();
    std::swap(now_, next_);
  }

  void exchange() {
    auto* const send = packed_.get();
    auto* const receive = send + 2 * cells_;
    std::memcpy(send, now(0), bytes());
    std::memcpy(send + cells_, now(rows - 1), bytes());
    swap_faces(send, send + cells_, receive, receive + cells_);
    std::memcpy(now(-1), receive, bytes());
    std::memcpy(now(rows), receive + cells_, bytes());
  }

  void exchange_in_place() { swap_faces(now(0), now(rows - 1), now(-1), now(rows)); }

  [[nodiscard]] double* now(int row) { return now_.get() + (row + 1) * cells_; }
  [[nodiscard]] Ring const& ring() const { return ring_; }
  [[nodiscard]] std::int64_t cells() const { return cells_; }
  [[nodiscard]] std::size_t bytes() const {
    return static_cast<std::size_t>(cells_) * sizeof(double);
  }

 private:
  void compute() {
    for (int row = 0; row < rows; ++row) {
      auto const* const below = now(row + 1);
      auto const* const above = now(row - 1);
      auto* __restrict to = next_.get() + (row + 1) * cells_;
      for (std::int64_t i = 0; i < cells_; ++i) to[i] = next_part * below[i] + last_part * above[i];
    }
  }

  void swap_faces(double const* first, double const* last, double* above, double* below) const {
    constexpr int upwards = 0, downwards = 1;
    auto const count = static_cast<int>(cells_);
    std::array<MPI_Request, 4> requests;
    MPI_Irecv(above, count, MPI_DOUBLE, ring_.before, downwards, MPI_COMM_WORLD, &requests[0]);
    MPI_Irecv(below, count, MPI_DOUBLE, ring_.after, upwards, MPI_COMM_WORLD, &requests[1]);
    MPI_Isend(first, count, MPI_DOUBLE, ring_.before, upwards, MPI_COMM_WORLD, &requests[2]);
    MPI_Isend(last, count, MPI_DOUBLE, ring_.after, downwards, MPI_COMM_WORLD, &requests[3]);
    MPI_Waitall(4, requests.data(), MPI_STATUSES_IGNORE);
  }

  Ring ring_ = Ring::here();
  std::int64_t cells_;
  raw::Doubles now_, next_, packed_;
};

/// The exchange of RawRows by the library's channels, one message for each neighbour.
class Channels {
 public:
  explicit Channels(RawRows& of) : of_(of), network_(ts::engine().network()) {
    auto const& ring = of.ring();
    auto* const first = of.now(0);
    auto* const last = of.now(rows - 1);
    for (auto const peer : {ring.before, ring.after}) (void)receiver(peer);  // before any sender
    if (ring.before == ring.after) {
      add(ring.after, {first, last}, {of.now(rows), of.now(-1)});
      return;
    }
    add(ring.before, {first}, {of.now(-1)});
    add(ring.after, {last}, {of.now(rows)});
  }

  void exchange() {
    auto const bytes = static_cast<std::int64_t>(of_.bytes());
    for (std::int64_t done = 0; done < bytes * static_cast<std::int64_t>(links_[0].send.size());) {
      auto next = done;
      for (auto& link : links_) next = put(link, done);
      for (auto& link : links_) take(link, done);
      done = next;
    }
    if (network_.has_pending()) network_.drain(tag_);
  }

 private:
  struct Link {
    ts::Sender* sender;
    ts::Receiver* receiver;
    std::vector<double*> send;
    std::vector<double*> receive;
  };

  static ts::DeviceId device(int process) { return ts::DeviceId(process); }
  ts::Receiver& receiver(int from) {
    return network_.receiver(device(from), device(of_.ring().self));
  }
  void add(int peer, std::vector<double*> send, std::vector<double*> receive) {
    links_.push_back({&network_.sender(device(of_.ring().self), device(peer), tag_),
                      &receiver(peer), std::move(send), std::move(receive)});
  }

  /// Calls visit(place among the faces, first byte of it, bytes) for a piece of all faces.
  template <class Visit>
  void visit_piece(std::int64_t first, std::int64_t size, Visit const& visit) const {
    auto const face = static_cast<std::int64_t>(of_.bytes());
    for (auto at = first; at < first + size;) {
      auto const n = std::min(face - at % face, first + size - at);
      visit(static_cast<std::size_t>(at / face), at % face, at - first,
            static_cast<std::size_t>(n));
      at += n;
    }
  }

  std::int64_t put(Link& link, std::int64_t done) {
    auto const all = static_cast<std::int64_t>(of_.bytes() * link.send.size());
    auto const size = std::min(link.sender->slot_bytes(), all - done);
    auto const slot = link.sender->slot(network_.caller_wait_policy(), tag_);
    visit_piece(
        done, size, [&](std::size_t face, std::int64_t skip, std::int64_t at, std::size_t n) {
          std::memcpy(slot.data() + at, reinterpret_cast<std::byte*>(link.send[face]) + skip, n);
        });
    link.sender->put(tag_, size);
    return done + size;
  }

  void take(Link& link, std::int64_t done) {
    auto const slot = link.receiver->take(network_.caller_wait_policy(), tag_);
    visit_piece(done, static_cast<std::int64_t>(slot.size()),
                [&](std::size_t face, std::int64_t skip, std::int64_t at, std::size_t n) {
                  std::memcpy(reinterpret_cast<std::byte*>(link.receive[face]) + skip,
                              slot.data() + at, n);
                });
    link.receiver->release();
  }

  RawRows& of_;
  ts::Network& network_;
  ts::StatementTag tag_{};
  std::vector<Link> links_;
};

/// The times of all forms, in turn.
struct Forms {
  std::vector<Pair> step, exchange, in_place, channel;
};

struct Times {
  double step, fresh, channel, raw_step, raw_exchange, raw_in_place;
};

void note(Forms& forms, Times const& t) {
  auto const exchange = std::max(t.step - t.fresh, t.step / 100);  // where noise is all there is
  forms.step.push_back({t.step, t.raw_step});
  forms.exchange.push_back({exchange, t.raw_exchange});
  forms.in_place.push_back({exchange, t.raw_in_place});
  forms.channel.push_back({t.channel, t.raw_exchange});
}

std::uint64_t hash_of(RawRows& v) {
  std::uint64_t hash = 0;
  for (int row = 0; row < rows; ++row)
    for (std::int64_t i = 0; i < v.cells(); ++i) {
      auto const cell = (v.ring().self * rows + row) * v.cells() + i;
      hash += ts::mix(static_cast<std::uint64_t>(cell), ts::bits_of(v.now(row)[i]));
    }
  MPI_Allreduce(MPI_IN_PLACE, &hash, 1, MPI_UINT64_T, MPI_SUM, MPI_COMM_WORLD);
  return hash;
}

int run(Case const& what) {
  ts::Mesh mesh({{"x", ts::device_count()}});
  ts::NamedSharding by_rows(mesh, ts::P("x", ts::none));
  auto u = ts::from_index<double>({rows * ts::device_count(), what.cells}, by_rows,
                                  [&](auto i) { return start_at(i[0] * what.cells + i[1]); });
  auto v = u;
  RawRows raw(what.cells);
  Channels channels(raw);

  auto const assign = [&] {
    v = next_part * ts::shift(u, {1, 0}, ts::periodic) +
        last_part * ts::shift(u, {-1, 0}, ts::periodic);
  };
  auto const step = [&] {
    assign();
    std::swap(u, v);
  };
  Forms forms;
  for (int i = 0; i <= what.pairs; ++i) {
    Times t{};
    bool const raw_first = i % 2 == 0;
    auto const run_raw = [&] {
      raw.step();
      t.raw_step = time(what.steps, [&] { raw.step(); });
      t.raw_exchange = time(what.steps, [&] { raw.exchange(); });
      t.raw_in_place = time(what.steps, [&] { raw.exchange_in_place(); });
    };
    if (raw_first) run_raw();
    step();  // the first may find what the neighbours sent before
    t.step = time(what.steps, step);
    t.channel = time(what.steps, [&] { channels.exchange(); });
    assign();  // what follows finds the neighbours' rows fresh
    t.fresh = time(what.steps, assign);
    if (!raw_first) run_raw();
    if (i > 0) note(forms, t);
  }
  bool const is_right = ts::hash(u) == hash_of(raw);
  bench::print(what, forms.step, is_right, "step");
  bench::print(what, forms.exchange, is_right, "exchange");
  bench::print(what, forms.in_place, is_right, "in-place");
  return bench::print(what, forms.channel, is_right, "channel");
}

}  // namespace

int main(int argc, char** argv) {
  ts::Runtime runtime(argc, argv);
  auto const what = bench::case_of(argc, argv);
  return what ? run(*what) : 2;
}
