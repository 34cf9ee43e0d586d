#include "src/execution/one_sided/one_sided.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "tessera/base/error.hpp"

#include "src/base/detail.hpp"
#include "src/base/host_room.hpp"
#include "src/base/log.hpp"
#include "src/base/text.hpp"
#include "src/device/strided.hpp"
#include "src/execution/one_sided/cell_access.hpp"
#include "src/execution/one_sided/cell_requests.hpp"
#include "src/execution/one_sided/request_queue.hpp"
#include "src/execution/one_sided/window.hpp"
#include "src/index/box.hpp"
#include "src/index/index.hpp"
#include "src/job/job.hpp"
#include "src/network/network.hpp"

namespace tessera {
namespace {

/// A process that answers calls itself polls for them after this many accesses.
constexpr std::uint64_t accesses_between_looks = 64;

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
                          " that is partial, or holds partial results, has no one-sided "
                          "access; take a copy of its sum, "
                          "reshard(u, u.sharding().without_partial())"));
  if (array.is_pinned() && array.window() == nullptr)
    throw UsageError(text(what,
                          " whose cells lie in the program's own memory, or are pinned, cannot "
                          "move to shared memory; fence a copy of it, or "
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
                        "again after it"));
}

[[noreturn]] void refuse_cell(ArrayState const& array, Index const& cell) {
  throw IndexError(text("there is no cell ", cell, " in an array of shape ",
                        array.layout()->shape(),
                        "; one-sided indices count from 0 and are not "
                        "clamped"));
}

}  // namespace

struct OneSided::Impl {
  Impl(HostCollectives& collectives_to_use, Network& network_to_use, Job const& job_to_use,
       QueueTraits const& traits_of_devices)
      : collectives(collectives_to_use),
        network(network_to_use),
        job(job_to_use),
        devices(traits_of_devices) {}

  // --- epochs ---

  // Returns the bits that any process sets.
  unsigned over_processes(unsigned bits, char const* purpose) {
    std::byte all{static_cast<unsigned char>(bits)};
    collectives.or_over_processes({&all, 1}, fence_place, {purpose});
    return std::to_integer<unsigned>(all);
  }

  // Sets up, once, how processes reach each other if they cannot map each other's memory.
  void start() {
    has_started = true;
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
    auto const reason = network.prepare_calls(serve);
    auto const who = over_processes(reason.empty() ? some_can : some_cannot,
                                    "where the first fence asks who can answer");
    collectives.guarded([&] { network.open_calls((who & some_cannot) == 0, serve); });
    calls = network.calls();
    requests.open(*calls);
    // Where no process can, the first one warns for all.
    if (reason.empty() || (who == some_cannot && job.self() != ProcessId{0})) return;
    log_warning_once(text("one-sided access to cells of ",
                          who == some_cannot ? "another process" : "this process",
                          ", where memory is not shared, is answered only while that process waits "
                          "in Tessera: ",
                          reason));
  }

  void open(std::shared_ptr<ArrayState> const& array) {
    if (!devices.host_reaches_memory)
      throw UsageError(text("one-sided access reaches host memory only, and these devices are ",
                            devices.name,
                            "; run the program with TESSERA_DEVICE=host, or write a slice"));
    collectives.synchronize();
    if (!has_started) start();
    collectives.guarded([&] {
      if (network.may_share_memory() && array->shared_block() == nullptr)
        array->share(network.shared_blocks());
      if (array->window() == nullptr)
        array->set_window(std::make_shared<Window>(*array, job, network));
      array->window()->open();
    });
    arrays->add(array, ++epochs);
    pass(*array, "which opens the one-sided access");
    array->open_epoch(epochs);
  }

  void close(std::shared_ptr<ArrayState> const& array) {
    requests.finish();
    pass(*array, "which ends the one-sided access");
    array->close_epoch();
    arrays->remove(*array);
    array->halo_validity().clear();
    for (auto& shard : array->shards()) {
      shard.differing.clear();
      if (shard.has_second()) shard.differing.push_back(shard.own);
    }
  }

