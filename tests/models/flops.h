#pragma once

#include "models/transformer_flops.h"

namespace ablate::models {

/// Of a forward pass of a new model.
inline double forward_flops(const TransformerOptions& options, const Vocabulary& vocabulary,
                            const PassExtent& extent) {
  return PassFlops(*Transformer(options, vocabulary)).forward(extent);
}

}  // namespace ablate::models
