#include "tessera/exchange/one_sided.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "tessera/base/error.hpp"
#include "tessera/base/hash.hpp"
#include "tessera/base/log.hpp"
#include "tessera/base/text.hpp"
#include "tessera/device/strided.hpp"
#include "tessera/exchange/engine.hpp"

#include "cell_access.hpp"
#include "cell_requests.hpp"
#include "window.hpp"

namespace tessera {
namespace {

/// Calls that may be under way at once: enough to hide how far other processes are.
constexpr std::size_t most_under_way = 64;
/// What is read and written whole of a cell that does not fit one call.
constexpr std::int64_t word_bytes = 8;
/// Looks for an answer before the wait begins to do what this thread owes others.
constexpr int looks_alone = 64;
/// Where this process answers others itself, it looks for their calls every so many accesses.
constexpr std::uint64_t accesses_between_looks = 64;

/// A call, and what its answer is for.
struct Flight {
  Call call;
  std::shared_ptr<Operation> operation;
  StridedBlock place;           ///< in the operation's cells
  std::int64_t first_byte = 0;  ///< of the place's stream
};

Index index_of(std::span<std::int64_t const> cell) {
  return {cell.begin(), cell.end()};
}

// Some cells inside a dense row-major box.
StridedBlock block_in(Box const& whole_box, Box const& some, std::int64_t element_bytes) {
  return strided_block(some, whole_box.lo, row_major_strides(whole_box.extents()), element_bytes);
}

void check_may_have_epochs(ArrayState const& array) {
  auto const what = text("fence: an array of shape ", array.layout()->shape());
  if (array.is_frozen() || array.layout()->sharding().is_partial())
    throw UsageError(text(what,
                          " that consists of addends, or is one of them, has no one-sided "
                          "access; take a copy of its sum, "
                          "reshard(u, u.sharding().without_partial())"));
  if (array.is_pinned() && array.window() == nullptr)
    throw UsageError(text(what,
                          " whose cells lie in memory of the program's, or are pinned, cannot "
                          "move to where other processes reach them; fence a copy of it, or "
                          "fence it once before it is pinned"));
}

void check_atomic(ArrayState const& array) {
  if (array.layout()->sharding().replicas() == 1) return;
  throw UsageError(text("an atomic on an array with ", array.layout()->sharding().replicas(),
                        " copies of each cell (", array.layout()->sharding(),
                        "): there is no copy that all of them could agree on; use an array that "
                        "every axis of its mesh cuts"));
}

[[noreturn]] void refuse_closed(ArrayState const& array) {
  throw UsageError(text("one-sided access to an array of shape ", array.layout()->shape(),
                        " outside of its fences; call fence(u) on every process before it, and "
                        "again behind it"));
}

[[noreturn]] void refuse_cell(ArrayState const& array, Index const& cell) {
  throw IndexError(text("there is no cell ", cell, " in an array of shape ",
                        array.layout()->shape(),
                        "; one-sided indices count from 0 and are not "
                        "clamped"));
}

}  // namespace

struct OneSided::Impl {
  explicit Impl(Engine& engine_to_use) : engine(engine_to_use), network(engine.network()) {}

  // What UCX may still look at outlives this.
  ~Impl() {
    for (auto& flight : under_way) (void)flight.release();
  }

  // --- epochs ---

  // Bits that are set on any process.
  unsigned over_processes(unsigned bits, char const* purpose) {
    std::byte all{static_cast<unsigned char>(bits)};
    engine.or_over_processes({&all, 1}, fence_place, {purpose});
    return std::to_integer<unsigned>(all);
  }

  // Once: how processes reach each other whose memory they cannot map.
  void start() {
    has_started = true;
    auto const& job = engine.job();
    if (job.process_count() == 1) return;
    bool const is_one_host = std::ssize(network.host_processes()) == job.process_count();
    bool const maps_all = is_one_host && network.may_share_memory() && network.sees_next_process();
    if (over_processes(maps_all ? 0 : 1, "where the first fence asks who maps whose memory") == 0)
      return;
    Serve const serve = [arrays = arrays](auto request, auto& answer) {
      arrays->serve(request, answer);
    };
    constexpr unsigned some_can = 1;
    constexpr unsigned some_cannot = 2;
    auto const why_not = network.prepare_calls(serve);
    auto const who = over_processes(why_not.empty() ? some_can : some_cannot,
                                    "where the first fence asks who can answer");
    engine.guarded([&] { network.open_calls((who & some_cannot) == 0, serve); });
    // Where none can, one says so for all.
    if (why_not.empty() || (who == some_cannot && job.self() != ProcessId{0})) return;
    log_warning_once(text("one-sided access to cells of ",
                          who == some_cannot ? "another process" : "this process",
                          ", where memory is not shared, is answered only while that waits in "
                          "Tessera: ",
                          why_not));
  }

