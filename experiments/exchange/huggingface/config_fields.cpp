#include "experiments/exchange/huggingface/config_fields.h"

#include <fmt/ranges.h>

namespace ablate::exchange {
namespace {

/// Fields of every family that say nothing about the model's computation.
const std::vector<std::string> kEverywhere{"_attn_implementation",
                                           "_name_or_path",
                                           "add_cross_attention",
                                           "architectures",
                                           "auto_map",
                                           "chunk_size_feed_forward",
                                           "classifier_dropout",
                                           "decoder_start_token_id",
                                           "dtype",
                                           "finetuning_task",
                                           "forced_bos_token_id",
                                           "forced_eos_token_id",
                                           "gradient_checkpointing",
                                           "id2label",
                                           "init_std",
                                           "initializer_factor",
                                           "initializer_range",
                                           "is_decoder",
                                           "is_encoder_decoder",
                                           "label2id",
                                           "model_type",
                                           "output_attentions",
                                           "output_hidden_states",
                                           "output_past",
                                           "problem_type",
                                           "return_dict",
                                           "task_specific_params",
                                           "tokenizer_class",
                                           "torch_dtype",
                                           "transformers_version",
                                           "use_cache"};

}  // namespace

ConfigFields::ConfigFields(nlohmann::json json, std::string source)
    : json_(std::move(json)), source_(std::move(source)) {
  if (!json_.is_object()) throw training::CheckpointError(source_ + ": must be a JSON object");
  skip(kEverywhere);
}

void ConfigFields::finish() const {
  std::vector<std::string> unknown;
  for (const auto& [name, value] : json_.items())
    if (!read_.contains(name) && !value.is_null()) unknown.push_back(name);
  if (unknown.empty()) return;
  throw training::CheckpointError(fmt::format(
      "{}: Ablate does not know what {} {} and does not guess; if the model does not depend on {}, "
      "remove {} from a copy of the file",
      source_, fmt::join(unknown, ", "), unknown.size() == 1 ? "means" : "mean",
      unknown.size() == 1 ? "it" : "them", unknown.size() == 1 ? "it" : "them"));
}

void ConfigFields::refuse(const std::string& name, const std::string& why) const {
  throw training::CheckpointError(fmt::format("{}: {} {}", source_, name, why));
}

}  // namespace ablate::exchange
