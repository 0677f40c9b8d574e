#include "experiments/exchange/huggingface/export_huggingface.h"

#include <fmt/format.h>

#include <cmath>

#include "experiments/errors.h"
#include "experiments/exchange/huggingface/disassembly.h"
#include "experiments/exchange/huggingface/family_maps.h"
#include "experiments/exchange/huggingface/read_huggingface.h"
#include "experiments/exchange/huggingface/write_family.h"
#include "experiments/records/result.h"
#include "models/inference/inference_model.h"
#include "tokenizer/special_tokens.h"
#include "training/storage/durable_file.h"

namespace ablate::exchange {
namespace {

using nlohmann::json;

constexpr double kRounding = 1e-5;
constexpr int64_t kRows = 3, kLength = 9;

json tokenizer_config(const std::string& family) {
  json config{{"pad_token", tokenizer::kPadPiece},
              {"bos_token", tokenizer::kBosPiece},
              {"eos_token", tokenizer::kEosPiece},
              {"unk_token", tokenizer::kUnkPiece}};
  if (family == "marian") {
    config["tokenizer_class"] = "MarianTokenizer";
    config["source_lang"] = "source";
    config["target_lang"] = "target";
    config["separate_vocabs"] = false;
    return config;
  }
  config["tokenizer_class"] = "LlamaTokenizer";
  config["add_bos_token"] = true;
  config["add_eos_token"] = family == "bert";
  config["legacy"] = false;
  return config;
}

/// Every token by its id, as Marian's tokenizer wants it.
json vocabulary_of(const tokenizer::Tokenizer& tokenizer) {
  json ids;
  for (int64_t id = 0; id < tokenizer.vocabulary_size(); ++id)
    ids[tokenizer.token(static_cast<int32_t>(id))] = id;
  return ids;
}

void write_tokenizer(const std::filesystem::path& folder, const std::string& family,
                     const tokenizer::Tokenizer& tokenizer) {
  training::write_synced(folder / "tokenizer_config.json", tokenizer_config(family).dump(1) + "\n");
  if (family == "marian") {
    training::write_synced(folder / "source.spm", tokenizer.bytes());
    training::write_synced(folder / "target.spm", tokenizer.bytes());
    training::write_synced(folder / "vocab.json", vocabulary_of(tokenizer).dump() + "\n");
  } else {
    training::write_synced(folder / (family == "t5" ? "spiece.model" : "tokenizer.model"),
                           tokenizer.bytes());
  }
}

/// How the model decodes if nothing else is said: as it was evaluated, without other choices.
json generation_config() {
  return {{"pad_token_id", tokenizer::kPad},
          {"bos_token_id", tokenizer::kBos},
          {"eos_token_id", tokenizer::kEos},
          {"decoder_start_token_id", tokenizer::kBos}};
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

double difference(models::Transformer& ours, models::Transformer& theirs, int64_t vocabulary) {
  const torch::NoGradGuard no_grad;
  const auto source = ids_for(vocabulary);
  auto target = source.roll(1, 1).masked_fill(source.eq(tokenizer::kPad), tokenizer::kPad);
  target.select(1, 0).fill_(tokenizer::kBos);
  const auto a = ours->forward(source, target), b = theirs->forward(source, target);
  const auto shown = (ours->family() == models::Family::encoder_only ? source : target)
                         .ne(tokenizer::kPad)
                         .unsqueeze(-1);
  const double scale = std::max(1.0, a.abs().max().item<double>());
  return (a - b).abs().masked_fill(shown.logical_not(), 0).max().item<double>() / scale;
}

void require_one_vocabulary(const run::LoadedRun& run) {
  if (run.tokenizers.labels)
    throw UsageError("--format huggingface takes models of tokens, not of labels");
  if (run.tokenizers.source.bytes() != run.tokenizers.target.bytes())
    throw UsageError(
        "--format huggingface needs one tokenizer of source and target (tokenizer.joint: true)");
}

/// The weights as the family has them.
training::Tensors tensors_of(const run::LoadedRun& run, const WrittenFamily& written) {
  auto weights = training::weights_of(*run.model);
  if (written.separates_sines) weights = with_separate_sines(weights);
  if (written.family == "marian" && !weights.contains("output_bias"))
    weights["output_bias"] = torch::zeros({run.tokenizers.target.vocabulary_size()});
  const auto layers = std::max(models::depth_of(run.experiment.model, models::Side::encoder),
                               models::depth_of(run.experiment.model, models::Side::decoder));
  return disassembled(weights, expanded(family_map(written.family).tensors, layers),
                      run.experiment.model);
}

}  // namespace

HubAgreement export_huggingface(const ExportRequest& request) {
  auto run = run::load_run(request.run, request.checkpoint);
  run.model->to(torch::kCPU);
  require_one_vocabulary(run);
  training::require_finite(training::weights_of(*run.model), request.run.string());
  const auto vocabulary = run.tokenizers.target.vocabulary_size();
  const auto written = write_family(run.experiment.model, vocabulary);
  HubAgreement agreement{.architecture = written.config.at("architectures").at(0)};
  run::write_folder(request.to, [&](const std::filesystem::path& part) {
    training::write_synced(part / "config.json", written.config.dump(1) + "\n");
    training::write_synced(part / "generation_config.json", generation_config().dump(1) + "\n");
    training::write_synced(part / "model.safetensors",
                           training::to_safetensors(tensors_of(run, written), {{"format", "pt"}}));
    write_tokenizer(part, written.family, run.tokenizers.target);
    training::write_synced(part / "README.md", card_of(request.run, run, agreement.architecture));
    const auto again = read_huggingface(part, {.unk = tokenizer::kUnk});
    models::Transformer read(again.options,
                             models::Vocabulary{vocabulary, vocabulary, tokenizer::kPad});
    training::load_weights(*read, again.weights);
    agreement.logits = difference(run.model, read, vocabulary);
    if (!(agreement.logits <= kRounding))
      throw training::CheckpointError(
          fmt::format("the model that was written differs from the trained one by {:.2g} of its "
                      "largest logit; nothing was kept",
                      agreement.logits));
  });
  return agreement;
}

}  // namespace ablate::exchange
