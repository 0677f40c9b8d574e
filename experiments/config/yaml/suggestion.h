#pragma once

#include <string>
#include <string_view>
#include <vector>

namespace ablate::config {

/// The word of `known` with the smallest edit distance to `word` (insertions, deletions,
/// replacements and swaps); empty if all are too far from it.
std::string nearest(std::string_view word, const std::vector<std::string>& known);

/// "a", "a or b", "a, b or c".
std::string alternatives(const std::vector<std::string>& words);

/// "; did you mean 'x'?", or else "; choose a, b or c".
std::string did_you_mean(std::string_view word, const std::vector<std::string>& known);

/// Another toolkit's name for a key.
struct ForeignKey {
  std::string_view key;
  std::string_view ours;    // a dotted path
  std::string_view remark;  // difference in meaning; may be empty
};

inline constexpr ForeignKey kForeignKeys[] = {
    {"amp", "training.precision", ""},
    {"attn_logit_softcapping", "model.attention.softcap", ""},
    {"batch_size", "training.tokens_per_batch", "a batch is measured in target tokens"},
    {"beam_size", "decoding.beam", ""},
    {"bf16", "training.precision", "its value is bf16"},
    {"clip_grad_norm", "training.max_grad_norm", ""},
    {"embed_dim", "model.d_model", ""},
    {"epochs", "training.steps", "a run is measured in updates, or by training.budget"},
    {"eval_every", "training.evaluate_every", ""},
    {"ffn_dim", "model.feed_forward.d_hidden", ""},
    {"fp16", "training.precision", "its values are fp32, bf16 and tf32"},
    {"gradient_accumulation_steps", "training.accumulate", ""},
    {"hidden_size", "model.d_model", ""},
    {"intermediate_size", "model.feed_forward.d_hidden", ""},
    {"learning_rate", "training.schedule.peak", ""},
    {"lr", "training.schedule.peak", ""},
    {"max_epochs", "training.steps", "a run is measured in updates, or by training.budget"},
    {"max_steps", "training.steps", ""},
    {"mixed_precision", "training.precision", ""},
    {"n_embd", "model.d_model", ""},
    {"n_head", "model.attention.heads", ""},
    {"n_heads", "model.attention.heads", ""},
    {"n_layer", "model.layers", ""},
    {"n_layers", "model.layers", ""},
    {"num_attention_heads", "model.attention.heads", ""},
    {"num_epochs", "training.steps", "a run is measured in updates, or by training.budget"},
    {"num_experts_per_tok", "model.feed_forward.active", ""},
    {"num_heads", "model.attention.heads", ""},
    {"num_hidden_layers", "model.layers", ""},
    {"num_key_value_heads", "model.attention.key_value_heads", ""},
    {"num_layers", "model.layers", ""},
    {"num_local_experts", "model.feed_forward.experts", ""},
    {"sliding_window", "model.attention.window", ""},
    {"tie_word_embeddings", "model.tying", ""},
    {"vocab_size", "tokenizer.vocabulary", ""},
    {"warmup_steps", "training.schedule.warmup", ""},
};

/// Another toolkit's name for a value of the key at `path`.
struct ForeignValue {
  std::string_view path, value, ours;
};

inline constexpr ForeignValue kForeignValues[] = {
    {"training.device", "gpu", "cuda"},
    {"training.precision", "fp16", "bf16"},
    {"training.precision", "float16", "bf16"},
    {"training.precision", "half", "bf16"},
    {"training.precision", "bfloat16", "bf16"},
    {"training.precision", "float32", "fp32"},
    {"model.position.kind", "rope", "rotary"},
    {"model.position.kind", "absolute", "learned"},
    {"model.norm.kind", "layernorm", "layer"},
    {"model.norm.kind", "rmsnorm", "rms"},
    {"training.schedule.kind", "noam", "inverse_square_root"},
    {"training.schedule.kind", "wsd", "stable"},
    {"tokenizer.kind", "char", "character"},
    {"tokenizer.kind", "sentencepiece", "unigram"},
};

/// "; here it is training.schedule.peak" for a key of another toolkit; empty for all other keys.
std::string hint_for_foreign_key(std::string_view key);

/// "; write cuda" for a value of another toolkit at `path`; empty for all other values.
std::string hint_for_foreign_value(std::string_view path, std::string_view value);

}  // namespace ablate::config
