#include "experiments/config/schema/foreign_word.h"

#include <fmt/format.h>

#include <algorithm>

#include "experiments/config/yaml/suggestion.h"

namespace ablate::config {
namespace {

constexpr std::string_view kTokens = "a batch is measured in target tokens";
constexpr std::string_view kUpdates = "a run is measured in updates, or by training.budget";
constexpr std::string_view kFixedIds = "padding is 0, <s> 1, </s> 2 and <unk> 3 here";

/// Of Hugging Face Transformers, nanoGPT, fairseq, JoeyNMT, x-transformers and PyTorch, by what
/// they are about.
constexpr ForeignWord kForeignWords[] = {
    // Sizes of the model.
    {"hidden_size", "model.d_model", "", ""},
    {"n_embd", "model.d_model", "", ""},
    {"embed_dim", "model.d_model", "", ""},
    {"emb_dim", "model.d_model", "", ""},
    {"dim", "model.d_model", "", ""},
    {"hidden_dim", "model.d_model", "", ""},
    {"embed_size", "model.d_model", "", ""},
    {"n_layer", "model.layers", "", ""},
    {"n_layers", "model.layers", "", ""},
    {"num_layers", "model.layers", "", ""},
    {"num_hidden_layers", "model.layers", "", ""},
    {"num_encoder_layers", "model.encoder_layers", "", ""},
    {"num_decoder_layers", "model.decoder_layers", "", ""},
    {"n_head", "model.attention.heads", "", ""},
    {"n_heads", "model.attention.heads", "", ""},
    {"nhead", "model.attention.heads", "", ""},
    {"num_heads", "model.attention.heads", "", ""},
    {"num_attention_heads", "model.attention.heads", "", ""},
    {"encoder_attention_heads", "model.encoder.attention.heads", "", ""},
    {"decoder_attention_heads", "model.decoder.attention.heads", "", ""},
    {"num_key_value_heads", "model.attention.key_value_heads", "", ""},
    {"kv_heads", "model.attention.key_value_heads", "", ""},
    {"n_kv_head", "model.attention.key_value_heads", "", ""},
    {"head_dim", "model.attention.d_k", "", "and model.attention.d_v"},
    {"d_kv", "model.attention.d_k", "", "and model.attention.d_v"},
    {"intermediate_size", "model.feed_forward.d_hidden", "", ""},
    {"ffn_dim", "model.feed_forward.d_hidden", "", ""},
    {"ff_size", "model.feed_forward.d_hidden", "", ""},
    {"d_ff", "model.feed_forward.d_hidden", "", ""},
    {"moe_intermediate_size", "model.feed_forward.d_hidden", "", "for kind moe"},
    {"n_inner", "model.feed_forward.d_hidden", "", ""},
    {"dim_feedforward", "model.feed_forward.d_hidden", "", ""},
    {"encoder_ffn_dim", "model.encoder.feed_forward.d_hidden", "", ""},
    {"decoder_ffn_dim", "model.decoder.feed_forward.d_hidden", "", ""},
    {"vocab_size", "tokenizer.vocabulary", "", ""},
    {"max_position_embeddings", "model.position.max_length", "", "for learned positions only"},
    {"n_positions", "model.position.max_length", "", "for learned positions only"},
    {"block_size", "data.block", "", ""},
    {"n_ctx", "data.block", "", ""},
    // Parts of the model.
    {"gpt", "model.family", "decoder_only", ""},
    {"causal_lm", "model.family", "decoder_only", ""},
    {"bert", "model.family", "encoder_only", ""},
    {"masked_lm", "model.family", "encoder_only", ""},
    {"seq2seq", "model.family", "encoder_decoder", ""},
    {"rope", "model.position.kind", "rotary", ""},
    {"rotary_pos_emb", "model.position.kind", "rotary", ""},
    {"alibi", "model.position.kind", "alibi", ""},
    {"absolute", "model.position.kind", "learned", ""},
    {"sinusoid", "model.position.kind", "sinusoidal", ""},
    {"relative", "model.position.kind", "shaw", ""},
    {"rel_pos_bias", "model.position.kind", "t5", ""},
    {"nope", "model.position.kind", "none", ""},
    {"position_embedding_type", "model.position.kind", "", ""},
    {"rope_theta", "model.position.base", "", "for rotary positions"},
    {"rope_scaling", "model.position.scaling", "", "for rotary positions"},
    {"global_rope_theta", "model.position.base", "", "in an element of model.changes"},
    {"local_rope_theta", "model.position.base", "", "for rotary positions"},
    {"static_position_embeddings", "model.position.kind", "sinusoidal", ""},
    {"partial_rotary_factor", "model.position.fraction", "", "for rotary positions"},
    {"relative_attention_num_buckets", "model.position.buckets", "", "for t5 positions"},
    {"relative_attention_max_distance", "model.position.max_distance", "", "for t5 positions"},
    {"layernorm", "model.norm.kind", "layer", ""},
    {"layer_norm", "model.norm.kind", "layer", ""},
    {"rmsnorm", "model.norm.kind", "rms", ""},
    {"rms_norm", "model.norm.kind", "rms", ""},
    {"batchnorm", "model.norm.kind", "batch", ""},
    {"dyt", "model.norm.kind", "tanh", ""},
    {"prenorm", "model.norm.placement", "pre", ""},
    {"pre_norm", "model.norm.placement", "pre", ""},
    {"norm_first", "model.norm.placement", "pre", ""},
    {"normalize_before", "model.norm.placement", "pre", ""},
    {"encoder_normalize_before", "model.encoder.norm.placement", "pre", ""},
    {"decoder_normalize_before", "model.decoder.norm.placement", "pre", ""},
    {"postnorm", "model.norm.placement", "post", ""},
    {"post_norm", "model.norm.placement", "post", ""},
    {"layer_norm_eps", "model.norm.epsilon", "", ""},
    {"layer_norm_epsilon", "model.norm.epsilon", "", ""},
    {"norm_eps", "model.norm.epsilon", "", ""},
    {"rms_norm_eps", "model.norm.epsilon", "", ""},
    {"gqa", "model.attention.key_value_heads", "2", "or another divisor of heads"},
    {"mqa", "model.attention.key_value_heads", "1", ""},
    {"mha", "model.attention.kind", "multi_head", ""},
    {"multihead", "model.attention.kind", "multi_head", ""},
    {"softmax", "model.attention.kind", "multi_head", ""},
    {"deltanet", "model.attention.kind", "delta", ""},
    {"gated_deltanet", "model.attention", "{kind: delta, decay: gated}", ""},
    {"kda", "model.attention", "{kind: delta, decay: channels}", ""},
    {"gla", "model.attention", "{kind: linear, decay: channels}", ""},
    {"retnet", "model.attention", "{kind: linear, decay: fixed}", ""},
    {"canon_set", "model.canon.places", "[a, b, c, d]", ""},
    {"sliding_window", "model.attention.window", "", ""},
    {"local_attention", "model.attention.window", "", "a window counts one side, itself included"},
    {"swa", "model.attention.window", "", ""},
    {"global_attn_every_n_layers", "model.changes", "", "window: null in an element with every"},
    {"qk_layernorm", "model.attention.qk_norm", "layer", ""},
    {"attn_qk_norm", "model.attention.qk_norm", "rms", ""},
    {"attn_logit_softcapping", "model.attention.softcap", "", ""},
    {"final_logit_softcapping", "model.output.softcap", "", ""},
    {"logit_softcap", "model.output.softcap", "", ""},
    {"activation_function", "model.feed_forward.activation", "", ""},
    {"hidden_act", "model.feed_forward.activation", "", ""},
    {"hidden_activation", "model.feed_forward.activation", "", ""},
    {"dense_act_fn", "model.feed_forward.activation", "", ""},
    {"feed_forward_proj", "model.feed_forward.activation", "", "and model.feed_forward.gated"},
    {"is_gated_act", "model.feed_forward.gated", "", ""},
    {"swiglu", "model.feed_forward", "{activation: silu, gated: true}", ""},
    {"geglu", "model.feed_forward", "{activation: gelu, gated: true}", ""},
    {"reglu", "model.feed_forward", "{activation: relu, gated: true}", ""},
    {"glu", "model.feed_forward", "{activation: sigmoid, gated: true}", ""},
    {"swish", "model.feed_forward.activation", "silu", ""},
    {"gelu_new", "model.feed_forward.activation", "gelu_tanh", ""},
    {"relu_squared", "model.feed_forward.activation", "relu2", ""},
    {"num_local_experts", "model.feed_forward.experts", "", "for kind moe"},
    {"num_experts", "model.feed_forward.experts", "", "for kind moe"},
    {"num_experts_per_tok", "model.feed_forward.active", "", "for kind moe"},
    {"top_k", "model.feed_forward.active", "", "for kind moe"},
    {"router_aux_loss_coef", "model.feed_forward.balance.load", "", "for kind moe"},
    {"use_parallel_residual", "model.block", "parallel_norms", "parallel has one norm for all"},
    {"layerscale", "model.residual", "{per: channel, start: 0.1}", ""},
    {"rezero", "model.residual", "{per: layer, start: 0}", ""},
    {"drop_path", "model.residual.drop", "", ""},
    {"deepnorm", "model.residual.depth", "deepnorm", "with model.initialization.depth: deepnorm"},
    {"resid_pdrop", "model.dropout", "", ""},
    {"embd_pdrop", "model.embedding_dropout", "", ""},
    {"dropout_rate", "model.dropout", "", "and the dropout of model.attention and of feed_forward"},
    {"activation_dropout", "model.feed_forward.dropout", "", ""},
    {"relu_dropout", "model.feed_forward.dropout", "", ""},
    {"mlp_dropout", "model.feed_forward.dropout", "", ""},
    {"classifier_dropout", "model.output.dropout", "", "for kind label"},
    {"encoder_layerdrop", "model.residual.drop", "", "by sequence, and less in earlier layers"},
    {"decoder_layerdrop", "model.residual.drop", "", "by sequence, and less in earlier layers"},
    {"hidden_dropout_prob", "model.dropout", "", ""},
    {"attn_pdrop", "model.attention.dropout", "", ""},
    {"attn_dropout", "model.attention.dropout", "", ""},
    {"attention_dropout", "model.attention.dropout", "", ""},
    {"attention_probs_dropout_prob", "model.attention.dropout", "", ""},
    {"attention_bias", "model.attention.qkv_bias", "", "and model.attention.output_bias"},
    {"mlp_bias", "model.feed_forward.bias", "", ""},
    {"norm_bias", "model.norm.bias", "", ""},
    {"decoder_bias", "model.output.bias", "", ""},
    {"type_vocab_size", "model.token_types", "", ""},
    {"scale_attn_weights", "model.attention.scale", "", ""},
    {"scale_embedding", "model.embedding_scale", "", ""},
    {"tie_word_embeddings", "model.tying", "", ""},
    {"tied_softmax", "model.tying", "target", ""},
    {"share_all_embeddings", "model.tying", "three_way", ""},
    {"share_encoder_decoder_embeddings", "model.tying", "embeddings", ""},
    {"initializer_range", "model.initialization.deviation", "", "for kind normal"},
    {"init_std", "model.initialization.deviation", "", "for kind normal"},
    {"initializer_cutoff_factor", "model.initialization.cutoff", "", "for kind normal"},
    {"initializer_factor", "model.initialization.factor", "", "for kind t5"},
    {"classifier_pooling", "model.output.pool", "", "for kind label"},
    // Training.
    {"lr", "training.schedule.peak", "", ""},
    {"learning_rate", "training.schedule.peak", "", ""},
    {"max_lr", "training.schedule.peak", "", ""},
    {"min_lr", "training.schedule.floor", "", ""},
    {"lr_scheduler", "training.schedule", "", ""},
    {"lr_scheduler_type", "training.schedule.kind", "", ""},
    {"scheduler", "training.schedule", "", ""},
    {"noam", "training.schedule.kind", "inverse_square_root", ""},
    {"inverse_sqrt", "training.schedule.kind", "inverse_square_root", ""},
    {"wsd", "training.schedule.kind", "stable", ""},
    {"warmup_steps", "training.schedule.warmup", "", ""},
    {"warmup_iters", "training.schedule.warmup", "", ""},
    {"warmup_updates", "training.schedule.warmup", "", ""},
    {"warmup_ratio", "training.schedule.warmup", "", "in steps"},
    {"max_steps", "training.steps", "", ""},
    {"max_iters", "training.steps", "", ""},
    {"train_steps", "training.steps", "", ""},
    {"lr_decay_iters", "training.steps", "", "a schedule ends with the run"},
    {"max_update", "training.steps", "", ""},
    {"epochs", "training.steps", "", kUpdates},
    {"max_epochs", "training.steps", "", kUpdates},
    {"num_epochs", "training.steps", "", kUpdates},
    {"num_train_epochs", "training.steps", "", kUpdates},
    {"batch_size", "training.tokens_per_batch", "", kTokens},
    {"per_device_train_batch_size", "training.tokens_per_batch", "", kTokens},
    {"max_tokens", "training.tokens_per_batch", "", kTokens},
    {"gradient_accumulation_steps", "training.accumulate", "", ""},
    {"update_freq", "training.accumulate", "", ""},
    {"batch_multiplier", "training.accumulate", "", ""},
    {"optim", "training.optimizer.kind", "", ""},
    {"adam_w", "training.optimizer.kind", "adamw", ""},
    {"adamw_torch", "training.optimizer.kind", "adamw", ""},
    {"adam_beta1", "training.optimizer.beta1", "", ""},
    {"adam_beta2", "training.optimizer.beta2", "", ""},
    {"adam_betas", "training.optimizer.beta1", "", "and training.optimizer.beta2"},
    {"betas", "training.optimizer.beta1", "", "and training.optimizer.beta2"},
    {"adam_epsilon", "training.optimizer.epsilon", "", ""},
    {"eps", "training.optimizer.epsilon", "", ""},
    {"wd", "training.optimizer.weight_decay", "", ""},
    {"grad_clip", "training.max_grad_norm", "", ""},
    {"clip_norm", "training.max_grad_norm", "", ""},
    {"clip_grad_norm", "training.max_grad_norm", "", ""},
    {"gradient_clip", "training.max_grad_norm", "", ""},
    {"gradient_clip_val", "training.max_grad_norm", "", ""},
    {"label_smoothing_factor", "training.label_smoothing", "", ""},
    {"fp16", "training.precision", "bf16", "its values are fp32, bf16 and tf32"},
    {"float16", "training.precision", "bf16", "its values are fp32, bf16 and tf32"},
    {"half", "training.precision", "bf16", "its values are fp32, bf16 and tf32"},
    {"bfloat16", "training.precision", "bf16", ""},
    {"bf16", "training.precision", "", "its value is bf16"},
    {"float32", "training.precision", "fp32", ""},
    {"amp", "training.precision", "", ""},
    {"dtype", "training.precision", "", ""},
    {"torch_dtype", "training.precision", "", ""},
    {"seed", "seeds", "", "a list, beside base"},
    {"mixed_precision", "training.precision", "", ""},
    {"lora_r", "training.lora.rank", "", ""},
    {"lora_alpha", "training.lora.alpha", "", ""},
    {"flash_attention", "", "",
     "attention takes the fused kernel of its device where there is one"},
    {"compile", "training.graphs", "", "passes are recorded as CUDA graphs, not compiled"},
    {"gpu", "training.device", "cuda", ""},
    {"eval_every", "training.evaluate_every", "", ""},
    {"eval_iters", "", "", "every validation reads the whole validation set"},
    {"eval_interval", "training.evaluate_every", "", ""},
    {"eval_steps", "training.evaluate_every", "", ""},
    {"validation_freq", "training.evaluate_every", "", ""},
    {"log_interval", "training.log_every", "", ""},
    {"logging_steps", "training.log_every", "", ""},
    {"save_steps", "training.save_every", "", ""},
    {"save_interval_updates", "training.save_every", "", ""},
    {"save_total_limit", "training.keep", "", ""},
    {"early_stopping_patience", "training.patience", "", ""},
    {"max_sequence_length", "training.max_length", "", ""},
    {"max_seq_length", "training.max_length", "", ""},
    {"max_seq_len", "training.max_length", "", ""},
    // Data, tokenizers and decoding.
    {"dataset", "data.task", "", ""},
    {"translation", "data.task", "text", ""},
    {"classification", "data.task", "labelled", ""},
    {"lm", "data.task", "language", ""},
    {"language_modeling", "data.task", "language", ""},
    {"mqar", "data.task", "recall", ""},
    {"modular_addition", "data.task", "table", ""},
    {"char", "tokenizer.kind", "character", ""},
    {"bytes", "tokenizer.kind", "byte", ""},
    {"sentencepiece", "tokenizer.kind", "unigram", "SentencePiece also makes bpe"},
    {"pad_token_id", "", "", kFixedIds},
    {"bos_token_id", "", "", kFixedIds},
    {"eos_token_id", "", "", kFixedIds},
    {"beam_size", "decoding.beam", "", ""},
    {"num_beams", "decoding.beam", "", ""},
    {"lenpen", "decoding.length_penalty", "", ""},
    {"do_sample", "decoding.sampling.kind", "random", ""},
    {"max_new_tokens", "decoding.max_length", "", ""},
    // Metrics.
    {"ppl", kMetricPath, "perplexity", ""},
    {"valid_ppl", kMetricPath, "validation_perplexity", ""},
    {"val_loss", kMetricPath, "validation_perplexity", "its logarithm is the loss"},
    {"valid_loss", kMetricPath, "validation_perplexity", "its logarithm is the loss"},
    {"eval_loss", kMetricPath, "validation_perplexity", "its logarithm is the loss"},
    {"nll", kMetricPath, "loss", ""},
    {"cross_entropy", kMetricPath, "loss", ""},
    {"bpb", kMetricPath, "bits_per_character", "per character, not per byte"},
    {"bits_per_byte", kMetricPath, "bits_per_character", "per character, not per byte"},
    {"bpc", kMetricPath, "bits_per_character", ""},
    {"accuracy", kMetricPath, "token_accuracy", "exact_match is of whole outputs"},
    {"acc", kMetricPath, "token_accuracy", "exact_match is of whole outputs"},
    {"em", kMetricPath, "exact_match", ""},
    {"wer", kMetricPath, "word_error_rate", ""},
    {"sacrebleu", kMetricPath, "bleu", ""},
    {"chrf2", kMetricPath, "chrf", ""},
    {"rouge", kMetricPath, "rouge_l", "or rouge_1 and rouge_2"},
};

/// In lower case, with _ for -.
std::string plain(std::string_view word) {
  std::string text(word);
  for (char& letter : text) {
    if (letter >= 'A' && letter <= 'Z') letter = static_cast<char>(letter - 'A' + 'a');
    if (letter == '-') letter = '_';
  }
  return text;
}

std::string with_remark(std::string text, std::string_view remark) {
  return remark.empty() ? text : fmt::format("{}: {}", text, remark);
}

}  // namespace

std::span<const ForeignWord> foreign_words() { return kForeignWords; }

std::string answer_text(const ForeignWord& word) {
  if (word.path.empty()) return std::string(word.remark);
  if (word.value.empty()) return with_remark(std::string(word.path), word.remark);
  const auto what = word.path == kMetricPath ? "the metric" : fmt::format("{}:", word.path);
  return fmt::format("{} {}{}", what, word.value,
                     word.remark.empty() ? "" : fmt::format(" ({})", word.remark));
}

const ForeignWord* find_foreign_word(std::string_view word) {
  const auto* found = std::ranges::find(kForeignWords, plain(word), &ForeignWord::word);
  return found == std::end(kForeignWords) ? nullptr : found;
}

std::string hint_for_foreign_key(std::string_view key) {
  const auto* word = find_foreign_word(key);
  if (word == nullptr) return {};
  return fmt::format("; {}{}", word->path.empty() ? "" : "here it is ", answer_text(*word));
}

std::string hint_for_foreign_value(std::string_view path, std::string_view value) {
  const auto* word = find_foreign_word(value);
  if (word == nullptr || word->value.empty()) return {};
  if (word->path != path) return hint_for_foreign_key(value);
  return fmt::format("; write {}", with_remark(std::string(word->value), word->remark));
}

std::string hint_for_value(std::string_view path, std::string_view value,
                           const std::vector<std::string>& known) {
  auto hint = hint_for_foreign_value(path, value);
  return hint.empty() ? did_you_mean(value, known) : hint;
}

}  // namespace ablate::config
