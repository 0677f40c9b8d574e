#pragma once

#include <vector>

#include "experiments/exchange/format/name_map.h"
#include "experiments/exchange/huggingface/write_family.h"
#include "models/options/transformer_options.h"
#include "training/weights.h"

namespace ablate::exchange {

/// Foreign tensors made of ours, as Assembly makes ours of them: the vocabulary stays in our order,
/// rows that are skipped and added are zeros. REQUIRES: a map with a line for every weight.
training::Tensors disassembled(const training::Weights& weights, const Origins& origins,
                               const models::TransformerOptions& options);

/// The same weights of a model whose residual stream has its even channels before its odd ones, so
/// that sines and cosines that alternate become halves. Outputs stay as they are, since nothing
/// else depends on the order of channels.
training::Weights with_separate_sines(const training::Weights& weights);

/// The tensors of the model's files in the order of their vocabulary, whose tokens are ours in
/// `order`.
training::Tensors hub_tensors(training::Weights weights, models::TransformerOptions options,
                              const WrittenFamily& form, const std::vector<int32_t>& order);

}  // namespace ablate::exchange