  void open(std::shared_ptr<ArrayState> const& array) {
    if (engine.device_kind() != DeviceKind::cpu)
      throw UsageError(text("one-sided access reaches memory of hosts, and these devices are ",
                            tessera::to_string(engine.device_kind()),
                            "; run the program with TESSERA_DEVICE=host, or write a slice"));
    engine.synchronize();
    if (!has_started) start();
    engine.guarded([&] {
      if (network.may_share_memory() && array->shared_block() == nullptr)
        array->share(network.shared_blocks());
      if (array->window() == nullptr)
        array->set_window(std::make_shared<Window>(*array, engine.job(), network));
      array->window()->open();
    });
    arrays->add(array);
    pass(*array, "which opens the one-sided access");
    array->set_open_epoch(true);
  }

  void close(std::shared_ptr<ArrayState> const& array) {
    while (!under_way.empty()) {
      auto const operation = under_way.front()->operation;
      wait(*operation);
    }
    if (!lost.empty()) engine.guarded([&] { throw PeerFailed(lost); });
    pass(*array, "which ends the one-sided access");
    array->set_open_epoch(false);
    arrays->remove(*array);
    array->freshness().clear();
    for (auto& shard : array->shards()) {
      shard.differing.clear();
      if (shard.has_second()) shard.differing.push_back(shard.own);
    }
  }

  // Returns once all processes have come here.
  void pass(ArrayState const& array, char const* purpose) {
    std::byte nothing{0};
    engine.or_over_processes({&nothing, 1}, fence_place, {purpose, array.number()});
  }

  // --- cells ---

  Window& window_of(ArrayState& array) {
    if (!array.has_open_epoch()) refuse_closed(array);
    network.failure().throw_if_set();
    if (looks_itself()) (void)network.calls()->progress();
    return *array.window();
  }

  bool looks_itself() {
    auto const* const calls = network.calls();
    return calls != nullptr && calls->needs_the_other_caller() &&
           ++accesses % accesses_between_looks == 0;
  }

  static void check_cell(ArrayState const& array, std::span<std::int64_t const> cell) {
    auto const& shape = array.layout()->shape();
    for (std::size_t d = 0; d < cell.size(); ++d)
      if (cell[d] < 0 || cell[d] >= shape[d]) refuse_cell(array, index_of(cell));
  }

  static void check_box(ArrayState const& array, Box const& box) {
    auto const& shape = array.layout()->shape();
    if (box.rank() != shape.size() || box.hi.size() != shape.size())
      throw IndexError(
          text("the box ", box, " has not the dimensions of an array of shape ", shape));
    if (!whole(shape).contains(box))
      throw IndexError(text("the box ", box, " is not inside an array of shape ", shape,
                            "; one-sided indices count from 0 and are not clamped"));
  }

  // --- calls ---

  template <class Ready>
  void wait_until(Ready const& ready, DeviceId peer) {
    auto const look = [&] {
      move();
      return ready();
    };
    // Most answers come soon, and the waiter drives all the other transports between two looks.
    for (int i = 0; i < looks_alone; ++i)
      if (look()) return;
    Awaited const what{Awaited::Kind::answer, engine.job().first_local(), peer, 0, {}};
    engine.guarded([&] { network.caller_waiter().until(look, what); });
  }

  void wait(Operation const& operation) {
    wait_until([&] { return operation.left == 0; }, operation.peer);
    if (operation.trouble.empty()) return;
    engine.guarded([&] { throw PeerFailed(operation.trouble); });
  }

  // Takes the answers that have come, also with messages that others asked for.
  void move() {
    // After a failure answers may have no place any more: who waited for them has been told.
    if (under_way.empty() || network.failure().is_set()) return;
    (void)network.calls()->progress();
    for (std::size_t i = 0; i < under_way.size();) {
      if (!under_way[i]->call.is_done()) {
        ++i;
        continue;
      }
      land(*under_way[i]);
      free_flights.push_back(std::move(under_way[i]));
      if (i + 1 < under_way.size()) under_way[i] = std::move(under_way.back());
      under_way.pop_back();
    }
  }

