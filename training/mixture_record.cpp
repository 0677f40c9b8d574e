#include "training/mixture_record.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "models/mixture.h"

namespace ablate::training {
namespace {

/// A router whose gradient is rounding noise learns nothing.
constexpr double kNoGradient = 1e-7;

double number(const torch::Tensor& x) { return x.defined() ? x.item<double>() : 0.0; }

/// Norm of the gradients of a mixture's router; 0 where it has no parameters.
double router_gradient(const torch::nn::Module& mixture) {
  double square = 0;
  for (const auto& item : mixture.named_parameters())
    if (item.key().starts_with("router.") && item.value().grad().defined())
      square += std::pow(item.value().grad().norm().item<double>(), 2);
  return std::sqrt(square);
}

}  // namespace

double MixtureRecord::variation() const {
  const auto count = static_cast<double>(shares.size());
  double square = 0;
  for (const double share : shares) square += std::pow(share * count - 1, 2);
  return std::sqrt(square / count);
}

double MixtureRecord::highest() const {
  return *std::ranges::max_element(shares) * static_cast<double>(shares.size());
}

std::string MixtureRecord::fault() const {
  if (static_cast<int64_t>(shares.size()) <= active) return "";
  const auto used = std::ranges::count_if(
      shares, [&](double share) { return share * static_cast<double>(shares.size()) > 0.01; });
  if (used <= active)
    return fmt::format("{}: collapsed, {} of {} experts get every position; raise balance.load",
                       name, used, shares.size());
  // A router without scores (hash) has no load, and learns nothing by design.
  if (load > 0 && router_gradient < kNoGradient)
    return fmt::format("{}: the router gets no gradient; it will never learn", name);
  return "";
}

std::vector<MixtureRecord> mixture_records(const models::TransformerImpl& model,
                                           const std::vector<models::RoutingStatistics>& mixtures) {
  std::vector<MixtureRecord> records;
  for (const auto& item : model.named_modules()) {
    const auto mixture = std::dynamic_pointer_cast<models::Mixture>(item.value());
    if (mixture == nullptr) continue;
    const auto& routing = mixtures.at(records.size());
    MixtureRecord record{.name = item.key(),
                         .active = mixture->active(),
                         .shares = {},
                         .load = number(routing.load),
                         .z = number(routing.z),
                         .entropy = number(routing.entropy),
                         .dropped = number(routing.dropped),
                         .router_gradient = router_gradient(*mixture)};
    const auto counts = routing.counts.to(torch::kDouble).cpu();
    const auto shares = (counts / counts.sum().clamp_min(1)).contiguous();
    record.shares.assign(shares.const_data_ptr<double>(),
                         shares.const_data_ptr<double>() + shares.numel());
    records.push_back(std::move(record));
  }
  return records;
}

}  // namespace ablate::training
