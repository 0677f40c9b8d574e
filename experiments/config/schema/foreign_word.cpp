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
/// they are about. `word` lists those that mean the same.
constexpr ForeignWord kRows[] = {
    // Sizes of the model.
    {"hidden_size n_embd embed_dim emb_dim dim hidden_dim embed_size embedding_dim embedding_size "
     "emb_size d_embed n_embed model_dim encoder_embed_dim decoder_embed_dim",
     "model.d_model", "", ""},
    {"n_layer n_layers num_layers num_hidden_layers nlayers num_blocks n_blocks", "model.layers",
     "", ""},
    {"num_encoder_layers", "model.encoder_layers", "", ""},
    {"num_decoder_layers", "model.decoder_layers", "", ""},
    {"n_head n_heads nhead num_heads num_attention_heads", "model.attention.heads", "", ""},
    {"encoder_attention_heads", "model.encoder.attention.heads", "", ""},
    {"decoder_attention_heads", "model.decoder.attention.heads", "", ""},
    {"num_key_value_heads kv_heads n_kv_head num_kv_heads n_kv_heads num_query_groups",
     "model.attention.key_value_heads", "", ""},
    {"head_dim d_kv dim_head d_head", "model.attention.d_k", "", "and model.attention.d_v"},
    {"intermediate_size ffn_dim ff_size d_ff n_inner dim_feedforward ffn_hidden_size mlp_dim "
     "mlp_hidden_dim ffn_embed_dim ff_dim d_inner inner_dim filter_size d_ffn",
     "model.feed_forward.d_hidden", "", ""},
    {"moe_intermediate_size", "model.feed_forward.d_hidden", "", "for kind moe"},
    {"encoder_ffn_dim encoder_ffn_embed_dim", "model.encoder.feed_forward.d_hidden", "", ""},
    {"decoder_ffn_dim decoder_ffn_embed_dim", "model.decoder.feed_forward.d_hidden", "", ""},
    {"vocab_size", "tokenizer.vocabulary", "", ""},
    {"max_position_embeddings n_positions max_source_positions max_target_positions",
     "model.position.max_length", "", "for learned positions only"},
    {"block_size n_ctx", "data.block", "", ""},
    {"mlp_ratio ffn_mult ff_mult expansion_factor ffn_dim_multiplier",
     "model.feed_forward.d_hidden", "", "the width itself, not its ratio to d_model"},
    {"multiple_of", "model.feed_forward.d_hidden", "", "the width itself, which nothing rounds"},
    {"seq_len seq_length sequence_length context_length context_size ctx_len tokens_per_sample",
     "data.block", "", "of running text; pairs are cut by training.max_length"},
    // Parts of the model.
    {"gpt causal_lm", "model.family", "decoder_only", ""},
    {"bert masked_lm", "model.family", "encoder_only", ""},
    {"seq2seq", "model.family", "encoder_decoder", ""},
    {"rope rotary_pos_emb use_rope", "model.position.kind", "rotary", ""},
    {"alibi use_alibi alibi_pos_bias", "model.position.kind", "alibi", ""},
    {"absolute encoder_learned_pos decoder_learned_pos", "model.position.kind", "learned", ""},
    {"sinusoid static_position_embeddings", "model.position.kind", "sinusoidal", ""},
    {"relative", "model.position.kind", "shaw", ""},
    {"rel_pos_bias", "model.position.kind", "t5", ""},
    {"nope no_token_positional_embeddings", "model.position.kind", "none", ""},
    {"position_embedding_type pos_emb pos_embed pos_embedding pos_encoding position_embedding "
     "position_encoding positional_embedding positional_encoding",
     "model.position.kind", "", ""},
    {"rope_theta local_rope_theta rope_base rotary_base rotary_emb_base", "model.position.base", "",
     "for rotary positions"},
    {"rope_scaling", "model.position.scaling", "", "for rotary positions"},
    {"global_rope_theta", "model.position.base", "", "in an element of model.changes"},
    {"partial_rotary_factor rotary_pct", "model.position.fraction", "", "for rotary positions"},
    {"relative_attention_num_buckets", "model.position.buckets", "", "for t5 positions"},
    {"relative_attention_max_distance", "model.position.max_distance", "", "for t5 positions"},
    {"layernorm layer_norm", "model.norm.kind", "layer", ""},
    {"rmsnorm rms_norm use_rmsnorm", "model.norm.kind", "rms", ""},
    {"batchnorm", "model.norm.kind", "batch", ""},
    {"dyt", "model.norm.kind", "tanh", ""},
    {"prenorm pre_norm norm_first normalize_before pre_ln", "model.norm.placement", "pre", ""},
    {"encoder_normalize_before", "model.encoder.norm.placement", "pre", ""},
    {"decoder_normalize_before", "model.decoder.norm.placement", "pre", ""},
    {"postnorm post_norm post_ln", "model.norm.placement", "post", ""},
    {"layer_norm_eps layer_norm_epsilon norm_eps rms_norm_eps", "model.norm.epsilon", "", ""},
    {"gqa", "model.attention.key_value_heads", "2", "or another divisor of heads"},
    {"mqa multi_query multi_query_attention", "model.attention.key_value_heads", "1", ""},
    {"mha multihead softmax", "model.attention.kind", "multi_head", ""},
    {"deltanet", "model.attention.kind", "delta", ""},
    {"gated_deltanet", "model.attention", "{kind: delta, decay: gated}", ""},
    {"kda", "model.attention", "{kind: delta, decay: channels}", ""},
    {"gla", "model.attention", "{kind: linear, decay: channels}", ""},
    {"retnet", "model.attention", "{kind: linear, decay: fixed}", ""},
    {"canon_set", "model.canon.places", "[a, b, c, d]", ""},
    {"sliding_window swa sliding_window_size window_size attention_window",
     "model.attention.window", "", ""},
    {"local_attention", "model.attention.window", "", "a window counts one side, itself included"},
    {"global_attn_every_n_layers", "model.changes", "", "window: null in an element with every"},
    {"qk_layernorm", "model.attention.qk_norm", "layer", ""},
    {"attn_qk_norm use_qk_norm", "model.attention.qk_norm", "rms", ""},
    {"attn_logit_softcapping attn_softcap", "model.attention.softcap", "", ""},
    {"final_logit_softcapping logit_softcap", "model.output.softcap", "", ""},
    {"activation_function hidden_act hidden_activation dense_act_fn activation_fn act_fn "
     "nonlinearity",
     "model.feed_forward.activation", "", ""},
    {"feed_forward_proj", "model.feed_forward.activation", "", "and model.feed_forward.gated"},
    {"is_gated_act ff_glu", "model.feed_forward.gated", "", ""},
    {"swiglu", "model.feed_forward", "{activation: silu, gated: true}", ""},
    {"geglu", "model.feed_forward", "{activation: gelu, gated: true}", ""},
    {"reglu", "model.feed_forward", "{activation: relu, gated: true}", ""},
    {"glu", "model.feed_forward", "{activation: sigmoid, gated: true}", ""},
    {"swish", "model.feed_forward.activation", "silu", ""},
    {"gelu_new", "model.feed_forward.activation", "gelu_tanh", ""},
    {"relu_squared", "model.feed_forward.activation", "relu2", ""},
    {"num_local_experts num_experts n_routed_experts", "model.feed_forward.experts", "",
     "for kind moe"},
    {"num_experts_per_tok top_k num_experts_per_token experts_per_token num_selected_experts "
     "moe_top_k",
     "model.feed_forward.active", "", "for kind moe"},
    {"router_aux_loss_coef aux_loss_coef moe_aux_loss_coeff load_balancing_loss_coef",
     "model.feed_forward.balance.load", "", "for kind moe"},
    {"use_parallel_residual", "model.block", "parallel_norms", "parallel has one norm for all"},
    {"layerscale", "model.residual", "{per: channel, start: 0.1}", ""},
    {"rezero", "model.residual", "{per: layer, start: 0}", ""},
    {"drop_path drop_path_rate path_dropout", "model.residual.drop", "", ""},
    {"deepnorm", "model.residual.depth", "deepnorm", "with model.initialization.depth: deepnorm"},
    {"resid_pdrop hidden_dropout_prob hidden_dropout dropout_p p_dropout drop_rate resid_dropout "
     "residual_dropout",
     "model.dropout", "", ""},
    {"embd_pdrop emb_dropout embed_dropout", "model.embedding_dropout", "", ""},
    {"dropout_rate", "model.dropout", "",
     "with model.final_dropout, and the dropout of model.attention and of feed_forward"},
    {"activation_dropout relu_dropout mlp_dropout ffn_dropout ff_dropout",
     "model.feed_forward.dropout", "", ""},
    {"classifier_dropout seq_classif_dropout", "model.output.dropout", "", "for kind label"},
    {"encoder_layerdrop decoder_layerdrop layerdrop", "model.residual.drop", "",
     "by sequence, and less in earlier layers"},
    {"attn_pdrop attn_dropout attention_dropout attention_probs_dropout_prob",
     "model.attention.dropout", "", ""},
    {"attention_bias attn_bias", "model.attention.qkv_bias", "", "and model.attention.output_bias"},
    {"mlp_bias", "model.feed_forward.bias", "", ""},
    {"norm_bias", "model.norm.bias", "", ""},
    {"decoder_bias", "model.output.bias", "", ""},
    {"type_vocab_size", "model.token_types", "", ""},
    {"scale_attn_weights", "model.attention.scale", "", ""},
    {"scale_embedding", "model.embedding_scale", "", ""},
    {"tie_word_embeddings weight_tying tie_weights tie_embeddings tied_embeddings", "model.tying",
     "", ""},
    {"tied_softmax share_decoder_input_output_embed", "model.tying", "target", ""},
    {"share_all_embeddings", "model.tying", "three_way", ""},
    {"share_encoder_decoder_embeddings", "model.tying", "embeddings", ""},
    {"initializer_range init_std init_method_std initializer_std", "model.initialization.deviation",
     "", "for kind normal"},
    {"initializer_cutoff_factor", "model.initialization.cutoff", "", "for kind normal"},
    {"initializer_factor", "model.initialization.factor", "", "for kind t5"},
    {"classifier_pooling", "model.output.pool", "", "for kind label"},
    {"norm_type", "model.norm.kind", "", ""},
    {"sandwich_norm", "model.norm.placement", "both", ""},
    {"use_bias add_bias_linear", "model.bias", "", ""},
    {"parallel_attn parallel_attention", "model.block", "parallel", ""},
    {"n_shared_experts", "model.feed_forward.shared_experts", "", "for kind moe"},
    {"norm_topk_prob", "model.feed_forward.router.renormalize", "", "for kind moe"},
    {"router_z_loss_coef", "model.feed_forward.balance.z", "", "for kind moe"},
    {"capacity_factor", "model.feed_forward.capacity.factor", "", "for kind limited"},
    {"decoder_sparse_step first_k_dense_replace", "model.changes", "",
     "an element with at or every gives some layers another kind"},
    {"gradient_checkpointing activation_checkpointing activation_checkpoint recompute", "", "",
     "activations are kept; a smaller batch with training.accumulate takes less memory"},
    {"use_flash_attn attn_flash attn_implementation flash", "", "",
     "attention takes the fused kernel of its device where there is one"},
    // Training.
    {"lr learning_rate max_lr", "training.schedule.peak", "", ""},
    {"min_lr lr_min", "training.schedule.floor", "", ""},
    {"lr_scheduler scheduler", "training.schedule", "", ""},
    {"lr_scheduler_type lr_schedule lr_decay_style decay_lr", "training.schedule.kind", "", ""},
    {"noam inverse_sqrt", "training.schedule.kind", "inverse_square_root", ""},
    {"wsd", "training.schedule.kind", "stable", ""},
    {"warmup_steps warmup_iters warmup_updates num_warmup_steps", "training.schedule.warmup", "",
     ""},
    {"warmup_ratio warmup_epochs", "training.schedule.warmup", "", "in steps"},
    {"max_steps max_iters train_steps max_update num_train_steps max_train_steps training_steps "
     "num_steps n_steps total_steps total_iters num_iterations iterations",
     "training.steps", "", ""},
    {"lr_decay_iters", "training.steps", "", "a schedule ends with the run"},
    {"epochs max_epochs num_epochs num_train_epochs max_epoch", "training.steps", "", kUpdates},
    {"batch_size per_device_train_batch_size max_tokens train_batch_size micro_batch_size "
     "global_batch_size local_batch_size total_batch_size bsz",
     "training.tokens_per_batch", "", kTokens},
    {"gradient_accumulation_steps update_freq batch_multiplier grad_accum_steps "
     "gradient_accumulation accumulate_grad_batches",
     "training.accumulate", "", ""},
    {"optim optimizer_type", "training.optimizer.kind", "", ""},
    {"adam_w adamw_torch", "training.optimizer.kind", "adamw", ""},
    {"adam_beta1 adam_b1", "training.optimizer.beta1", "", ""},
    {"adam_beta2 adam_b2", "training.optimizer.beta2", "", ""},
    {"adam_betas betas", "training.optimizer.beta1", "", "and training.optimizer.beta2"},
    {"adam_epsilon eps", "training.optimizer.epsilon", "", ""},
    {"wd", "training.optimizer.weight_decay", "", ""},
    {"grad_clip clip_norm max_norm clip_grad_norm gradient_clip gradient_clip_val "
     "gradient_clipping",
     "training.max_grad_norm", "", ""},
    {"label_smoothing_factor", "training.label_smoothing", "", ""},
    {"fp16 float16 half", "training.precision", "bf16", "its values are fp32, bf16 and tf32"},
    {"bfloat16", "training.precision", "bf16", ""},
    {"bf16", "training.precision", "", "its value is bf16"},
    {"float32", "training.precision", "fp32", ""},
    {"amp dtype torch_dtype mixed_precision use_amp autocast", "training.precision", "", ""},
    {"seed manual_seed", "seeds", "", "a list, beside base"},
    {"lora_r", "training.lora.rank", "", ""},
    {"lora_alpha", "training.lora.alpha", "", ""},
    {"flash_attention", "", "",
     "attention takes the fused kernel of its device where there is one"},
    {"compile torch_compile use_compile", "training.graphs", "",
     "passes are recorded as CUDA graphs, not compiled"},
    {"gpu", "training.device", "cuda", ""},
    {"eval_every eval_interval eval_steps validation_freq eval_freq val_interval "
     "val_check_interval check_val_every_n_epoch eval_strategy evaluation_strategy",
     "training.evaluate_every", "", ""},
    {"eval_iters limit_val_batches", "", "", "every validation reads the whole validation set"},
    {"deterministic use_deterministic_algorithms", "", "",
     "the same seed gives the same bits on a CPU"},
    {"log_interval logging_steps log_every_n_steps log_freq", "training.log_every", "", ""},
    {"save_steps save_interval_updates save_interval checkpoint_interval save_strategy",
     "training.save_every", "", ""},
    {"save_total_limit keep_last_epochs", "training.keep", "", ""},
    {"early_stopping_patience early_stopping", "training.patience", "", ""},
    {"max_sequence_length max_seq_length max_seq_len", "training.max_length", "", ""},
    {"eval_batch_size per_device_eval_batch_size", "decoding.batch", "", ""},
    {"ema_decay use_ema", "training.ema", "", ""},
    {"run_name experiment_name", "name", "", "of the study, beside base"},
    {"output_dir out_dir", "", "", "ablate run --output names the folder of all runs"},
    {"resume_from_checkpoint", "", "", "the same command continues a study"},
    {"report_to logging_dir wandb wandb_log", "", "",
     "every run writes metrics.jsonl and files for TensorBoard"},
    {"world_size num_gpus n_gpu gpus nproc devices nproc_per_node data_parallel_shard_degree "
     "data_parallel_replicate_degree",
     "", "", "ablate run --ranks shares a run among processes"},
    {"num_workers dataloader_num_workers", "", "", "batches are prepared on a thread of their own"},
    // Data, tokenizers and decoding.
    {"dataset dataset_name", "data.task", "", ""},
    {"translation", "data.task", "text", ""},
    {"classification", "data.task", "labelled", ""},
    {"lm language_modeling", "data.task", "language", ""},
    {"mqar", "data.task", "recall", ""},
    {"modular_addition", "data.task", "table", ""},
    {"char char_level", "tokenizer.kind", "character", ""},
    {"bytes", "tokenizer.kind", "byte", ""},
    {"sentencepiece spm", "tokenizer.kind", "unigram", "SentencePiece also makes bpe"},
    {"pad_token_id bos_token_id eos_token_id", "", "", kFixedIds},
    {"beam_size num_beams beam_width", "decoding.beam", "", ""},
    {"no_repeat_ngram_size repetition_penalty", "", "", "a search forbids no repetitions here"},
    {"lenpen", "decoding.length_penalty", "", ""},
    {"do_sample", "decoding.sampling.kind", "random", ""},
    {"max_new_tokens max_len_b gen_max_len", "decoding.max_length", "", ""},
    {"max_len_a", "decoding.max_length", "", "tokens, not a factor of the source's"},
    {"train_file train_data train_path", "data.train", "", ""},
    {"val valid dev val_data validation_file val_path", "data.validation", "", ""},
    {"test_file test_data test_path", "data.test", "", ""},
    {"data_dir data_path", "", "", "ablate run --data names the folder of the files"},
    {"num_labels num_classes", "", "", "the data say how many classes there are"},
    {"tokenizer_type", "tokenizer.kind", "", ""},
    {"wordpiece", "tokenizer.file", "", "a tokenizer.json has such tokens; none are learned here"},
    {"arch architecture architectures model_type", "model.family", "",
     "or ablate init --like NAME"},
    // Metrics.
    {"ppl", kMetricPath, "perplexity", ""},
    {"valid_ppl", kMetricPath, "validation_perplexity", ""},
    {"val_loss valid_loss eval_loss", kMetricPath, "validation_perplexity",
     "its logarithm is the loss"},
    {"nll cross_entropy", kMetricPath, "loss", ""},
    {"bpb bits_per_byte", kMetricPath, "bits_per_character", "per character, not per byte"},
    {"bpc", kMetricPath, "bits_per_character", ""},
    {"accuracy acc", kMetricPath, "token_accuracy", "exact_match is of whole outputs"},
    {"em", kMetricPath, "exact_match", ""},
    {"wer", kMetricPath, "word_error_rate", ""},
    {"sacrebleu", kMetricPath, "bleu", ""},
    {"chrf2", kMetricPath, "chrf", ""},
    {"rouge", kMetricPath, "rouge_l", "or rouge_1 and rouge_2"},
    {"rouge1", kMetricPath, "rouge_1", ""},
    {"rouge2", kMetricPath, "rouge_2", ""},
    {"rougel", kMetricPath, "rouge_l", ""},
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

/// A row for each word.
std::vector<ForeignWord> single_words() {
  std::vector<ForeignWord> words;
  for (const auto& row : kRows)
    for (size_t begin = 0, end = 0; end != row.word.npos; begin = end + 1) {
      end = row.word.find(' ', begin);
      words.push_back({row.word.substr(begin, end - begin), row.path, row.value, row.remark});
    }
  return words;
}

}  // namespace