  void land(Flight& flight) {
    auto& operation = *flight.operation;
    --operation.left;
    auto& call = flight.call;
    auto const answer = std::span<std::byte const>(call.answer)
                            .subspan(std::min(call.answer.size(), Call::front_bytes));
    if (!call.trouble.empty()) {
      operation.trouble = call.trouble;
    } else if (answer.empty() || answer.front() != std::byte{0}) {
      auto const words = answer.empty() ? answer : answer.subspan(1);
      operation.trouble =
          text("process ", call.to, ": ",
               std::string_view(reinterpret_cast<char const*>(words.data()), words.size()));
    } else if (operation.into != nullptr && answer.size() > 1) {
      (void)unpack(operation.into, flight.place, flight.first_byte, answer.subspan(1));
    }
    if (lost.empty()) lost = operation.trouble;  // nobody may ask for it any more but the fence
    flight.operation.reset();
  }

  std::unique_ptr<Flight> new_flight(DeviceId peer) {
    if (under_way.size() >= most_under_way)
      wait_until([&] { return under_way.size() < most_under_way; }, peer);
    if (free_flights.empty()) return std::make_unique<Flight>();
    auto flight = std::move(free_flights.back());
    free_flights.pop_back();
    flight->call.trouble.clear();
    flight->call.is_sent = flight->call.is_answered = false;
    return flight;
  }

  static CellRequest request_for(ArrayState const& array, Home const& home, Box const& cells) {
    CellRequest request;
    request.array = array.number();
    request.device = home.device.value();
    request.box = home.box;
    std::copy(cells.lo.begin(), cells.lo.end(), request.lo.begin());
    std::copy(cells.hi.begin(), cells.hi.end(), request.hi.begin());
    request.bytes = cells.cells() * array.element_bytes();
    return request;
  }

  void send(std::shared_ptr<Operation> const& operation, CellRequest const& request,
            StridedBlock const& place, std::span<std::byte const> cells) {
    auto flight = new_flight(DeviceId(request.device));
    flight->operation = operation;
    flight->place = place;
    flight->first_byte = request.first_byte;
    auto& call = flight->call;
    call.to = engine.job().process_of(DeviceId(request.device));
    call.request.resize(Call::front_bytes + sizeof request + cells.size());
    std::memcpy(call.request.data() + Call::front_bytes, &request, sizeof request);
    if (!cells.empty())
      std::memcpy(call.request.data() + Call::front_bytes + sizeof request, cells.data(),
                  cells.size());
    ++operation->left;
    operation->peer = DeviceId(request.device);
    under_way.push_back(std::move(flight));
    network.calls()->begin(call);
  }

  // Asks for the cells of one home, or sends them, in pieces of what a call holds.
  void send_cells(std::shared_ptr<Operation> const& operation, CellRequest request,
                  StridedBlock const& place, std::byte const* from) {
    auto most = network.calls()->most_bytes() - static_cast<std::int64_t>(sizeof request) - 1;
    // A cell travels whole; a longer one in words.
    auto const whole_bytes = place.element_bytes <= most ? place.element_bytes : word_bytes;
    most -= most % whole_bytes;
    std::vector<std::byte> piece;
    auto const total = request.bytes;
    for (std::int64_t done = 0; done < total; done += request.bytes) {
      request.first_byte = done;
      request.bytes = std::min(most, total - done);
      if (from != nullptr) {
        piece.resize(static_cast<std::size_t>(request.bytes));
        (void)pack(from, place, done, piece);
      }
      send(operation, request, place, piece);
    }
  }

