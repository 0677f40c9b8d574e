#include "experiments/exchange/huggingface/export_huggingface.h"

#include <fmt/format.h>

#include <algorithm>

#include "experiments/errors.h"
#include "experiments/exchange/huggingface/disassembly.h"
#include "experiments/exchange/huggingface/family_maps.h"
#include "experiments/exchange/huggingface/hub_card.h"
#include "experiments/exchange/huggingface/hub_check.h"
#include "experiments/exchange/huggingface/marian_form.h"
#include "experiments/exchange/huggingface/write_family.h"
#include "experiments/exchange/huggingface/write_tokenizer.h"
#include "models/inference/inference_model.h"
#include "tokenizer/special_tokens.h"
#include "training/storage/durable_file.h"

namespace ablate::exchange {
namespace {

constexpr int64_t kAnyLength = 1 << 20;  // of a model that says nothing of it

HubVocabulary vocabulary_of(const tokenizer::Tokenizer& tokenizer, const FamilyMap& family) {
  const auto& ids = tokenizer.ids();
  if (family.starts_from_zeros) {
    auto order = marian_order(ids);
    const auto special = marian_specials(order, tokenizer.specials().mask.has_value());
    return {.order = std::move(order), .special = special};
  }
  return {.order = ids.ours(), .special = tokenizer.specials()};
}

void require_one_vocabulary(const run::LoadedRun& run) {
  if (run.tokenizers.labels)
    throw UsageError("--format huggingface takes models of tokens, not of labels");
  const auto &source = run.tokenizers.source, &target = run.tokenizers.target;
  const bool renumbered = source.facts() && target.facts() && !source.facts()->vocabulary.empty() &&
                          source.facts()->vocabulary == target.facts()->vocabulary;
  if (source.bytes() != target.bytes() && !renumbered)
    throw UsageError(
        "--format huggingface needs one tokenizer of source and target (tokenizer.joint: true)");
}

/// Removes a bias of the output that only keeps ids from being written, as an imported model may
/// have: the file's vocabulary lacks these ids. Returns true, and removes nothing, if training has
/// changed the other numbers of such a bias.
bool drop_suppression(models::TransformerOptions& options, training::Weights& weights,
                      const tokenizer::IdMap& ids) {
  auto* head = std::get_if<models::LmHead>(&options.output);
  if (head == nullptr || !head->bias || head->transform) return false;
  const auto& bias = weights.at("output_bias");
  bool suppresses = false, changed = false;
  for (int32_t id = 0; id < ids.size(); ++id) {
    if (!ids.is_written(id))
      suppresses = true;
    else if (bias[id].item<double>() != 0)
      changed = true;
  }
  if (!suppresses || changed) return suppresses;
  head->bias = false;
  weights.erase("output_bias");
  return false;
}

/// write_family(), which says how to train an imported model if only its changed bias is in the
/// way.
WrittenFamily written_family(const models::TransformerOptions& options, int64_t length,
                             const tokenizer::Tokenizer& tokenizer, bool bias_changed) {
  const auto written = [&](const models::TransformerOptions& of) {
    return write_family(of, length, tokenizer.ids().file_size(), tokenizer.specials());
  };
  try {
    return written(options);
  } catch (const UsageError& error) {
    if (!bias_changed) throw;
    auto without = options;
    std::get<models::LmHead>(without.output).bias = false;
    written(without);
    throw UsageError(
        fmt::format("{}; training has changed the bias that keeps the output from writing special "
                    "tokens that the model lacks: train it with training.freeze: [output_bias]",
                    error.what()));
  }
}

/// Further heads guess ahead of the model's own output, which is all that a family computes.
void drop_heads_ahead(models::TransformerOptions& options, training::Weights& weights) {
  auto* head = std::get_if<models::LmHead>(&options.output);
  if (head == nullptr) return;
  head->ahead = 0;
  std::erase_if(weights, [](const auto& item) { return item.first.starts_with("decoder.ahead."); });
}

UsageError lacks(const char* token, const char* keys) {
  return UsageError(
      fmt::format("the model reads {} token, which its tokenizer does not have ({} in "
                  "tokenizer_config.json); --format safetensors and torchscript take such a model",
                  token, keys));
}

/// Throws UsageError if the file lacks the start token that the model reads or the end token, or if
/// a start that it reads has become two.
void require_start_and_end(const run::LoadedRun& run, const training::Weights& weights) {
  const auto& ids = run.tokenizers.target.ids();
  const auto start = ids.theirs(tokenizer::kBos);
  const bool reads_start = run.format.start_token(run.tokenizers).has_value();
  if (!start && reads_start) throw lacks("a start", "bos_token or cls_token");
  if (!ids.theirs(tokenizer::kEos)) throw lacks("an end", "eos_token or sep_token");
  for (const auto& [name, tensor] : weights)
    if (name.ends_with("embedding") && reads_start &&
        !torch::equal(tensor[tokenizer::kBos], tensor[ids.ours(*start)]))
      throw UsageError(
          "the start token is also another token of this vocabulary, and training has made two of "
          "them; --format safetensors and torchscript take such a model");
}

/// What is written.
struct HubFiles {
  WrittenFamily form;
  FamilyMap family;
  HubVocabulary vocabulary;
  training::Tensors tensors;
  std::optional<int64_t> length;
};

HubFiles hub_files_of(const ExportRequest& request, const run::LoadedRun& run) {
  const auto& tokenizer = run.tokenizers.target;
  auto options = run.experiment.model;
  auto weights = training::weights_of(*run.model);
  const bool bias_changed = drop_suppression(options, weights, tokenizer.ids());
  drop_heads_ahead(options, weights);
  require_start_and_end(run, weights);
  auto length = trained_length(request.run, run);
  auto form = written_family(options, length.value_or(kAnyLength), tokenizer, bias_changed);
  if (const auto* learned = std::get_if<models::Learned>(&options.layer.position);
      learned != nullptr)
    length = std::min(length.value_or(learned->max_length), learned->max_length);
  const auto& family = family_map(form.family);
  const auto vocabulary = vocabulary_of(tokenizer, family);
  set_vocabulary(form.config, std::ssize(vocabulary.order), vocabulary.special);
  form.config["dtype"] = request.type == torch::kBFloat16 ? "bfloat16" : "float32";
  auto tensors = hub_tensors(std::move(weights), options, form, vocabulary.order);
  for (auto& [name, tensor] : tensors) tensor = tensor.to(request.type);
  return {.form = form,
          .family = family,
          .vocabulary = vocabulary,
          .tensors = std::move(tensors),
          .length = length};
}

void write_files(const std::filesystem::path& folder, const run::LoadedRun& run,
                 const HubFiles& files) {
  const auto& config = files.form.config;
  training::write_synced(folder / "config.json", config.dump(1) + "\n");
  if (run.experiment.model.family != models::Family::encoder_only)
    training::write_synced(folder / "generation_config.json",
                           hub_generation(run.experiment.decoding, config, files.vocabulary.order,
                                          run.format.unwritten())
                                   .dump(1) +
                               "\n");
  training::write_synced(folder / "model.safetensors",
                         training::to_safetensors(files.tensors, {{"format", "pt"}}));
  write_tokenizer(
      folder, run.tokenizers,
      {.words = files.family.tokenizer, .order = files.vocabulary.order, .length = files.length});
}

/// The run's model in float64, in which differences are not those of rounding. Transformers has no
/// mask between documents.
models::Transformer checked_model(const run::LoadedRun& run) {
  auto experiment = run.experiment;
  if (auto* tokens = std::get_if<data::Tokens>(&experiment.data)) tokens->mask_documents = false;
  auto model = run::make_model(experiment, run.tokenizers);
  training::load_weights(*model, training::weights_of(*run.model));
  model->to(torch::kDouble);
  return model;
}

/// The largest difference of log-probabilities, in units of the largest logit, that comes from
/// rounding. Weights are rounded once more behind the change that makes a decoder start from zeros.
double rounding_of(const FamilyMap& family, torch::ScalarType type) {
  if (!family.starts_from_zeros) return 1e-6;
  return type == torch::kBFloat16 ? 0.05 : 1e-5;
}

void require_same_model(double difference, double rounding) {
  if (!(difference <= rounding))
    throw training::CheckpointError(
        fmt::format("the model that was written, as Transformers computes it, differs from the "
                    "trained one by {:.2g} of its largest logit; nothing was kept",
                    difference));
}

}  // namespace

HubExport export_huggingface(const ExportRequest& request) {
  auto run = run::load_run(request.run, request.checkpoint);
  run.model->to(torch::kCPU);
  require_one_vocabulary(run);
  models::cast_weights(*run.model, request.type);
  run.model->to(torch::kFloat);
  const auto files = hub_files_of(request, run);
  HubExport made{.architecture = files.form.config.at("architectures").at(0)};
  made.notes = hub_notes(run, made.architecture, request.type);
  run::write_folder(request.to, [&](const std::filesystem::path& part) {
    write_files(part, run, files);
    training::write_synced(part / "README.md",
                           hub_card(request.run, run, made.architecture, made.notes));
    require_same_specials(part);
    auto model = checked_model(run);
    made.difference = hub_difference(model, part, files.vocabulary);
    require_same_model(made.difference, rounding_of(files.family, request.type));
  });
  return made;
}

}  // namespace ablate::exchange
