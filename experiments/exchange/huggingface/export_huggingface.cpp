#include "experiments/exchange/huggingface/export_huggingface.h"

#include <fmt/format.h>

#include <cmath>

#include "experiments/errors.h"
#include "experiments/exchange/huggingface/disassembly.h"
#include "experiments/exchange/huggingface/family_maps.h"
#include "experiments/exchange/huggingface/marian_form.h"
#include "experiments/exchange/huggingface/read_tokenizer.h"
#include "experiments/exchange/huggingface/write_family.h"
#include "experiments/exchange/huggingface/write_tokenizer.h"
#include "experiments/records/result.h"
#include "models/inference/inference_model.h"
#include "tokenizer/special_tokens.h"
#include "training/storage/durable_file.h"

namespace ablate::exchange {
namespace {

using nlohmann::json;

constexpr double kRounding = 1e-5;
constexpr int64_t kRows = 3, kLength = 9;

/// How the model decodes if nothing else is said: as it was evaluated, without other choices.
json generation_config(const json& config) {
  json chosen;
  for (const auto* name : {"pad_token_id", "bos_token_id", "eos_token_id"})
    chosen[name] = config.at(name);
  chosen["decoder_start_token_id"] = config.at("bos_token_id");
  return chosen;
}

std::string number(double value) {
  return std::isnan(value) ? std::string("\u2013") : fmt::format("{:.4g}", value);
}

std::string card_of(const std::filesystem::path& run, const run::LoadedRun& loaded,
                    const std::string& architecture) {
  auto card = fmt::format("# {}\n\nA {} trained by Ablate {}, weights: {}.\n",
                          run.filename().string(), architecture, ABLATE_VERSION, loaded.weights);
  const auto result = records::read_result(run);
  if (!result || result->tests.empty()) return card;
  card += fmt::format(
      "\nStudy {}, task {}, arm {}, seed {}: {} parameters, {} updates.\n\n"
      "| test set | loss | perplexity | exact match | BLEU |\n|---|---:|---:|---:|---:|\n",
      result->study, result->task, result->arm, result->seed, result->parameters, result->steps);
  for (const auto& test : result->tests)
    card +=
        fmt::format("| {} | {} | {} | {} | {} |\n", test.name, number(std::log(test.perplexity)),
                    number(test.perplexity), number(test.exact_match), number(test.bleu));
  return card;
}

/// Ids that are no special tokens, with an end and padding in the second row. // [B, T]
torch::Tensor ids_for(int64_t vocabulary) {
  auto ids =
      torch::arange(kRows * kLength).view({kRows, kLength}) % std::max<int64_t>(1, vocabulary - 5) +
      5;
  ids = ids.clamp_max(vocabulary - 1);
  ids[1].slice(0, kLength - 3).fill_(tokenizer::kPad);
  ids[1][kLength - 4] = tokenizer::kEos;
  return ids;
}

/// The vocabulary of the files: our id of each of theirs.
struct HubVocabulary {
  std::vector<int32_t> order;
  tokenizer::SpecialIds special;
};

HubVocabulary vocabulary_of(const tokenizer::Tokenizer& tokenizer, const std::string& family) {
  const auto& ids = tokenizer.ids();
  if (family == "marian") {
    auto order = marian_order(ids);
    const auto special = marian_specials(order, tokenizer.specials().mask.has_value());
    return {.order = std::move(order), .special = special};
  }
  HubVocabulary vocabulary{.order = {}, .special = tokenizer.specials()};
  for (int32_t id = 0; id < ids.file_size(); ++id) vocabulary.order.push_back(ids.ours(id));
  return vocabulary;
}

/// The columns of both models, whose ids may differ, for every token of the files.
std::pair<torch::Tensor, torch::Tensor> columns_of(const HubVocabulary& vocabulary,
                                                   const tokenizer::IdMap& read) {
  std::vector<int64_t> ours, again;
  for (size_t id = 0; id < vocabulary.order.size(); ++id) {
    ours.push_back(vocabulary.order[id]);
    again.push_back(read.ours(static_cast<int32_t>(id)));
    if (ours.back() != again.back() && ours.back() != tokenizer::kPad)
      throw training::CheckpointError(
          "the tokenizer that was written has other special tokens when it is read again; nothing "
          "was kept");
  }
  return {torch::tensor(ours), torch::tensor(again)};
}

double difference(models::Transformer& ours, models::Transformer& theirs,
                  const HubVocabulary& vocabulary, const tokenizer::IdMap& read) {
  const torch::NoGradGuard no_grad;
  const auto [own, again] = columns_of(vocabulary, read);
  const auto source = ids_for(own.max().item<int64_t>() + 1);
  auto target = source.roll(1, 1).masked_fill(source.eq(tokenizer::kPad), tokenizer::kPad);
  target.select(1, 0).fill_(tokenizer::kBos);
  const auto a = ours->forward(source, target).index_select(-1, own),
             b = theirs->forward(source, target).index_select(-1, again);
  const auto shown = (ours->family() == models::Family::encoder_only ? source : target)
                         .ne(tokenizer::kPad)
                         .unsqueeze(-1);
  const double scale = std::max(1.0, a.abs().max().item<double>());
  return (a - b).abs().masked_fill(shown.logical_not(), 0).max().item<double>() / scale;
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

/// A bias of the output that only keeps ids from being written, as an imported model may have, is
/// none in the vocabulary of the file.
void drop_suppression(models::TransformerOptions& options, training::Weights& weights,
                      const tokenizer::IdMap& ids) {
  auto* head = std::get_if<models::LmHead>(&options.output);
  if (head == nullptr || !head->bias || head->transform) return;
  const auto& bias = weights.at("output_bias");
  bool suppresses = false;
  for (int32_t id = 0; id < ids.size(); ++id) {
    if (!ids.is_written(id))
      suppresses = true;
    else if (bias[id].item<double>() != 0)
      return;
  }
  if (!suppresses) return;
  head->bias = false;
  weights.erase("output_bias");
}

/// Further heads guess ahead of the model's own output, which is all that a family computes.
void drop_heads_ahead(models::TransformerOptions& options, training::Weights& weights) {
  auto* head = std::get_if<models::LmHead>(&options.output);
  if (head == nullptr) return;
  head->ahead = 0;
  std::erase_if(weights, [](const auto& item) { return item.first.starts_with("decoder.ahead."); });
}

/// Throws UsageError if a token of the file has become two.
void require_one_start(const training::Weights& weights, const tokenizer::IdMap& ids) {
  const auto start = ids.theirs(tokenizer::kBos);
  for (const auto& [name, tensor] : weights)
    if (name.ends_with("embedding") && start &&
        !torch::equal(tensor[tokenizer::kBos], tensor[ids.ours(*start)]))
      throw UsageError(
          "the start token is also another token of this vocabulary, and training has made two of "
          "them; --format safetensors and torchscript take such a model");
}

/// What is written.
struct HubFiles {
  WrittenFamily form;
  HubVocabulary vocabulary;
  training::Tensors tensors;
};

HubFiles hub_files_of(const run::LoadedRun& run) {
  const auto& tokenizer = run.tokenizers.target;
  auto options = run.experiment.model;
  auto weights = training::weights_of(*run.model);
  drop_suppression(options, weights, tokenizer.ids());
  drop_heads_ahead(options, weights);
  require_one_start(weights, tokenizer.ids());
  auto form = write_family(options, tokenizer.ids().file_size(), tokenizer.specials());
  const auto vocabulary = vocabulary_of(tokenizer, form.family);
  set_vocabulary(form.config, std::ssize(vocabulary.order), vocabulary.special);
  if (form.separates_sines) weights = with_separate_sines(weights);
  if (form.family == "marian" && !weights.contains("output_bias"))
    weights["output_bias"] = torch::zeros({tokenizer.vocabulary_size()});
  const auto layers = std::max(models::depth_of(options, models::Side::encoder),
                               models::depth_of(options, models::Side::decoder));
  const auto origins = expanded(family_map(form.family).tensors, layers);
  const auto order = torch::tensor(vocabulary.order, torch::kLong);
  for (auto& [name, tensor] : weights)
    if (origins.at(name).vocabulary) tensor = tensor.index_select(0, order);
  auto tensors = disassembled(weights, origins, options);
  if (form.family == "marian") {
    std::get<models::Sinusoidal>(options.position).layout = models::SinusoidalLayout::halves;
    start_from_zero(tensors, options);
  }
  return {.form = form, .vocabulary = vocabulary, .tensors = std::move(tensors)};
}

}  // namespace

HubAgreement export_huggingface(const ExportRequest& request) {
  auto run = run::load_run(request.run, request.checkpoint);
  run.model->to(torch::kCPU);
  require_one_vocabulary(run);
  training::require_finite(training::weights_of(*run.model), request.run.string());
  const auto files = hub_files_of(run);
  const auto& config = files.form.config;
  HubAgreement agreement{.architecture = config.at("architectures").at(0)};
  run::write_folder(request.to, [&](const std::filesystem::path& part) {
    training::write_synced(part / "config.json", config.dump(1) + "\n");
    training::write_synced(part / "generation_config.json",
                           generation_config(config).dump(1) + "\n");
    training::write_synced(part / "model.safetensors",
                           training::to_safetensors(files.tensors, {{"format", "pt"}}));
    write_tokenizer(part, files.form.family, run.tokenizers, files.vocabulary.order);
    training::write_synced(part / "README.md", card_of(request.run, run, agreement.architecture));
    const auto tokens = read_tokenizer(part);
    const auto again = read_huggingface(part, tokens.special);
    const auto size = tokenizers_of(tokens, again).target.vocabulary_size();
    models::Transformer read(again.options, models::Vocabulary{size, size, tokenizer::kPad});
    training::load_weights(*read, again.weights);
    agreement.logits = difference(run.model, read, files.vocabulary, again.ids);
    if (!(agreement.logits <= kRounding))
      throw training::CheckpointError(
          fmt::format("the model that was written differs from the trained one by {:.2g} of its "
                      "largest logit; nothing was kept",
                      agreement.logits));
  });
  return agreement;
}

}  // namespace ablate::exchange