  Engine& engine;
  Network& network;
  std::shared_ptr<OpenArrays> arrays = std::make_shared<OpenArrays>();
  std::vector<std::unique_ptr<Flight>> under_way;
  std::vector<std::unique_ptr<Flight>> free_flights;
  std::string lost;  ///< why something was not done, whether or not anybody waits for it
  std::uint64_t accesses = 0;
  Place fence_place;
  bool has_started = false;
};

OneSided::OneSided(Engine& engine) : impl_(std::make_unique<Impl>(engine)) {}
OneSided::~OneSided() = default;

void OneSided::fence(std::shared_ptr<ArrayState> const& array, Place const& place) {
  check_may_have_epochs(*array);
  impl_->fence_place = place;
  if (array->has_open_epoch())
    impl_->close(array);
  else
    impl_->open(array);
}

void OneSided::read(ArrayState& array, std::span<std::int64_t const> cell, std::byte* into) {
  auto& window = impl_->window_of(array);
  impl_->check_cell(array, cell);
  auto const& home = window.nearest(cell);
  if (home.first != nullptr)
    load_cell(home.place_of(cell, array.element_bytes()), array.element_bytes(), into);
  else
    wait(*begin_read(array, box_of_one(cell), into));
}

void OneSided::write(ArrayState& array, std::span<std::int64_t const> cell, std::byte const* from) {
  auto& window = impl_->window_of(array);
  impl_->check_cell(array, cell);
  auto const& home = window.nearest(cell);
  if (home.first != nullptr && window.replicas() == 1) {
    store_cell(home.place_of(cell, array.element_bytes()), array.element_bytes(), from);
    return;
  }
  wait(*begin_write(array, box_of_one(cell), from));
}

void OneSided::update(ArrayState& array, std::span<std::int64_t const> cell,
                      CellUpdate const& update, std::byte* old) {
  auto& window = impl_->window_of(array);
  check_atomic(array);
  impl_->check_cell(array, cell);
  auto const& home = window.nearest(cell);
  if (home.first != nullptr) {
    update_cell(home.place_of(cell, array.element_bytes()), update, old);
    return;
  }
  auto const operation = begin_update(array, cell, update);
  wait(*operation);
  if (old != nullptr) std::memcpy(old, operation->cells.data(), operation->cells.size());
}

void OneSided::check(ArrayState& array, Box const& box) {
  (void)impl_->window_of(array);
  impl_->check_box(array, box);
}

std::shared_ptr<Operation> OneSided::begin_read(ArrayState& array, Box const& box,
                                                std::byte* into) {
  auto& window = impl_->window_of(array);
  impl_->check_box(array, box);
  auto operation = std::make_shared<Operation>();
  auto const bytes = array.element_bytes();
  if (into == nullptr) operation->cells.resize(static_cast<std::size_t>(box.cells() * bytes));
  operation->into = into == nullptr ? operation->cells.data() : into;
  array.layout()->visit_owners(box, 0, [&](DeviceId, Box const& owned) {
    auto const cells = intersect(box, owned);
    auto const& home = window.nearest({cells.lo.begin(), cells.lo.end()});
    auto const place = block_in(box, cells, bytes);
    if (home.first == nullptr)
      impl_->send_cells(operation, impl_->request_for(array, home, cells), place, nullptr);
    else if (cells.cells() == 1)
      load_cell(home.place_of({cells.lo.begin(), cells.lo.end()}, bytes), bytes,
                operation->into + place.offset_bytes);
    else
      copy_block(operation->into, place, home.first, home.block_of(cells, bytes));
  });
  return operation;
}

std::shared_ptr<Operation> OneSided::begin_write(ArrayState& array, Box const& box,
                                                 std::byte const* from) {
  auto& window = impl_->window_of(array);
  impl_->check_box(array, box);
  auto operation = std::make_shared<Operation>();
  auto const bytes = array.element_bytes();
  auto const write_to = [&](Home const& home, Box const& cells) {
    auto const place = block_in(box, cells, bytes);
    if (home.first == nullptr) {
      auto request = impl_->request_for(array, home, cells);
      request.what = CellRequest::What::write;
      impl_->send_cells(operation, request, place, from);
    } else if (cells.cells() == 1) {
      store_cell(home.place_of({cells.lo.begin(), cells.lo.end()}, bytes), bytes,
                 from + place.offset_bytes);
    } else {
      copy_block(home.first, home.block_of(cells, bytes), from, place);
    }
  };
  array.layout()->visit_owners(box, 0, [&](DeviceId, Box const& owned) {
    auto const cells = intersect(box, owned);
    for (std::int64_t replica = 0; replica < window.replicas(); ++replica)
      write_to(window.copy_of({cells.lo.begin(), cells.lo.end()}, replica), cells);
  });
  return operation;
}

std::shared_ptr<Operation> OneSided::begin_update(ArrayState& array,
                                                  std::span<std::int64_t const> cell,
                                                  CellUpdate const& update) {
  auto& window = impl_->window_of(array);
  check_atomic(array);
  impl_->check_cell(array, cell);
  auto operation = std::make_shared<Operation>();
  auto const bytes = array.element_bytes();
  operation->cells.resize(static_cast<std::size_t>(bytes));
  operation->into = operation->cells.data();
  auto const& home = window.nearest(cell);
  if (home.first != nullptr) {
    update_cell(home.place_of(cell, bytes), update, operation->into);
    return operation;
  }
  auto const one = box_of_one(cell);
  auto request = impl_->request_for(array, home, one);
  request.what = CellRequest::What::update;
  request.update = update;
  impl_->send(operation, request, block_in(one, one, bytes), {});
  return operation;
}

bool OneSided::is_done(Operation const& operation) {
  impl_->move();
  if (operation.left > 0) {
    impl_->network.failure().throw_if_set();
    return false;
  }
  if (!operation.trouble.empty()) wait(operation);
  return true;
}

void OneSided::wait(Operation const& operation) {
  impl_->wait(operation);
}

}  // namespace tessera
