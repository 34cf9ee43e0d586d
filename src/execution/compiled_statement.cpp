#include "src/execution/compiled_statement.hpp"

#include <algorithm>
#include <cstdint>
#include <utility>

#include "src/base/text.hpp"
#include "src/execution/pair.hpp"

namespace tessera {
namespace {

std::vector<Message> without_channels(std::vector<MessagePlan>&& plans) {
  std::vector<Message> messages(plans.size());
  for (std::size_t m = 0; m < plans.size(); ++m)
    static_cast<MessagePlan&>(messages[m]) = std::move(plans[m]);
  return messages;
}

Exchange without_channels(ExchangeMessages&& plans) {
  return {without_channels(std::move(plans.sends)),
          without_channels(std::move(plans.receives)),
          nullptr,
          {}};
}

}  // namespace

CompiledStatement::CompiledStatement(LoweredStatement&& lowered)
    : StatementPlan(std::move(static_cast<StatementPlan&>(lowered))) {
  for (auto& device : lowered.devices)
    devices.push_back({std::move(static_cast<DeviceWork&>(device)),
                       without_channels(std::move(static_cast<ExchangeMessages&>(device))),
                       without_channels(std::move(device.forwarded)), nullptr, 0, nullptr});
  for (auto& device : devices) {
    if (std::ranges::any_of(device.parts, &Part::may_store_non_temporal))
      device.store_trials = std::make_unique<StoreTrials>();
    device.pair_bytes = pair_bytes_of(device);
    if (device.pair_bytes > 0) device.pair_trials = std::make_unique<PairTrials>();
  }
}

std::string explain_stores(CompiledStatement const& plan, KernelForms const& forms) {
  if (forms.non_temporal == nullptr) return {};
  std::int64_t trying = 0, past_caches = 0, devices = 0;
  for (auto const& device : plan.devices) {
    if (device.store_trials == nullptr) continue;
    ++devices;
    auto const* const trial = device.store_trials->find(forms.non_temporal);
    if (trial == nullptr || !trial->is_over())
      ++trying;
    else if (trial->is_non_temporal())
      ++past_caches;
  }
  if (devices == 0) return {};
  if (trying == devices) return ", with non-temporal stores where a trial finds them faster";
  return text(", with non-temporal stores on ", past_caches, " of ", counted(devices, "device"),
              " by trial", trying > 0 ? ", which goes on" : "");
}

std::string explain_pairs(CompiledStatement const& plan, KernelForms const& forms) {
  std::int64_t together = 0, devices = 0;
  for (auto const& device : plan.devices) {
    if (device.pair_trials == nullptr) continue;
    ++devices;
    if (device.pair_trials->is_faster_together(forms.unit_stride)) ++together;
  }
  if (together == 0) return {};
  return text(", in one pass with the next statement on ", together, " of ",
              counted(devices, "device"), " by trial");
}

}  // namespace tessera
