#pragma once

#include <functional>
#include <optional>

#include "models/libtorch.h"
#include "models/ops/dropout.h"
#include "models/random.h"

namespace ablate::models {

// B batch, T positions, S keys, H heads, N positions of a batch, D model width, F hidden width

/// Sees what a pass computes on the way; nothing is computed for a function that is empty.
struct Observer {
  /// Gets the probabilities of every attention in the order of the layers, a layer's own before
  /// those over the encoder's output. // [B, H, T, S]
  std::function<void(const torch::Tensor&)> attention;
  /// Gets what the heads of every mixer that has some give, before they are projected, in the order
  /// of attentions_of(), and gives what goes on in its place. Steps of a search leave it out.
  /// // [B, T, H, W] -> [B, T, H, W]
  std::function<torch::Tensor(const torch::Tensor&)> heads;
  /// Gets the unpadded positions before every dense feed-forward, a mixture's shared experts among
  /// them. // [N, D]
  std::function<void(const torch::Tensor&)> feed_forward_input;
  /// Gets the hidden layer of the same positions, as the second matrix reads it. // [N, F]
  std::function<void(const torch::Tensor&)> hidden_layer;
  /// Gets the hidden layers of a mixture's routed experts, a row for every choice of an unpadded
  /// position, before those of its shared experts. // [choices, F]
  std::function<void(const torch::Tensor&)> expert_hidden_layers;
  /// Gets the residual stream behind every layer, without the stack's final norm. // [B, T, D]
  std::function<void(const torch::Tensor&)> layer_output;
};

/// How one forward pass is computed. The default evaluates: nothing is random.
struct ForwardContext {
  bool training = false;  // batch statistics, dropout, router noise and random position ids
  double dropout = 0;     // share of the elements that is dropped where `training`
  uint64_t seed = 0;      // of this pass: of run, step and part of the batch
  std::optional<torch::ScalarType> compute_dtype = {};  // of activations; none: the weights' own
  const Observer* observer = nullptr;                   // null: nobody looks
  // What the model adds for each of its stacks:
  torch::Tensor padding_mask = {};  // true: keep; undefined: nothing is padded // [B, T]
  torch::Tensor token_ids = {};     // [B, T]

  /// The seed of what is random at one site (Module::site).
  uint64_t seed_at(uint64_t site) const { return mix(seed ^ site); }
  ops::DropoutStream dropout_at(uint64_t site) const {
    return {.rate = training ? dropout : 0.0, .seed = seed_at(site)};
  }
};

}  // namespace ablate::models
