#pragma once

#include "experiments/exchange/huggingface/family.h"

namespace ablate::exchange {

// Decoders of Transformers as models of ours. All throw CheckpointError as read_family() does.

HubModel read_gpt2(ConfigFields& config);
HubModel read_gpt_neox(ConfigFields& config);
HubModel read_opt(ConfigFields& config);

/// Llama and those that differ from it in a bias or a norm: Mistral, Qwen 2 and Qwen 3.
HubModel read_llama(ConfigFields& config, bool qkv_bias, bool qk_norm);

/// DeepSeek-V3 whose layers are all dense.
HubModel read_deepseek(ConfigFields& config);

/// Mamba-2 of one group, without biases.
HubModel read_mamba2(ConfigFields& config);

}  // namespace ablate::exchange
