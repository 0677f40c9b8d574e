#pragma once

#include <functional>
#include <optional>

#include "models/libtorch.h"
#include "models/named_tensors.h"
#include "models/noise.h"
#include "models/ops/elementwise.h"
#include "models/random.h"

namespace ablate::models {

// B batch, T positions, S keys, H heads, N positions of a batch, D model width, F hidden width

class ScoredMixer;

/// Gets intermediate tensors of a pass; an empty function costs no computation.
struct Observer {
  /// Gets the probabilities of every attention in the order of the layers, a layer's own before
  /// those over the encoder's output. // [B, H, T, S]
  std::function<void(const torch::Tensor&)> attention;
  /// Gets the outputs of the heads of every mixer that has heads, before their projection and in
  /// the order of attentions_of(), and returns their replacement. Decoding steps do not call it.
  /// // [B, T, H, W] -> [B, T, H, W]
  std::function<torch::Tensor(const torch::Tensor&)> heads;
  /// Gets the unpadded positions before every dense feed-forward, including a mixture's shared
  /// experts. // [N, D]
  std::function<void(const torch::Tensor&)> feed_forward_input;
  /// Gets the hidden layer of the same positions, as the second matrix reads it. // [N, F]
  std::function<void(const torch::Tensor&)> hidden_layer;
  /// Gets the hidden layers of a mixture's routed experts, a row for every choice of an unpadded
  /// position, before those of its shared experts. // [choices, F]
  std::function<void(const torch::Tensor&)> expert_hidden_layers;
  /// Gets the largest score that each head of a self-attention gives in the pass, before its bias.
  /// Decoding steps do not call it. // [H]
  std::function<void(ScoredMixer&, const torch::Tensor&)> largest_scores;
  /// Gets the residual stream after every layer, without the stack's final norm. // [B, T, D]
  std::function<void(const torch::Tensor&)> layer_output;
};

/// How one forward pass is computed. The default is evaluation, without randomness.
struct ForwardContext {
  bool training = false;  // batch statistics, dropout, router noise and random position ids
  double dropout = 0;     // share of elements dropped if `training`, unless a place has its own
  uint64_t seed = 0;      // of this pass: of run, step and part of the batch
  uint64_t round = 0;     // of a layer that runs several times
  std::optional<torch::ScalarType> compute_dtype =
      {};                              // of activations; nullopt: that of the weights
  const Observer* observer = nullptr;  // null: no observer
  int64_t ahead = 0;                   // further heads that run, of LmHead::ahead
  // Set by the model for each of its stacks:
  torch::Tensor padding_mask = {};  // true: keep; undefined: no padding // [B, T]
  torch::Tensor token_ids = {};     // [B, T]
  NamedTensors* shared = nullptr;   // by the layers of a stack, which hand it on to later ones

  /// Randomness at one site (Module::site).
  Noise noise_at(uint64_t site) const {
    const NoiseSite at{.site = site, .round = round};
    return {.seed = at.seed_of(seed), .at = at};
  }
  /// Of a place with a rate of its own; absent: `dropout`.
  ops::DropoutStream dropout_at(uint64_t site, std::optional<double> rate = {}) const {
    return {.rate = training ? rate.value_or(dropout) : 0.0, .noise = noise_at(site)};
  }
};

}  // namespace ablate::models
