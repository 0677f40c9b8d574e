#pragma once

#include "experiments/exchange/exchange.h"

namespace ablate::exchange {

struct HubExport {
  std::string architecture;        // "LlamaForCausalLM"
  double difference = 0;           // as of hub_difference()
  std::vector<std::string> notes;  // what the folder cannot say, one sentence each
};

/// Writes config.json, model.safetensors, the tokenizer's files and a model card (README.md) for
/// Hugging Face's Transformers, with weights in the request's type, and compares what Transformers
/// computes from them with the run's model. The folder appears complete or not at all. Throws
/// UsageError if no family computes the model (write_family()) or the folder exists, and
/// CheckpointError if the folder does not compute what the model does.
HubExport export_huggingface(const ExportRequest& request);

}  // namespace ablate::exchange
