#include "experiments/run/load_run.h"

#include <fmt/format.h>

#include "experiments/config/printer.h"
#include "experiments/records/exit_code.h"
#include "experiments/records/run_plan.h"
#include "experiments/run/recorded_start.h"
#include "models/mkl.h"
#include "tokenizer/special_ids.h"
#include "training/checkpoint/checkpoint.h"
#include "training/checkpoint_selection.h"
#include "training/device.h"
#include "training/storage/checkpoint_error.h"
#include "training/storage/durable_file.h"
#include "training/storage/finite_json.h"
#include "training/storage/sealed_json.h"
#include "training/weights.h"

namespace ablate::run {
namespace {

void save_tokenizer(const std::filesystem::path& file, const tokenizer::Tokenizer& model) {
  training::write_durably(file, model.bytes());
  training::write_durably(file.string() + ".sha256", model.sha256() + "\n");
}

tokenizer::Tokenizer load_tokenizer(const std::filesystem::path& file) {
  auto model = tokenizer::Tokenizer::load(file);
  const auto recorded = training::read_bytes(file.string() + ".sha256");
  if (recorded != model.sha256() + "\n")
    throw tokenizer::TokenizerError(
        fmt::format("{0} is not the model the run was trained with: its SHA-256 differs from the "
                    "one in {0}.sha256",
                    file.string()));
  return model;
}

/// The weight that `tensor`, named `name`, can start from: the one of its name and shape, or, of a
/// mixture, the dense feed-forward's of each expert's shape (sparse upcycling, Komatsuzaki et al.
/// 2022). Undefined where there is none.
torch::Tensor weight_for(const std::string& name, const torch::Tensor& tensor,
                         const training::Weights& weights) {
  const auto found = weights.find(name);
  if (found != weights.end() && found->second.sizes() == tensor.sizes()) return found->second;
  constexpr std::string_view kBias = "_bias";
  const bool bias = name.ends_with(kBias);
  const auto dense =
      weights.find(bias ? name.substr(0, name.size() - kBias.size()) + ".bias" : name + ".weight");
  if (dense == weights.end() || tensor.dim() < 2) return {};
  // Of a mixture a neuron's weights are a row in both layers, of a dense one a column in the
  // second.
  const auto weight = name.ends_with("down") ? dense->second.t() : dense->second;
  return weight.sizes() == tensor.sizes().slice(1) ? weight.unsqueeze(0).expand_as(tensor)
                                                   : torch::Tensor();
}

}  // namespace

void save_tokenizers(const records::RunFolder& run, const data::Tokenizers& tokenizers) {
  if (tokenizers.source.sha256() == tokenizers.target.sha256())
    return save_tokenizer(run.joint_tokenizer(), tokenizers.source);
  save_tokenizer(run.source_tokenizer(), tokenizers.source);
  save_tokenizer(run.target_tokenizer(), tokenizers.target);
}

data::Tokenizers load_tokenizers(const records::RunFolder& run) {
  if (std::filesystem::exists(run.joint_tokenizer())) {
    const auto joint = load_tokenizer(run.joint_tokenizer());
    return {joint, joint};
  }
  return {load_tokenizer(run.source_tokenizer()), load_tokenizer(run.target_tokenizer())};
}

models::Transformer make_model(const config::Experiment& experiment,
                               const data::Tokenizers& tokenizers) {
  return models::Transformer(
      experiment.model, models::Vocabulary{tokenizers.source.vocabulary_size(),
                                           tokenizers.target.vocabulary_size(), tokenizer::kPad});
}

LoadedRun load_run(const std::filesystem::path& path, const std::string& which) {
  const records::RunFolder folder = path;
  if (!std::filesystem::exists(folder.config()))
    throw training::CheckpointError(path.string() +
                                    " is no run folder: it holds no config.yaml (a run folder is "
                                    "<output>/<study>/<task>/<arm>/seed-<n>)");
  const auto experiment = records::planned_experiment(folder);
  models::allow_mkl_fast_path(experiment.training.mkl_fast_path);
  auto tokenizers = load_tokenizers(folder);
  auto model = make_model(experiment, tokenizers);
  const auto chosen = training::select_weights(folder.checkpoints(), which, experiment.training);
  training::load_weights(*model, chosen.weights);
  model->to(training::resolve(experiment.training.device));
  return {experiment, model, std::move(tokenizers), config::format_of(experiment), chosen.name};
}

void write_folder(const std::filesystem::path& given,
                  const std::function<void(const std::filesystem::path&)>& fill) {
  const auto folder = std::filesystem::absolute(given / ".").lexically_normal().parent_path();
  if (std::filesystem::exists(folder))
    throw records::UsageError(given.string() + " exists; choose another --to or remove it");
  const auto parent = folder.parent_path();
  std::filesystem::create_directories(parent);
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
  experiment.training.pretrained_embeddings = {};
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

std::string start_from(const std::filesystem::path& folder, models::TransformerImpl& model) {
  const auto started = load_run(folder, "");
  const auto weights = training::weights_of(*started.model);
  torch::NoGradGuard no_grad;
  size_t taken = 0;
  std::string own;
  for (auto& [name, tensor] : training::weights_of(model)) {
    const auto found = weight_for(name, tensor, weights);
    if (found.defined()) {
      torch::Tensor(tensor).copy_(found);
      ++taken;
    } else {
      own += (own.empty() ? "" : ", ") + name;
    }
  }
  if (taken == 0)
    throw training::CheckpointError(folder.string() +
                                    " has no weight of this model's names and shapes");
  return fmt::format("starting from {} weights of {}{}", taken, folder.string(),
                     own.empty() ? "" : "; new: " + own);
}

}  // namespace ablate::run
