#pragma once

#include "experiments/exchange/huggingface/family.h"

namespace ablate::exchange {

// Decoders of Transformers as models of ours. All throw CheckpointError as read_family() does.

HubModel read_gpt2(ConfigFields& config);
HubModel read_gpt_neox(ConfigFields& config);
HubModel read_opt(ConfigFields& config);

/// How Llama and its kin differ: in biases, norms, and what a missing field means.
struct LlamaKind {
  bool qkv_bias = false, qk_norm = false;
  bool names_attention_bias = false, names_mlp_bias = false;  // fields that the family has
  std::optional<int64_t> key_value_heads = {}, d_k = {};      // of files without the fields
  std::optional<int64_t> window = {};                         // the same of sliding_window
  bool windowed = true;  // without use_sliding_window, if sliding_window is given
};
inline constexpr LlamaKind kLlama{.names_attention_bias = true, .names_mlp_bias = true};
inline constexpr LlamaKind kMistral{.key_value_heads = 8, .window = 4096};
inline constexpr LlamaKind kQwen2{.qkv_bias = true, .key_value_heads = 32, .windowed = false};
inline constexpr LlamaKind kQwen3{.qk_norm = true,
                                  .names_attention_bias = true,
                                  .key_value_heads = 32,
                                  .d_k = 128,
                                  .windowed = false};
HubModel read_llama(ConfigFields& config, const LlamaKind& kind);

/// DeepSeek-V3 whose layers are all dense.
HubModel read_deepseek(ConfigFields& config);

/// Mamba-2 of one group, without biases.
HubModel read_mamba2(ConfigFields& config);

}  // namespace ablate::exchange
