#include "src/ops/products/product_steps.hpp"

#include <algorithm>

#include "src/base/detail.hpp"
#include "src/base/text.hpp"
#include "src/index/index.hpp"
#include "src/statement/array_model.hpp"

namespace tessera {
namespace {

// The numbers of the operation's statements.
constexpr std::size_t first_terms = 0;
constexpr std::size_t more_terms = 1;
constexpr std::size_t copy = 2;

constexpr auto place_of_copy = ~std::uint64_t{0};  // no other step has this place

std::uint64_t with_number(std::uint64_t hash, std::int64_t number) {
  return mix(hash, static_cast<std::uint64_t>(number));
}

void cut_to(Statement& step, std::size_t dimension, std::int64_t lo, std::int64_t hi) {
  step.work.indices.lo[dimension] = lo;
  step.work.indices.hi[dimension] = hi;
}

}  // namespace

std::int64_t ProductSlices::count() const {
  return ceil_div(sizes_.extent, sizes_.width);
}

void ProductSlices::visit(Operation const& operation, DeviceSpan const& /*devices*/,
                          Visit const& visit) const {
  for (std::int64_t lo = 0; lo < sizes_.extent; lo += sizes_.width) {
    auto const number = sizes_.are_terms && lo > 0 ? more_terms : first_terms;
    Statement slice = *operation.statements[number];
    cut_to(slice, sizes_.dimension, lo, std::min(sizes_.extent, lo + sizes_.width));
    visit({number, static_cast<std::uint64_t>(lo), slice});
  }
  if (sizes_.is_copied) visit({copy, place_of_copy, *operation.statements[copy]});
}

std::uint64_t ProductSlices::hash() const {
  auto hash = hash_text("slices of a product");
  hash = with_number(hash, static_cast<std::int64_t>(sizes_.dimension));
  hash = with_number(hash, sizes_.width);
  return with_number(hash, (sizes_.are_terms ? 2 : 0) + (sizes_.is_copied ? 1 : 0));
}

std::int64_t ProductSlices::most_steps() const {
  return count() + (sizes_.is_copied ? 1 : 0);
}

std::string ProductSlices::words() const {
  std::string words;
  if (count() > 1)
    words = text("in ", count(), " slices of ", sizes_.are_terms ? "terms" : "cells");
  if (sizes_.is_copied) words += text(words.empty() ? "" : ", ", "to a new array first");
  return words;
}

void ProductRelay::visit(Operation const& operation, DeviceSpan const& devices,
                         Visit const& visit) const {
  auto const stops = stops_of(devices);
  for (std::int64_t chunk = 0; chunk < sizes_.chunks; ++chunk)
    for (auto const& stop : stops) visit_step(operation, chunk, stop, visit);
  visit({copy, place_of_copy, *operation.statements[copy]});
}

void ProductRelay::visit_step(Operation const& operation, std::int64_t chunk, RelayStop const& stop,
                              Visit const& visit) const {
  auto const number = stop.lo == 0 ? first_terms : more_terms;
  Statement part = *operation.statements[number];
  cut_to(part, sizes_.terms, stop.lo, stop.hi);
  if (sizes_.chunked)
    cut_to(part, *sizes_.chunked, sizes_.chunked_extent * chunk / sizes_.chunks,
           sizes_.chunked_extent * (chunk + 1) / sizes_.chunks);
  part.work.map.axes[0].offset = stop.device;
  for (auto& operand : part.operands)
    if (number == more_terms && operand.array == part.target)
      operand.access.map.axes[0].offset = sizes_.stops.stop_of(stop.lo - 1).device;
  visit({number, static_cast<std::uint64_t>(chunk * sizes_.stops.terms() + stop.lo), part});
}

// The stops at which one of the devices adds terms, passes sums on, or owns terms that another
// device adds.
std::vector<RelayStop> ProductRelay::stops_of(DeviceSpan const& devices) const {
  if (!sizes_.cut_of_b) return all_stops();
  std::vector<RelayStop> stops;
  auto const add = [&](std::vector<RelayStop> const& more) {
    stops.insert(stops.end(), more.begin(), more.end());
  };
  if (sizes_.starts_with_target) add({sizes_.stops.first()});
  for (std::int64_t d = 0; d < devices.count; ++d)
    if (auto const place =
            number_along(sizes_.mesh, sizes_.axes, DeviceId{devices.first.value() + d})) {
      add(sizes_.stops.of_device(*place));
      add(sizes_.stops.of_device(*place, *sizes_.cut_of_b));
    }
  std::ranges::sort(stops, {}, &RelayStop::lo);
  auto const repeated = std::ranges::unique(stops);
  stops.erase(repeated.begin(), repeated.end());
  return stops;
}

std::vector<RelayStop> ProductRelay::all_stops() const {
  std::vector<RelayStop> stops;
  for (std::int64_t term = 0; term < sizes_.stops.terms(); term = stops.back().hi)
    stops.push_back(sizes_.stops.stop_of(term));
  return stops;
}

std::uint64_t ProductRelay::hash() const {
  auto hash = mix(hash_text("relay of a product"), sizes_.stops.hash());
  hash = with_number(hash, sizes_.chunks);
  return with_number(hash, sizes_.chunked ? static_cast<std::int64_t>(*sizes_.chunked) : -1);
}

std::int64_t ProductRelay::most_steps() const {
  auto const& stops = sizes_.stops;
  // If b's terms are cut differently, a device may own terms of any stop.
  bool const is_alike = sizes_.cut_of_b && stops.are_cut_as(*sizes_.cut_of_b);
  auto const of_device =
      is_alike ? stops.most_of_device() + (sizes_.starts_with_target ? 1 : 0) : stops.most();
  return sizes_.chunks * std::min(of_device, stops.most()) + 1;
}

std::string ProductRelay::words() const {
  return text("by sums that pass along ", join(sizes_.axes), " through ",
              counted(sizes_.stops.devices(), "device"), ", in ", counted(sizes_.chunks, "chunk"),
              ", and then copied");
}

void ProductParts::visit(Operation const& operation, DeviceSpan const& devices,
                         Visit const& visit) const {
  std::vector<std::int64_t> places;
  for (std::int64_t d = 0; d < devices.count; ++d)
    if (auto const place =
            number_along(sizes_.mesh, sizes_.axes, DeviceId{devices.first.value() + d}))
      places.push_back(*place);
  std::ranges::sort(places);
  auto const repeated = std::ranges::unique(places);
  places.erase(repeated.begin(), repeated.end());
  for (auto const place : places) visit_place(operation, place, visit);
}

void ProductParts::visit_place(Operation const& operation, std::int64_t place,
                               Visit const& visit) const {
  auto number = first_terms;
  auto const pieces = sizes_.cut.piece_count(sizes_.terms, sizes_.places());
  for (auto k = place; k < pieces; k += sizes_.places()) {
    auto const piece = sizes_.cut.piece(sizes_.terms, sizes_.places(), k);
    if (piece.size() == 0) continue;
    Statement part = *operation.statements[number];
    cut_to(part, sizes_.dimension, piece.lo, piece.hi);
    part.work.map.axes[0].offset = place;
    for (auto& operand : part.operands)
      if (operand.array == part.target) operand.access.map.axes[0].offset = place;
    visit({number, static_cast<std::uint64_t>(k), part});
    number = more_terms;
  }
}

std::uint64_t ProductParts::hash() const {
  auto const hash = mix(hash_text("parts of a product"), sizes_.cut.fingerprint());
  return with_number(hash, sizes_.terms);
}

std::int64_t ProductParts::most_steps() const {
  return ceil_div(sizes_.cut.piece_count(sizes_.terms, sizes_.places()), sizes_.places());
}

std::string ProductParts::words() const {
  return text("as partial sums of the terms of each place along ", join(sizes_.axes));
}

}  // namespace tessera