std::span<const ForeignWord> foreign_words() {
  static const auto words = single_words();
  return words;
}

std::string answer_text(const ForeignWord& word) {
  if (word.path.empty()) return std::string(word.remark);
  if (word.value.empty()) return with_remark(std::string(word.path), word.remark);
  const auto what = word.path == kMetricPath ? "the metric" : fmt::format("{}:", word.path);
  return fmt::format("{} {}{}", what, word.value,
                     word.remark.empty() ? "" : fmt::format(" ({})", word.remark));
}

const ForeignWord* find_foreign_word(std::string_view word) {
  const auto words = foreign_words();
  const auto found = std::ranges::find(words, plain(word), &ForeignWord::word);
  return found == words.end() ? nullptr : &*found;
}

std::string hint_for_foreign_key(std::string_view key) {
  const auto* word = find_foreign_word(key);
  if (word == nullptr) return {};
  return fmt::format("; {}{}", word->path.empty() ? "" : "here it is ", answer_text(*word));
}

std::string hint_for_misspelt_foreign_key(std::string_view key) {
  std::vector<std::string> keys;
  for (const auto& word : foreign_words())
    if (word.value.empty() && !word.path.empty()) keys.emplace_back(word.word);
  const auto* word = find_foreign_word(nearest(plain(key), keys));
  if (word == nullptr) return {};
  return fmt::format("; did you mean {}? Here it is {}", word->word, answer_text(*word));
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
