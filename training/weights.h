#pragma once

#include <optional>
#include <span>
#include <string>
#include <string_view>

#include "models/head_name.h"
#include "training/checkpoint/safetensors.h"
#include "training/init_from_options.h"
#include "training/lora_options.h"

namespace ablate::training {

/// Parameters and buffers by name.
using Weights = Tensors;

/// The model's weights themselves, not copies.
Weights weights_of(const torch::nn::Module& model);

/// Copies each tensor of a checkpoint into the one of the same name. Throws c10::Error naming the
/// first one that is missing, surplus or of another shape; `kind` names them in messages: "weight".
void load_tensors(const Tensors& own, const Tensors& saved, std::string_view kind);

/// Copies `weights` into the model, as load_tensors does.
void load_weights(const torch::nn::Module& model, const Weights& weights);

/// While one exists, the model computes with other weights.
class BorrowedWeights {
 public:
  /// `weights` have merged adapters, and those of the model add nothing meanwhile. If they are
  /// empty, the model keeps its own. Throws as load_tensors does.
  BorrowedWeights(const torch::nn::Module& model, Weights weights);
  ~BorrowedWeights();
  BorrowedWeights(const BorrowedWeights&) = delete;
  BorrowedWeights& operator=(const BorrowedWeights&) = delete;

 private:
  Weights places_, own_;
};

/// The problem with the first tensor that holds a number that is not finite, as "the weight 'w'
/// holds 2 numbers of 10 that are not finite"; nullopt if all numbers are finite.
std::optional<std::string> not_finite(const Weights& weights);

/// Throws CheckpointError, naming `source`, if a number is not finite.
void require_finite(const Weights& weights, const std::string& source);

/// The mean of several models' weights, summed in double. REQUIRES: at least one.
Weights average(std::span<const Weights> models);

/// The weights of a model with `options` in which the outputs of `heads` are dropped: the columns
/// of the output projection that read them become zero, and its bias stays. Tensors that change are
/// copies. REQUIRES: the model has these heads.
Weights drop_heads(Weights weights, const models::TransformerOptions& options,
                   std::span<const models::HeadName> heads);

/// The weights of a model without these layers: later ones move up. REQUIRES: the model has these
/// layers, and no layer is shared.
Weights drop_layers(const Weights& weights, const models::TransformerOptions& options,
                    std::span<const models::LayerName> layers);

/// Drops heads and layers. REQUIRES: `parts` passes its rules().
Weights drop_parts(const Weights& weights, const models::TransformerOptions& options,
                   const DropOptions& parts);

/// Exponential moving average of a model's weights (Polyak & Juditsky 1992, with a decay):
/// ema = decay ema + (1 - decay) weights. Integer tensors are copied. It is of weights with merged
/// adapters, as every average.
class Ema {
 public:
  /// Starts from the model's current weights.
  Ema(const torch::nn::Module& model, double decay, LoraOptions lora = {});

  /// Updates the average with the model's current weights.
  void update();
  /// The averages by name; load_weights into a model, or save_to a checkpoint.
  const Weights& weights() const { return averages_; }
  /// Adds the averages to the tensors of a checkpoint's optimizer.
  void save_to(Tensors& optimizer) const;
  /// Copies saved averages in, as load_tensors does.
  void load(const Weights& saved);

 private:
  Weights followed_;  // the model's own
  LoraOptions lora_;
  Weights averages_;
  double decay_;
};

/// Moves the averages out of a checkpoint's optimizer tensors. Empty if there are none.
Weights extract_ema(Tensors& optimizer);

}  // namespace ablate::training
