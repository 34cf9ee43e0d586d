#include "src/transport/channels.hpp"

#include <algorithm>
#include <utility>

#include "tessera/base/error.hpp"
#include "tessera/detail/base/assert.hpp"

#include "src/base/log.hpp"
#include "src/base/text.hpp"
#include "src/transport/channel/transports.hpp"
#include "src/transport/transport_table.hpp"

namespace tessera {

namespace {

std::vector<std::unique_ptr<Transport>> make_transports(ChannelTools const& tools,
                                                        TransportTestHooks const& hooks) {
  bool const is_alone = tools.job.process_count() == 1;
  std::vector<std::unique_ptr<Transport>> made;
  for (auto const& entry : transport_table()) {
    if (is_between_processes(entry.route) && (is_alone || hooks.carrier)) continue;
    if (auto transport =
            entry.make({tools.bootstrap, tools.descriptor_server, tools.secret, tools.refused}))
      made.push_back(std::move(transport));
  }
  if (hooks.carrier && !is_alone) made.push_back(hooks.carrier(tools.bootstrap));
  return made;
}

std::vector<Route> routes_of(std::vector<std::unique_ptr<Transport>> const& transports) {
  std::vector<Route> routes;
  for (auto const& transport : transports) routes.push_back(transport->traits().route);
  return routes;
}

}  // namespace

Channels::Channels(ChannelTools const& tools, NetworkOptions const& options,
                   TransportTestHooks const& hooks)
    : control_channel_(tools.control_channel),
      job_(tools.job),
      options_(options),
      transports_(make_transports(tools, hooks)),
      routing_(tools.job, tools.bootstrap.host_processes(), routes_of(transports_),
               {options.forced, hooks.forced_pair}) {
  if (job_.process_count() == 1) return;
  for (auto const& transport : transports_)
    if (!transport->traits().shares_memory) carrying_.push_back(transport.get());
  check_forced_route(tools.bootstrap.is_equal_on_all(tools.bootstrap.host()));
}

void Channels::check_forced_route(bool one_host) const {
  if (!options_.forced) return;
  auto const needed = one_host ? Distance::host : Distance::job;
  auto const* const transport = transport_of(*options_.forced);
  if (transport != nullptr && reaches(transport->traits(), needed)) return;
  throw ConfigError(text("TESSERA_ROUTE=", *options_.forced,
                         " cannot join the processes of this job",
                         one_host ? "" : ", which has several hosts", "; unset it"));
}

Transport* Channels::transport_of(Route route) const {
  auto const found =
      std::find_if(transports_.begin(), transports_.end(),
                   [&](auto const& transport) { return transport->traits().route == route; });
  return found == transports_.end() ? nullptr : found->get();
}

Transport& Channels::best(DeviceId from, DeviceId to, std::size_t first) const {
  return *transport_of(routing_.best(from, to, first));
}

Sender* Channels::find_sender(DeviceId from, DeviceId to) {
  auto const found = senders_.find({from, to});
  return found == senders_.end() ? nullptr : &found->second;
}

Receiver* Channels::find_receiver(DeviceId from, DeviceId to) {
  auto const found = receivers_.find({from, to});
  return found == receivers_.end() ? nullptr : &found->second.receiver;
}

void Channels::open_local(DeviceId from, DeviceId to) {
  auto& transport = best(from, to);
  OfferRequest const request{from, to, job_.self(), slot_bytes(from, to)};
  auto made = transport.offer(request);
  auto accepted = transport.accept(request, made.invitation);
  receivers_.try_emplace({from, to}, Receiver(std::move(made.end)), &transport, nullptr);
  senders_.try_emplace({from, to}, std::move(accepted.end));
}

std::pair<Transport*, Offer> Channels::offer(OfferRequest const& request, std::size_t first) {
  while (true) {
    auto& transport = best(request.from, request.to, first);
    try {
      return {&transport, transport.offer(request)};
    } catch (TransportError const& error) {
      first = routing_.after(transport.traits().route, request.from, request.to);
      reasons_[{request.peer, transport.traits().route}] = error.what();
      log_warning_once(text("no channel by ", transport.traits().name, ": ", error.what(),
                            "; the next best route is taken"));
    }
  }
}

Receiver& Channels::open_receiver(DeviceId from, DeviceId to) {
  auto const peer = job_.process_of(from);
  OfferRequest const request{from, to, peer, slot_bytes(from, to)};
  auto [transport, made] = offer(request, first_route_[peer]);
  auto const [place, _] =
      receivers_.try_emplace({from, to}, Receiver(made.end), transport, made.answered);
  peers_.insert(peer);
  invite(request, *transport, made);
  return place->second.receiver;
}

void Channels::invite(OfferRequest const& request, Transport const& transport, Offer const& offer) {
  control::Invite message;
  message.route = transport.traits().route;
  message.from = request.from;
  message.to = request.to;
  message.size = static_cast<std::uint32_t>(offer.invitation.size());
  TESSERA_ASSERT(offer.invitation.size() <= message.invitation.size(), message.size);
  std::copy(offer.invitation.begin(), offer.invitation.end(), message.invitation.begin());
  control_channel_.send(request.peer, message);
}

void Channels::on_invite(control::Invite const& invite) {
  if (!job_.is_local(invite.from) || !job_.is_remote(invite.to))
    throw control::BadMessage(
        text("an invitation from device ", invite.from, " to device ", invite.to));
  auto const* const transport = transport_of(invite.route);
  auto const distance = routing_.distance(invite.from, invite.to);
  if (transport == nullptr || !reaches(transport->traits(), distance))
    throw control::BadMessage(
        text("an invitation by ", invite.route, ", which does not join the two processes here"));
  peers_.insert(job_.process_of(invite.to));
  invites_.insert_or_assign({invite.from, invite.to}, invite);
}

Sender* Channels::try_open_sender(DeviceId from, DeviceId to) {
  auto const peer = job_.process_of(to);
  peers_.insert(peer);
  auto const found = invites_.extract({from, to});
  if (found.empty()) return nullptr;
  auto const& invite = found.mapped();
  auto* const transport = transport_of(invite.route);
  TESSERA_ASSERT(transport != nullptr, invite.route);

  OfferRequest const request{from, to, peer, slot_bytes(from, to)};
  auto acceptance = transport->accept(request, std::span(invite.invitation).first(invite.size));
  control::Answer answer;
  answer.from = from;
  answer.to = to;
  answer.accepted = acceptance.reason.empty();
  answer.reason = control::Text<512>(acceptance.reason);
  control_channel_.send(peer, answer);
  if (!answer.accepted) {
    reasons_[{peer, invite.route}] = acceptance.reason;
    return nullptr;
  }
  return &senders_.try_emplace({from, to}, std::move(acceptance.end)).first->second;
}

void Channels::on_answer(control::Answer const& answer) {
  auto const found = receivers_.find({answer.from, answer.to});
  if (found == receivers_.end() || job_.is_local(answer.from))
    throw control::BadMessage(
        text("an answer to no invitation, from device ", answer.from, " to device ", answer.to));
  auto& incoming = found->second;
  if (auto const answered = std::exchange(incoming.answered, nullptr)) answered();
  if (answer.accepted) return;

  auto const peer = job_.process_of(answer.from);
  auto const& traits = incoming.transport->traits();
  auto const next = routing_.after(traits.route, answer.from, answer.to);
  log_warning_once(
      text("process ", peer,
           traits.shares_memory ? " shares no memory with this one by " : " cannot be reached by ",
           traits.name, ", so a slower route is taken: ", answer.reason));
  first_route_[peer] = std::max(first_route_[peer], next);
  reasons_[{peer, traits.route}] = text(answer.reason);
  auto const& end = incoming.receiver.end();
  OfferRequest const request{answer.from, answer.to, peer, end.slot_bytes, &end};
  auto [transport, made] = offer(request, next);
  incoming.receiver.change_route(made.end.doorbell, made.end.route, made.end.keeps);
  incoming.transport = transport;
  incoming.answered = made.answered;
  invite(request, *transport, made);
}

Route Channels::route(DeviceId from, DeviceId to) const {
  auto const found = receivers_.find({from, to});
  if (found != receivers_.end()) return found->second.transport->traits().route;
  auto const sender = senders_.find({from, to});
  if (sender != senders_.end()) return sender->second.end().route;
  if (routing_.distance(from, to) == Distance::process) return routing_.best(from, to);
  auto const first = first_route_.find(routing_.remote_process(from, to));
  return routing_.best(from, to, first == first_route_.end() ? 0 : first->second);
}

std::string Channels::reason_against(Route route, ProcessId peer) const {
  auto const reason = reasons_.find({peer, route});
  if (reason != reasons_.end()) return text(route, ": ", reason->second, "; ");
  if (transport_of(route) == nullptr)
    return text(route, is_built(route) ? ": not started in this job; " : ": not in this build; ");
  return {};
}

std::string Channels::reason(DeviceId from, DeviceId to) const {
  auto const chosen = route(from, to);
  if (routing_.distance(from, to) == Distance::process)
    return text(chosen, ": one process drives both");
  if (routing_.forced(from, to)) return text(chosen, ": TESSERA_ROUTE asks for it");
  auto const peer = routing_.remote_process(from, to);
  std::string better;
  for (auto const route : routing_.preferred(from, to)) {
    if (route == chosen) break;
    better += reason_against(route, peer);
  }
  bool const is_open = senders_.contains({from, to}) || receivers_.contains({from, to});
  if (!is_open) return text(better, chosen, ": the best available");
  if (chosen == Route::shm) return text(better, chosen, ": a segment was mapped by both processes");
  return text(better, chosen, ": a channel to process ", peer, " is open");
}

std::int64_t Channels::slot_bytes(DeviceId from, DeviceId to) const {
  return options_.slot_bytes != 0 ? options_.slot_bytes : best(from, to).traits().slot_bytes;
}

bool Channels::progress() {
  bool moved = false;
  for (auto* transport : carrying_) moved = transport->progress() || moved;
  return moved;
}

bool Channels::has_pending() const {
  return std::any_of(carrying_.begin(), carrying_.end(),
                     [](auto const* transport) { return transport->has_pending(); });
}

Sender const* Channels::unsent() const {
  auto const found = std::find_if(senders_.begin(), senders_.end(),
                                  [](auto const& entry) { return entry.second.has_unsent(); });
  return found == senders_.end() ? nullptr : &found->second;
}

bool Channels::is_satisfied(control::Edge const& edge) const {
  switch (edge.kind) {
    case Awaited::Kind::message: {
      auto const found = senders_.find({edge.peer, edge.self});
      return found != senders_.end() && found->second.messages_put() >= edge.count;
    }
    case Awaited::Kind::free_slot: {
      auto const found = receivers_.find({edge.self, edge.peer});
      if (found == receivers_.end()) return false;
      auto const drained =
          found->second.receiver.end().memory->drained.load(std::memory_order_acquire);
      auto const beyond = found->second.transport->traits().slots_beyond;
      return drained + static_cast<std::uint64_t>(beyond) >= edge.count;
    }
    case Awaited::Kind::invitation:
      return receivers_.contains({edge.self, edge.peer});
    default:
      return false;
  }
}

}  // namespace tessera
