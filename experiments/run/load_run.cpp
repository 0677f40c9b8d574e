#include "experiments/run/load_run.h"

#include <fmt/format.h>

#include "experiments/config/schema/printer.h"
#include "experiments/errors.h"
#include "experiments/records/folders.h"
#include "experiments/records/run_plan.h"
#include "experiments/records/run_start.h"
#include "experiments/run/recorded_start.h"
#include "models/hardware.h"
#include "tokenizer/special_tokens.h"
#include "tokenizer/text/digest.h"
#include "training/checkpoint/checkpoint.h"
#include "training/checkpoint_selection.h"
#include "training/device.h"
#include "training/storage/durable_file.h"
#include "training/storage/finite_json.h"
#include "training/weights.h"

namespace ablate::run {
namespace {

/// Writes the file and, beside it, its digest.
void save_sealed(const std::filesystem::path& file, const std::string& bytes) {
  training::write_durably(file, bytes);
  training::write_durably(file.string() + ".sha256", tokenizer::sha256(bytes) + "\n");
}

void require_digest(const std::filesystem::path& file, const std::string& sha256) {
  if (!std::filesystem::exists(file.string() + ".sha256"))
    throw tokenizer::TokenizerError(fmt::format(
        "{0} has no {0}.sha256 beside it, by which damage would be noticed; if it is the right "
        "one, make that file: sha256sum < {0} | cut -c1-64 > {0}.sha256",
        file.string()));
  if (training::read_bytes(file.string() + ".sha256") != sha256 + "\n")
    throw tokenizer::TokenizerError(
        fmt::format("{0} is not the file the run was trained with: its SHA-256 differs from the "
                    "one in {0}.sha256",
                    file.string()));
}

tokenizer::Tokenizer load_tokenizer(const std::filesystem::path& file) {
  auto model = tokenizer::Tokenizer::load(file);
  require_digest(file, model.sha256());
  return model;
}

/// nullopt if there is no such file.
std::optional<data::Labels> load_labels(const std::filesystem::path& file) {
  if (!std::filesystem::exists(file)) return {};
  const auto text = training::read_bytes(file);
  require_digest(file, tokenizer::sha256(text));
  try {
    return data::Labels::from_text(text);
  } catch (const data::DataError& error) {
    throw data::DataError(file.string() + ": " + error.what());
  }
}

/// The run in `path` with the weights that `select` takes from its checkpoints.
template <class Select>
LoadedRun loaded(const std::filesystem::path& path, const Select& select) {
  const records::RunFolder folder = path;
  records::require_run(folder);
  const auto experiment = records::planned_experiment(folder);
  models::allow_mkl_fast_path(experiment.training.mkl_fast_path);
  auto tokenizers = load_tokenizers(folder);
  auto model = make_model(experiment, tokenizers);
  const training::SelectedWeights chosen = select(folder.checkpoints(), experiment);
  training::load_weights(*model, chosen.weights);
  model->to(training::resolve(experiment.training.device));
  return {experiment, model, std::move(tokenizers), config::format_of(experiment), chosen.name};
}

}  // namespace

void save_tokenizers(const records::RunFolder& run, const data::Tokenizers& tokenizers) {
  if (tokenizers.labels) save_sealed(records::labels_of(run), tokenizers.labels->to_text());
  if (tokenizers.source.sha256() == tokenizers.target.sha256())
    return save_sealed(run.joint_tokenizer(), tokenizers.source.bytes());
  save_sealed(run.source_tokenizer(), tokenizers.source.bytes());
  save_sealed(run.target_tokenizer(), tokenizers.target.bytes());
}

data::Tokenizers load_tokenizers(const records::RunFolder& run) {
  auto labels = load_labels(records::labels_of(run));
  if (std::filesystem::exists(run.joint_tokenizer())) {
    const auto joint = load_tokenizer(run.joint_tokenizer());
    return {joint, joint, std::move(labels)};
  }
  return {load_tokenizer(run.source_tokenizer()), load_tokenizer(run.target_tokenizer()),
          std::move(labels)};
}

models::Vocabulary vocabulary_of(const config::Experiment& experiment,
                                 const data::Tokenizers& tokenizers) {
  const auto* tokens = std::get_if<data::Tokens>(&experiment.data);
  models::Vocabulary vocabulary{tokenizers.source.vocabulary_size(), tokenizers.outputs(),
                                tokenizer::kPad};
  if (tokens != nullptr && tokens->mask_documents) vocabulary.divider = tokenizer::kEos;
  if (data::reads_pairs(experiment.data)) vocabulary.separator = tokenizer::kEos;
  return vocabulary;
}

models::Transformer make_model(const config::Experiment& experiment,
                               const data::Tokenizers& tokenizers) {
  const bool labels = models::predicts_labels(experiment.model.output);
  if (labels != tokenizers.labels.has_value())
    throw tokenizer::TokenizerError(
        labels
            ? fmt::format("a model with a label head needs {}, its classes, beside the tokenizer",
                          records::kLabelsFile)
            : fmt::format("{} is beside the tokenizer of a model without a label head",
                          records::kLabelsFile));
  return models::Transformer(experiment.model, vocabulary_of(experiment, tokenizers));
}

LoadedRun load_run(const std::filesystem::path& folder, const std::string& which) {
  return loaded(folder, [&](const auto& checkpoints, const auto& experiment) {
    return training::select_weights(checkpoints, which, experiment.training);
  });
}

LoadedRun load_start(const std::filesystem::path& folder, const config::Experiment& own) {
  records::check_start(folder, own);
  return loaded(folder, [&](const auto& checkpoints, const auto& experiment) {
    return training::select_start(checkpoints, own.training.init_from, experiment.training);
  });
}

void write_folder(const std::filesystem::path& given,
                  const std::function<void(const std::filesystem::path&)>& fill) {
  const auto folder = std::filesystem::absolute(given / ".").lexically_normal().parent_path();
  if (std::filesystem::exists(folder))
    throw UsageError(given.string() + " exists; choose another --to or remove it");
  const auto parent = folder.parent_path();
  training::create_folder(parent);
  const auto part = training::temporary_beside(folder);
  std::filesystem::create_directory(part);
  try {
    fill(part);
    training::sync_folder(part);
    std::filesystem::rename(part, folder);
  } catch (...) {
    std::error_code ignored;
    std::filesystem::remove_all(part, ignored);
    throw;
  }
  training::sync_folder(parent);
}

void write_new_run(const std::filesystem::path& folder, const NewRun& run) {
  auto experiment = run.experiment;
  experiment.training.average = 0;
  experiment.training.ema = 0;
  experiment.training.patience = 0;
  experiment.training.init_from = {};
  // A run without a starting run must train.
  if (!experiment.training.trains()) experiment.training.steps = training::TrainingOptions{}.steps;
  experiment.training.pretrained_embeddings = {};
  experiment.training.freeze = {};
  experiment.training.lora = {};
  experiment.training.budget = {};
  const auto config = config::to_yaml(experiment);
  auto environment = run.environment;
  environment["ablate"] = ABLATE_VERSION;
  auto maker = start_on(torch::kCPU);
  maker.ended = true;
  environment["starts"] = {training::to_json(maker)};
  write_folder(folder, [&](const records::RunFolder& part) {
    save_tokenizers(part, run.tokenizers);
    training::save_checkpoint(part.checkpoints(), {.step = 0,
                                                   .model = run.weights,
                                                   .optimizer = {},
                                                   .state = nlohmann::json::object(),
                                                   .files = {{records::kConfigFile, config}}});
    training::write_synced(part.config(), config);
    training::write_synced(part.environment(), training::sealed_json(environment));
    for (const auto& [name, bytes] : run.files) training::write_synced(part.path / name, bytes);
  });
}

}  // namespace ablate::run
