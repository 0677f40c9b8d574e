#pragma once

#include <span>

#include "models/head_name.h"
#include "training/weights.h"
#include "training/without_options.h"

namespace ablate::training {

/// `weights`, those of a model with `options`, in which `heads` give nothing: the columns of the
/// output projection that read them are zero, and its bias stays. Tensors that change are copies.
/// REQUIRES: the model has these heads.
Weights without_heads(Weights weights, const models::TransformerOptions& options,
                      std::span<const models::HeadName> heads);

/// Those of a model in which these layers are missing: later ones move up. REQUIRES: the model has
/// these layers, and no layer stands in two places.
Weights without_layers(const Weights& weights, const models::TransformerOptions& options,
                       std::span<const models::LayerName> layers);

/// Both, with parts that parts.rules() accept.
Weights without(const Weights& weights, const models::TransformerOptions& options,
                const WithoutOptions& parts);

}  // namespace ablate::training
