#pragma once

#include <torch/csrc/jit/api/module.h>

#include "models/inference/search_options.h"
#include "models/transformer.h"

namespace ablate::models {

// B batch, S source length, T target length, V vocabulary

/// The model as a TorchScript module whose methods are traces of its own forward pass, with loops
/// written in TorchScript around them; parameters keep their names and sharing. It runs in any
/// batch and length, on the device that it is moved to, and needs only LibTorch.
///
/// Every family: forward(source[, target]) -> logits [B, T, V]; with an encoder: encode(source) ->
/// [B, S, D]. Families that write: begin(source) -> (logits [B, V], state), step(last [B], state)
/// -> (logits, state), every tensor of the state having B rows; greedy, beam and sample, which
/// return ids [B, T] (without start and end token, padded) and scores [B], with the defaults of
/// SearchOptions. Rows of a decoder-only model's source have no padding. No output has an
/// `unwritten` token.
torch::jit::Module to_torchscript(Transformer& model, const SpecialTokens& tokens,
                                  const std::vector<int64_t>& unwritten = {});

/// Most tokens of a target, or of a source, that have positions; a large number if all lengths
/// have.
int64_t longest_length(const TransformerImpl& model);

/// Weights of such a module by the model's names, shared ones once.
std::map<std::string, torch::Tensor> weights_of(const torch::jit::Module& module);

}  // namespace ablate::models
