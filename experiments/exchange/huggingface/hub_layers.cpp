#include "experiments/exchange/huggingface/hub_layers.h"

#include <fmt/format.h>

#include <cmath>
#include <numbers>

namespace ablate::exchange {

using nlohmann::json;
using training::CheckpointError;

torch::Tensor HubTensors::operator()(const std::string& name) {
  const auto found = tensors_.find(name);
  if (found == tensors_.end())
    throw CheckpointError(fmt::format("Transformers looks for a tensor '{}'", name));
  used_.insert(name);
  return found->second.to(torch::kDouble);
}

torch::Tensor HubTensors::linear(const torch::Tensor& x, const std::string& name, bool has_bias) {
  const auto y = x.matmul((*this)(name + ".weight").t());
  return has_bias ? y + (*this)(name + ".bias") : y;
}

torch::Tensor HubTensors::transposed_linear(const torch::Tensor& x, const std::string& name) {
  return x.matmul((*this)(name + ".weight")) + (*this)(name + ".bias");
}

torch::Tensor HubTensors::layer_norm(const torch::Tensor& x, const std::string& name,
                                     double epsilon) {
  const auto centred = x - x.mean(-1, /*keepdim=*/true);
  const auto variance = centred.square().mean(-1, /*keepdim=*/true);
  return centred * (variance + epsilon).rsqrt() * (*this)(name + ".weight") +
         (*this)(name + ".bias");
}

torch::Tensor HubTensors::rms_norm(const torch::Tensor& x, const std::string& name,
                                   double epsilon) {
  return x * (x.square().mean(-1, /*keepdim=*/true) + epsilon).rsqrt() * (*this)(name + ".weight");
}

void HubTensors::require_all_used() const {
  for (const auto& [name, tensor] : tensors_)
    if (!used_.contains(name))
      throw CheckpointError(fmt::format("Transformers has no place for the tensor '{}'", name));
}

torch::Tensor hub_activation(const std::string& name, const torch::Tensor& x) {
  if (name == "relu") return x.relu();
  if (name == "relu2") return x.relu().square();
  if (name == "silu" || name == "swish") return x * x.sigmoid();
  if (name == "gelu") return x * (1 + (x / std::numbers::sqrt2).erf()) / 2;
  if (name == "gelu_new")
    return x / 2 * (1 + (std::sqrt(2 / std::numbers::pi) * (x + 0.044715 * x.pow(3))).tanh());
  throw CheckpointError(fmt::format("config.json names an activation '{}'", name));
}

torch::Tensor heads_of(const torch::Tensor& x, int64_t heads) {
  return x.unflatten(-1, {heads, -1}).transpose(1, 2);
}

torch::Tensor visible_keys(const torch::Tensor& mask, bool causal) {
  const auto keys = mask.to(torch::kBool).unsqueeze(1).unsqueeze(1);
  if (!causal) return keys;
  const int64_t length = mask.size(1);
  return keys.logical_and(torch::ones({length, length}, torch::kBool).tril());
}

torch::Tensor HubAttention::operator()() const {
  const auto of_every_head = [&](const torch::Tensor& x) {
    return x.repeat_interleave(query.size(1) / x.size(1), 1);
  };
  auto scores = query.matmul(of_every_head(key).transpose(-1, -2));
  if (scaled) scores = scores * (1 / std::sqrt(static_cast<double>(query.size(-1))));
  if (bias.defined()) scores = scores + bias;
  const auto weights =
      scores.masked_fill(visible.logical_not(), -std::numeric_limits<double>::infinity())
          .softmax(-1);
  return weights.matmul(of_every_head(value)).transpose(1, 2).flatten(2);
}

namespace {

/// Of yarn: slow channels are interpolated, fast ones are not, with a ramp between.
torch::Tensor yarn_rates(const torch::Tensor& rates, const json& rope, double width) {
  const double base = rope.at("rope_theta"), length = rope.at("original_max_position_embeddings");
  const auto channel = [&](double turns) {
    return width * std::log(length / (turns * 2 * std::numbers::pi)) / (2 * std::log(base));
  };
  const double low = std::max(0.0, std::floor(channel(rope.value("beta_fast", 32.0))));
  const double high = std::min(width - 1, std::ceil(channel(rope.value("beta_slow", 1.0))));
  const auto ramp =
      ((torch::arange(rates.size(0), torch::kDouble) - low) / (low == high ? 0.001 : high - low))
          .clamp(0, 1);
  return rates * (1 - ramp) + rates / rope.at("factor").get<double>() * ramp;
}

torch::Tensor llama3_rates(const torch::Tensor& rates, const json& rope) {
  const double length = rope.at("original_max_position_embeddings"), factor = rope.at("factor");
  const double low = rope.at("low_freq_factor"), high = rope.at("high_freq_factor");
  const auto turns = rates * length / (2 * std::numbers::pi);
  const auto smooth = (turns - low) / (high - low);
  const auto between = (1 - smooth) * rates / factor + smooth * rates;
  return torch::where(turns.lt(low), rates / factor, torch::where(turns.gt(high), rates, between));
}

}  // namespace

HubRotary::HubRotary(const json& config, int64_t width, double share) {
  const auto& rope = config.at("rope_parameters");
  const std::string type = rope.at("rope_type");
  const auto turned =
      static_cast<int64_t>(static_cast<double>(width) * rope.value("partial_rotary_factor", share));
  const auto exponents = torch::arange(0, turned, 2, torch::kDouble) / turned;
  rates_ = torch::pow(rope.at("rope_theta").get<double>(), -exponents);
  if (type == "linear") rates_ = rates_ / rope.at("factor").get<double>();
  if (type == "llama3") rates_ = llama3_rates(rates_, rope);
  if (type == "yarn") {
    rates_ = yarn_rates(rates_, rope, static_cast<double>(turned));
    factor_ = 1 + 0.1 * std::log(rope.at("factor").get<double>());
  }
}

torch::Tensor HubRotary::operator()(const torch::Tensor& x, bool neighbours) const {
  const int64_t half = rates_.size(0);
  const auto angle = torch::arange(x.size(2), torch::kDouble).unsqueeze(1) * rates_;  // [T, K / 2]
  const auto cosine = angle.cos() * factor_, sine = angle.sin() * factor_;
  const auto turned = x.slice(-1, 0, 2 * half);
  const auto first = neighbours ? turned.slice(-1, 0, {}, 2) : turned.slice(-1, 0, half);
  const auto second = neighbours ? turned.slice(-1, 1, {}, 2) : turned.slice(-1, half);
  return torch::cat(
      {first * cosine - second * sine, second * cosine + first * sine, x.slice(-1, 2 * half)}, -1);
}

torch::Tensor t5_bias(const json& config, const torch::Tensor& table, int64_t length, bool causal) {
  int64_t buckets = config.at("relative_attention_num_buckets");
  const double farthest = config.value("relative_attention_max_distance", 128);
  const auto place = torch::arange(length);
  const auto distance = place.unsqueeze(0) - place.unsqueeze(1);  // of the key, from the query
  auto bucket = torch::zeros_like(distance);
  if (!causal) {
    buckets /= 2;
    bucket = distance.gt(0).to(torch::kLong) * buckets;
  }
  const auto far = causal ? -distance.clamp_max(0) : distance.abs();
  const int64_t exact = buckets / 2;
  const auto by_logarithm =
      exact + ((far.to(torch::kFloat) / exact).log() /
               std::log(farthest / static_cast<double>(exact)) * (buckets - exact))
                  .to(torch::kLong);
  bucket = bucket + torch::where(far.lt(exact), far, by_logarithm.clamp_max(buckets - 1));
  return table.index_select(0, bucket.flatten())
      .view({length, length, -1})
      .permute({2, 0, 1})
      .unsqueeze(0);
}

}  // namespace ablate::exchange
