#pragma once

#include <nlohmann/json.hpp>
#include <set>
#include <string>

#include "training/checkpoint/safetensors.h"

namespace ablate::exchange {

// B batch, S source length, T target length, D model width, H heads, K width of a head

/// The tensors of a model of Transformers by their names, in float64.
class HubTensors {
 public:
  explicit HubTensors(const training::Tensors& tensors) : tensors_(tensors) {}

  /// Throws CheckpointError if there is none of this name.
  torch::Tensor operator()(const std::string& name);
  /// x W^T + b of the tensors `name`.weight and, if it `has_bias`, `name`.bias.
  torch::Tensor linear(const torch::Tensor& x, const std::string& name, bool has_bias);
  /// x W + b, Transformers' Conv1D.
  torch::Tensor transposed_linear(const torch::Tensor& x, const std::string& name);
  torch::Tensor layer_norm(const torch::Tensor& x, const std::string& name, double epsilon);
  torch::Tensor rms_norm(const torch::Tensor& x, const std::string& name, double epsilon);
  /// Throws CheckpointError if a tensor was never asked for.
  void require_all_used() const;

 private:
  const training::Tensors& tensors_;
  std::set<std::string> used_;
};

/// The function that a configuration names. Throws CheckpointError for another.
torch::Tensor hub_activation(const std::string& name, const torch::Tensor& x);

/// [B, T, H K] -> [B, H, T, K]
torch::Tensor heads_of(const torch::Tensor& x, int64_t heads);

/// Which keys a query sees: those that the mask shows, and if it is causal, none behind itself.
/// // [B, S] -> [B, 1, 1 or S, S]
torch::Tensor visible_keys(const torch::Tensor& mask, bool causal);

/// softmax(q k^T + bias) v over the visible keys, which groups of queries share.
struct HubAttention {
  torch::Tensor query, key, value;  // [B, H, T, K], [B, G, S, K], [B, G, S, W]
  torch::Tensor visible;            // [B, 1, 1 or T, S]
  bool scaled = true;               // products are divided by sqrt(K)
  torch::Tensor bias = {};          // undefined: none // [1, H, T, S]

  torch::Tensor operator()() const;  // [B, T, H W]
};

/// Rotary positions as rope_parameters says, of heads with `width` channels, of which the first
/// ones turn.
class HubRotary {
 public:
  /// `share`: of the channels that turn, if the configuration does not say it.
  HubRotary(const nlohmann::json& config, int64_t width, double share = 1);

  /// Halves of the channels are a pair, or neighbours are. // [B, H, T, K]
  torch::Tensor operator()(const torch::Tensor& x, bool neighbours = false) const;

 private:
  torch::Tensor rates_;  // [K / 2]
  double factor_ = 1;
};

/// T5's bias by distance, from a table of one vector for each bucket. // -> [1, H, T, T]
torch::Tensor t5_bias(const nlohmann::json& config, const torch::Tensor& table, int64_t length,
                      bool causal);

}  // namespace ablate::exchange