  // Returns once all processes have come here.
  void pass(ArrayState const& array, char const* purpose) {
    std::byte nothing{0};
    collectives.or_over_processes({&nothing, 1}, fence_place, {purpose, array.number()});
  }

  // --- cells ---

  Window& window_of(ArrayState& array) {
    if (!array.has_open_epoch()) refuse_closed(array);
    failure.throw_if_set();
    if (looks_itself()) (void)calls->progress();
    return *array.window();
  }

  bool looks_itself() {
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
          text("the box ", box, " does not have the dimensions of an array of shape ", shape));
    if (!whole(shape).contains(box))
      throw IndexError(text("the box ", box, " is not inside an array of shape ", shape,
                            "; one-sided indices count from 0 and are not clamped"));
  }

  // Describes a request for the owner of some cells.
  static RequestMessage message_to(Owner const& owner, ArrayState const& array, Box const& cells) {
    RequestMessage message;
    message.array = array.number();
    message.epoch = array.epoch();
    message.device = owner.device.value();
    message.box = owner.box;
    std::copy(cells.lo.begin(), cells.lo.end(), message.lo.begin());
    std::copy(cells.hi.begin(), cells.hi.end(), message.hi.begin());
    message.bytes = cells.cells() * array.element_bytes();
    return message;
  }

  HostCollectives& collectives;
  Network& network;
  Job const& job;
  QueueTraits devices;
  Failure& failure{network.failure()};
  Calls* calls = nullptr;  ///< null while all processes map each other's memory
  RequestQueue requests{collectives, network, job};
  std::shared_ptr<OpenArrays> arrays = std::make_shared<OpenArrays>();
  std::uint64_t accesses = 0;
  std::uint64_t epochs = 0;  ///< opened so far, equally many on every process
  SourceLocation fence_place;
  bool has_started = false;
};

OneSided::OneSided(HostCollectives& collectives, Network& network, Job const& job,
                   QueueTraits const& devices)
    : impl_(std::make_unique<Impl>(collectives, network, job, devices)) {}
OneSided::~OneSided() = default;

void OneSided::fence(std::shared_ptr<ArrayState> const& array, SourceLocation const& location) {
  check_may_have_epochs(*array);
  impl_->fence_place = location;
  if (array->has_open_epoch())
    impl_->close(array);
  else
    impl_->open(array);
}

void OneSided::read(ArrayState& array, std::span<std::int64_t const> cell, std::byte* into) {
  auto& window = impl_->window_of(array);
  impl_->check_cell(array, cell);
  auto const& owner = window.nearest(cell);
  if (owner.first != nullptr)
    load_cell(owner.place_of(cell, array.element_bytes()), array.element_bytes(), into);
  else
    wait(*begin_read(array, box_of_one(cell), into));
}

void OneSided::write(ArrayState& array, std::span<std::int64_t const> cell, std::byte const* from) {
  auto& window = impl_->window_of(array);
  impl_->check_cell(array, cell);
  auto const& owner = window.nearest(cell);
  if (owner.first != nullptr && window.replicas() == 1) {
    store_cell(owner.place_of(cell, array.element_bytes()), array.element_bytes(), from);
    return;
  }
  wait(*begin_write(array, box_of_one(cell), from));
}

void OneSided::update(ArrayState& array, std::span<std::int64_t const> cell,
                      CellUpdate const& update, std::byte* old) {
  auto& window = impl_->window_of(array);
  check_atomic(array);
  impl_->check_cell(array, cell);
  auto const& owner = window.nearest(cell);
  if (owner.first != nullptr) {
    update_cell(owner.place_of(cell, array.element_bytes()), update, old);
    return;
  }
  auto const request = begin_update(array, cell, update);
  wait(*request);
  if (old != nullptr) std::memcpy(old, request->cells.data(), request->cells.size());
}

