#pragma once

#include <nlohmann/json.hpp>

#include "training/checkpoint/safetensors.h"

namespace ablate::exchange {

// B batch, S source length, T target length, V vocabulary

/// What a model of Transformers reads, in the ids of its files.
struct HubInput {
  torch::Tensor ids;          // input_ids // [B, S]
  torch::Tensor mask;         // attention_mask: true where a token is // [B, S]
  torch::Tensor target = {};  // decoder_input_ids; undefined of a model with one stack // [B, T]
  int64_t last = 0;           // positions whose logits are wanted; 0: all
};

/// The logits that Transformers 5.24 computes from a configuration and tensors with these names, in
/// float64, for every family that write_family() writes. It is written from Transformers' code and
/// uses no model, map or reader of ours, so that a folder can be checked by it. Throws
/// CheckpointError if a field or a tensor is missing, does not fit, or is left over.
/// // -> [B, T or S or `last`, V]
torch::Tensor hub_logits(const nlohmann::json& config, const training::Tensors& tensors,
                         const HubInput& input);

}  // namespace ablate::exchange
