#pragma once

#include <vector>

#include "experiments/exchange/format/name_map.h"
#include "experiments/exchange/huggingface/write_family.h"
#include "models/options/transformer_options.h"
#include "training/weights.h"

namespace ablate::exchange {

/// The tensors of the model's files in the order of their vocabulary, whose tokens are ours in
/// `order`.
training::Tensors hub_tensors(training::Weights weights, models::TransformerOptions options,
                              const WrittenFamily& form, const std::vector<int32_t>& order);

}  // namespace ablate::exchange