void OneSided::check(ArrayState& array, Box const& box) {
  (void)impl_->window_of(array);
  impl_->check_box(array, box);
}

std::shared_ptr<OneSidedRequest> OneSided::begin_read(ArrayState& array, Box const& box,
                                                      std::byte* into) {
  auto& window = impl_->window_of(array);
  impl_->check_box(array, box);
  auto request = std::make_shared<OneSidedRequest>();
  auto const bytes = array.element_bytes();
  if (into == nullptr)
    make_room(box.cells(), static_cast<std::size_t>(bytes), "read_async", [&](std::size_t count) {
      request->cells.resize(count * static_cast<std::size_t>(bytes));
    });
  request->into = into == nullptr ? request->cells.data() : into;
  array.layout()->visit_owners(box, 0, [&](DeviceId, Box const& owned) {
    auto const cells = intersect(box, owned);
    auto const& owner = window.nearest({cells.lo.begin(), cells.lo.end()});
    auto const place = block_in(box, cells, bytes);
    if (owner.first == nullptr)
      impl_->requests.send_cells(request, impl_->message_to(owner, array, cells), place, nullptr);
    else if (cells.cells() == 1)
      load_cell(owner.place_of({cells.lo.begin(), cells.lo.end()}, bytes), bytes,
                request->into + place.offset_bytes);
    else
      copy_block(request->into, place, owner.first, owner.block_of(cells, bytes));
  });
  return request;
}

std::shared_ptr<OneSidedRequest> OneSided::begin_write(ArrayState& array, Box const& box,
                                                       std::byte const* from) {
  auto& window = impl_->window_of(array);
  impl_->check_box(array, box);
  auto request = std::make_shared<OneSidedRequest>();
  auto const bytes = array.element_bytes();
  auto const write_to = [&](Owner const& owner, Box const& cells) {
    auto const place = block_in(box, cells, bytes);
    if (owner.first == nullptr) {
      auto message = impl_->message_to(owner, array, cells);
      message.what = RequestMessage::What::write;
      impl_->requests.send_cells(request, message, place, from);
    } else if (cells.cells() == 1) {
      store_cell(owner.place_of({cells.lo.begin(), cells.lo.end()}, bytes), bytes,
                 from + place.offset_bytes);
    } else {
      copy_block(owner.first, owner.block_of(cells, bytes), from, place);
    }
  };
  array.layout()->visit_owners(box, 0, [&](DeviceId, Box const& owned) {
    auto const cells = intersect(box, owned);
    for (std::int64_t replica = 0; replica < window.replicas(); ++replica)
      write_to(window.copy_of({cells.lo.begin(), cells.lo.end()}, replica), cells);
  });
  return request;
}

std::shared_ptr<OneSidedRequest> OneSided::begin_update(ArrayState& array,
                                                        std::span<std::int64_t const> cell,
                                                        CellUpdate const& update) {
  auto& window = impl_->window_of(array);
  check_atomic(array);
  impl_->check_cell(array, cell);
  auto request = std::make_shared<OneSidedRequest>();
  auto const bytes = array.element_bytes();
  request->cells.resize(static_cast<std::size_t>(bytes));
  request->into = request->cells.data();
  auto const& owner = window.nearest(cell);
  if (owner.first != nullptr) {
    update_cell(owner.place_of(cell, bytes), update, request->into);
    return request;
  }
  auto const one = box_of_one(cell);
  auto message = impl_->message_to(owner, array, one);
  message.what = RequestMessage::What::update;
  message.update = update;
  impl_->requests.send(request, message, block_in(one, one, bytes), {});
  return request;
}

bool OneSided::is_done(OneSidedRequest const& request) {
  impl_->requests.progress();
  if (request.left > 0) {
    impl_->network.failure().throw_if_set();
    return false;
  }
  if (request.failure) wait(request);
  return true;
}

void OneSided::wait(OneSidedRequest const& request) {
  impl_->requests.wait(request);
}

}  // namespace tessera
