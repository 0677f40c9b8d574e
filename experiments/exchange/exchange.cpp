#include "experiments/exchange/exchange.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <string>
#include <vector>

#include "data/random.h"
#include "experiments/config/schema/printer.h"
#include "experiments/errors.h"
#include "experiments/exchange/assembly.h"
#include "experiments/exchange/format/name_map.h"
#include "experiments/exchange/format/seal.h"
#include "experiments/records/run_start.h"
#include "experiments/run/evaluate.h"
#include "experiments/run/run_data.h"
#include "models/inference/inference_model.h"
#include "models/torchscript/torchscript.h"
#include "tokenizer/special_tokens.h"
#include "tokenizer/text/digest.h"
#include "training/checkpoint/safetensors.h"
#include "training/storage/durable_file.h"
#include "training/weights.h"

namespace ablate::exchange {
namespace {

constexpr size_t kExamples = 8;
constexpr int64_t kRandomLength = 12;

ExportExamples random_examples(const run::LoadedRun& run) {
  data::Random random(run::kDataSeed, "export");
  const auto side = [&](const tokenizer::Tokenizer& tokenizer, int64_t length) {
    std::vector<int32_t> ids;
    for (int64_t i = 0; i < length; ++i)
      ids.push_back(
          static_cast<int32_t>(random.between(tokenizer::kUnk, tokenizer.vocabulary_size() - 1)));
    ids.push_back(tokenizer::kEos);
    return ids;
  };
  ExportExamples examples;
  const bool started = run.format.start_token(run.tokenizers).has_value();
  for (int64_t i = 0; i < static_cast<int64_t>(kExamples); ++i) {
    auto source = side(run.tokenizers.source, 1 + i % kRandomLength);
    auto target =
        run.tokenizers.labels ? std::vector<int32_t>{0} : side(run.tokenizers.target, 2 + i);
    const bool whole = started || run.experiment.model.family == models::Family::encoder_only;
    examples.push_back({.source = std::move(source),
                        .target = std::move(target),
                        .prompt_length = whole ? 0 : 1,
                        .started = whole});
  }
  return examples;
}

/// The first sources of the first test set, or random ids if the data cannot be read.
ExportExamples examples_for(const run::LoadedRun& run, const ExportRequest& request,
                            std::ostream& messages) {
  try {
    const auto corpus = data::load(
        run.experiment.data, records::data_folder_of(request.run, request.data), run::kDataSeed);
    auto examples = corpus.tests.front().examples;
    if (examples.size() > kExamples) examples.resize(kExamples);
    auto encoded = run.format.encode(examples, run.tokenizers).examples;
    if (encoded.size() > kExamples) encoded.resize(kExamples);
    return encoded;
  } catch (const data::DataError& error) {
    messages << "checking with random tokens instead of the run's data: " << error.what() << "\n";
    return random_examples(run);
  }
}

models::SpecialTokens special_tokens_of(const run::LoadedRun& run) {
  return {.pad = tokenizer::kPad,
          .bos = tokenizer::kBos,
          .eos = tokenizer::kEos,
          .start = run.format.start_token(run.tokenizers)};
}

/// The keys of decoding by which the run's own outputs may differ from those that the file's
/// methods give unless they are told; empty if there are no such keys, or if the model writes no
/// text.
std::string note_on_decoding(const run::LoadedRun& run) {
  if (run.tokenizers.labels || run.experiment.model.family == models::Family::encoder_only)
    return "";
  std::vector<std::string> keys;
  for (const auto& [path, own, usual] :
       config::differences({.decoding = run.experiment.decoding}, config::Experiment()))
    if (path != "decoding.batch" && path != "decoding.draft")
      keys.push_back(fmt::format("{}: {}", path, own));
  if (keys.empty()) return "";
  return fmt::format(
      "note: the run writes its outputs with {}, of which greedy, beam and sample know only what "
      "they are given (docs/export.md)\n",
      fmt::join(keys, ", "));
}

void require_agreement(const Agreement& agreement, torch::ScalarType type,
                       const std::filesystem::path& file, const std::string& after) {
  if (!agrees(agreement, type))
    throw training::CheckpointError(
        fmt::format("{}: the exported model differs from the trained one: {}{}", file.string(),
                    to_text(agreement), after));
}

void require_known_origin(const std::string& bytes, const VerifyRequest& request) {
  const auto digest = tokenizer::sha256(bytes);
  if (request.trusted || digest == request.sha256) return;
  if (!request.sha256.empty())
    throw training::CheckpointError(fmt::format("{}: its SHA-256 is {}, not {}; it was not loaded",
                                                request.file.string(), digest, request.sha256));
  throw UsageError(
      fmt::format("{} is whole, but a TorchScript file is a program, and its author is unknown; "
                  "give the SHA-256 that `ablate export` printed (--sha256; this file's is {}) "
                  "or --trust",
                  request.file.string(), digest));
}

models::Transformer model_of(const Archive& archive, const std::filesystem::path& file) {
  auto model = run::make_model(archive.contents.experiment, archive.contents.tokenizers);
  const auto weights = models::weights_of(archive.module);
  const auto embedding = weights.find("embedding");
  const auto& any = embedding != weights.end() ? embedding->second : weights.begin()->second;
  models::cast_weights(*model, any.scalar_type());
  training::require_finite(weights, file.string());
  training::load_weights(*model, weights);
  return model;
}

}  // namespace

Agreement export_torchscript(const ExportRequest& request, std::ostream& messages) {
  if (std::filesystem::exists(request.to))
    throw UsageError(request.to.string() + " exists; choose another --to or remove it");
  auto run = run::load_run(request.run, request.checkpoint);
  auto& model = run.model;
  model->to(torch::kCPU);
  models::cast_weights(*model, request.type);
  training::require_finite(training::weights_of(*model), request.run.string());
  const ExportContents contents{.experiment = run.experiment,
                                .tokenizers = run.tokenizers,
                                .examples = examples_for(run, request, messages),
                                .weights = run.weights};
  const auto module = models::to_torchscript(model, special_tokens_of(run), run.format.unwritten());
  const auto bytes = to_archive(module, contents);
  auto archive = from_archive(bytes, request.to.string());
  const auto agreement = compare(model, archive.module, contents);
  require_agreement(agreement, request.type, request.to, "; no file was written");
  training::write_durably(request.to, bytes);
  messages << note_on_decoding(run);
  return agreement;
}

Agreement verify_torchscript(const VerifyRequest& request) {
  const auto& file = request.file;
  const auto bytes = training::read_bytes(file);
  check_seal(bytes, file.string());
  require_known_origin(bytes, request);
  auto archive = from_archive(bytes, file.string());
  auto model = model_of(archive, file);
  const auto agreement = compare(model, archive.module, archive.contents);
  require_agreement(agreement, model->output_weight().scalar_type(), file, "");
  return agreement;
}

void export_safetensors(const ExportRequest& request) {
  auto run = run::load_run(request.run, request.checkpoint);
  models::cast_weights(*run.model, request.type);
  training::require_finite(training::weights_of(*run.model), request.run.string());
  run::write_folder(request.to, [&](const std::filesystem::path& part) {
    training::write_synced(
        part / "model.safetensors",
        training::to_safetensors(
            training::weights_of(*run.model),
            {{"format", "pt"}, {"ablate", ABLATE_VERSION}, {"weights", run.weights}}));
    training::write_synced(records::RunFolder(part).config(), config::to_yaml(run.experiment));
    run::save_tokenizers(part, run.tokenizers);
  });
}

int64_t import_safetensors(const ImportRequest& request) {
  const bool folder = std::filesystem::is_directory(request.from);
  const auto weights = folder ? request.from / "model.safetensors" : request.from;
  const auto config =
      request.config.empty() ? records::RunFolder(request.from).config() : request.config;
  const auto tokenizers = request.tokenizers.empty() ? request.from : request.tokenizers;
  if (!folder && (request.config.empty() || request.tokenizers.empty()))
    throw UsageError("a single file needs --config and --tokenizers beside it");
  const auto experiment = config::read_experiment(config);
  const auto loaded_tokenizers = run::load_tokenizers(tokenizers);
  const auto model = run::make_model(experiment, loaded_tokenizers);
  const auto foreign = training::read_safetensors(weights);
  const auto origins =
      request.names.empty()
          ? Origins()
          : with_tying(expanded(read_origins(request.names), most_layers(experiment.model)),
                       ties_output(experiment.model.tying));
  Assembly assembly(foreign, origins, {.source = weights.string()});
  training::Weights taken;
  for (const auto& [name, tensor] : training::weights_of(*model))
    taken[name] = assembly.make(name, tensor);
  training::require_finite(taken, weights.string());
  for (const auto& [name, origin] : origins)
    if (!taken.contains(name))
      throw training::CheckpointError(request.names.string() + ": the model has no weight '" +
                                      name + "'");
  run::write_new_run(
      request.to, {.experiment = experiment,
                   .tokenizers = loaded_tokenizers,
                   .weights = taken,
                   .environment = {{"imported_from", std::filesystem::absolute(weights).string()},
                                   {"data_folder", "."}},
                   .files = {}});
  return std::ssize(assembly.unused());
}

}  // namespace ablate::exchange
