#pragma once

#include "experiments/exchange/exchange.h"

namespace ablate::exchange {

/// The largest difference of logits between a run's model and the folder read again.
struct HubAgreement {
  std::string architecture;  // "LlamaForCausalLM"
  double logits = 0;         // in units of the largest logit, at least 1
};

/// Writes config.json, model.safetensors, the tokenizer's files and a model card (README.md) for
/// Hugging Face's Transformers, reads them again and compares. The folder appears complete or not
/// at all. Throws UsageError if no family computes the model (write_family()) or the folder exists,
/// and CheckpointError if the model that was read again differs.
HubAgreement export_huggingface(const ExportRequest& request);

}  // namespace ablate::exchange
