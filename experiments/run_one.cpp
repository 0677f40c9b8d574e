#include "experiments/run_one.h"

#include <fmt/format.h>
#include <torch/version.h>

#include <cmath>

#include "experiments/config/printer.h"
#include "experiments/embedding_vectors.h"
#include "experiments/evaluate.h"
#include "experiments/exit_code.h"
#include "experiments/model_cost.h"
#include "experiments/moefication.h"
#include "experiments/run_folder.h"
#include "experiments/tracking.h"
#include "models/libtorch.h"
#include "tokenizer/digest.h"
#include "training/checkpoint/checkpoint.h"
#include "training/checkpoint/durable_file.h"
#include "training/chosen_weights.h"
#include "training/device.h"
#include "training/likelihood.h"
#include "training/seed.h"
#include "training/trainer.h"

namespace ablate::experiments {
namespace {

/// What one process must keep to itself and to later ones: see environment.json.
struct Environment {
  int64_t threads;
  torch::Device device;
  bool bfloat16;
};

void check_same_configuration(const RunSpecification& run, const std::filesystem::path& folder) {
  const auto file = folder / "config.yaml";
  if (!std::filesystem::exists(file)) return;
  const auto changes = differences(read_experiment(file), run.experiment);
  if (changes.empty()) return;
  std::string list;
  for (const auto& change : changes)
    list += fmt::format("\n  {}: {} there, {} now", change.path, change.left, change.right);
  throw UsageError(fmt::format(
      "{} holds a run of another configuration; choose another --output or remove it:{}",
      folder.string(), list));
}

/// Threads are part of what makes a run repeatable, so a continued run keeps its first number.
int64_t threads_of(const RunSpecification& run, const RunPlace& place) {
  if (run.experiment.training.threads) return *run.experiment.training.threads;
  const auto file = place.folder / "environment.json";
  if (!std::filesystem::exists(file)) return place.threads;
  const auto recorded = nlohmann::json::parse(training::read_bytes(file), nullptr, false);
  return recorded.is_object() ? recorded.value("threads", place.threads) : place.threads;
}

Environment prepare(const RunSpecification& run, const RunPlace& place, std::ostream& messages) {
  const auto& options = run.experiment.training;
  const auto device = training::resolve(options.device);
  const bool wanted = options.precision == training::Precision::bf16;
  const Environment environment{threads_of(run, place), device,
                                wanted && training::has_bfloat16(device)};
  if (wanted && !environment.bfloat16)
    messages << "this machine has no bfloat16 products: training in fp32\n" << std::flush;
  at::set_num_threads(static_cast<int>(environment.threads));
  return environment;
}

struct Prepared {
  data::Corpus corpus;
  std::optional<std::filesystem::path> start;
  data::Tokenizers tokenizers;
  std::vector<EmbeddingVectors> vectors;
  data::EncodedSet train, validation;
};

/// The run that training starts from, if any.
std::optional<std::filesystem::path> start_folder(const RunSpecification& run,
                                                  const RunPlace& place) {
  const auto& start = run.experiment.training.start;
  if (start.run) return place.data_folder / *start.run;
  if (!start.arm) return {};
  const auto folder = place.folder.parent_path().parent_path() / *start.arm /
                      place.folder.filename();  // <task>/<arm>/seed-<n>
  if (!std::filesystem::exists(folder / "result.json"))
    throw UsageError(fmt::format("training.start.arm: {} is not finished; run the arm '{}' too",
                                 folder.string(), *start.arm));
  return folder;
}

/// The tokenizers of the run that training starts from, where it does; else new ones.
data::Tokenizers tokenizers_of(const Experiment& experiment, std::span<const data::Example> train,
                               const std::optional<std::filesystem::path>& start) {
  if (!std::holds_alternative<data::Labelled>(experiment.data))
    return start ? load_tokenizers(*start) : data::train_tokenizers(experiment.tokenizer, train);
  auto label = data::train_label_tokenizer(train);
  if (start) return {load_tokenizers(*start).source, std::move(label)};
  std::vector<std::string> texts;
  for (const auto& example : train) texts.push_back(example.source);
  return {tokenizer::Tokenizer::train(experiment.tokenizer, texts), std::move(label)};
}

Prepared prepare_data(const RunSpecification& run, const RunPlace& place) {
  const auto& experiment = run.experiment;
  auto corpus = data::load(experiment.data, place.data_folder, kDataSeed);
  auto start = start_folder(run, place);
  auto tokenizers = tokenizers_of(experiment, corpus.train, start);
  auto vectors = read_vectors(experiment, tokenizers, place.data_folder);
  auto train = encode_for(experiment, tokenizers, corpus.train);
  auto validation = encode_for(experiment, tokenizers, corpus.validation);
  return {std::move(corpus),  std::move(start), std::move(tokenizers),
          std::move(vectors), std::move(train), std::move(validation)};
}

void write_start(const RunSpecification& run, const RunPlace& place, const Prepared& prepared,
                 const Environment& environment) {
  save_tokenizers(place.folder, prepared.tokenizers);
  nlohmann::json record{
      {"ablate", "0.1.0"},
      {"libtorch", TORCH_VERSION},
      {"device", environment.device.str()},
      {"cpu_capability", at::get_cpu_capability()},
      {"threads", environment.threads},
      {"precision", environment.bfloat16 ? "bf16" : "fp32"},
      {"seed", run.seed},
      {"data_folder", std::filesystem::absolute(place.data_folder / ".").string()},
      {"data_sha256", prepared.corpus.sha256},
      {"source_tokenizer_sha256", prepared.tokenizers.source.sha256()},
      {"target_tokenizer_sha256", prepared.tokenizers.target.sha256()}};
  if (!prepared.vectors.empty()) record["vectors"] = to_json(prepared.vectors);
  training::write_durably(place.folder / "environment.json", record.dump(2) + "\n");
  training::write_durably(place.folder / "config.yaml", to_yaml(run.experiment, run.origins));
}

training::TrainerInput trainer_input(const RunSpecification& run, const RunPlace& place,
                                     const Prepared& prepared, const Environment& environment) {
  return {.options = run.experiment.training,
          .dropout = run.experiment.model.dropout,
          .seed = static_cast<uint64_t>(run.seed),
          .bfloat16 = environment.bfloat16,
          .train = prepared.train.examples,
          .validation = prepared.validation.examples,
          .masking = masking_of(run.experiment, prepared.tokenizers),
          .folder = place.folder,
          .files = {{"config.yaml", to_yaml(run.experiment, run.origins)},
                    {"source.model", prepared.tokenizers.source.bytes()},
                    {"target.model", prepared.tokenizers.target.bytes()}},
          .session = session_of(run, place.study)};
}

/// Weights from the run that training starts from; says which.
std::string start_model(models::TransformerImpl& model, const RunSpecification& run,
                        const Prepared& prepared) {
  if (!run.experiment.training.start.split) return start_from(*prepared.start, model);
  auto dense = load_run(*prepared.start, "");
  start_split(model, run.experiment, dense, prepared.corpus, static_cast<uint64_t>(run.seed));
  return "split the feed-forwards of " + prepared.start->string();
}

/// The model before the first step; a continued run takes its weights from a checkpoint later.
models::Transformer begin_model(const RunSpecification& run, const Prepared& prepared,
                                bool continued, std::ostream& messages) {
  torch::manual_seed(training::derive_seed(static_cast<uint64_t>(run.seed), "weights"));
  auto model = make_model(run.experiment, prepared.tokenizers);
  if (prepared.start && !continued)
    messages << start_model(*model, run, prepared) << "\n" << std::flush;
  set_vectors(*model, prepared.vectors, run.experiment.training.vectors.frozen);
  for (const auto& given : prepared.vectors) messages << given.coverage() << "\n" << std::flush;
  return model;
}

/// output-, source- and reference-<test set>.txt, a line for a line.
void write_outputs(const std::filesystem::path& folder, const Evaluation& evaluation,
                   const std::vector<data::TestSet>& tests) {
  for (size_t i = 0; i < evaluation.outputs.size(); ++i) {
    std::string outputs, sources, references;
    for (const auto& line : evaluation.outputs[i]) outputs += line + "\n";
    for (const auto& example : tests[i].examples) {
      sources += example.source + "\n";
      references += example.target + "\n";
    }
    const auto name = file_part(evaluation.tests[i].name) + ".txt";
    training::write_durably(folder / ("source-" + name), sources);
    training::write_durably(folder / ("reference-" + name), references);
    training::write_durably(folder / ("output-" + name), outputs);
  }
}

/// Pieces of a source or target of the first test set, its end mark included.
int64_t typical_length(const Evaluation& evaluation) {
  const auto& test = evaluation.tests.front();
  return 1 + std::llround(std::max(test.source_pieces, test.target_pieces));
}

RunResult evaluate_run(const RunSpecification& run, const RunPlace& place, Prepared& prepared,
                       models::Transformer& model) {
  const auto& experiment = run.experiment;
  const auto chosen =
      training::choose_weights(place.folder / "checkpoints", "", experiment.training);
  training::load_weights(*model, chosen.weights);
  const auto validation = training::likelihood(
      model, prepared.validation.examples,
      {experiment.training.tokens_per_batch, masking_of(experiment, prepared.tokenizers)});
  training::Translator translator{model, prepared.tokenizers, experiment.training.max_length};
  auto evaluation = evaluate(translator, prepared.corpus.tests, experiment);
  write_outputs(place.folder, evaluation, prepared.corpus.tests);
  return {.study = place.study,
          .task = run.task,
          .arm = run.arm,
          .seed = run.seed,
          .parameters = models::parameter_count(*model),
          .active_parameters = active_parameter_count(experiment.model, *model),
          .flops_per_token = flops_per_token(experiment.model, *model, typical_length(evaluation)),
          .skipped_lines = prepared.corpus.skipped,
          .cut_sources = prepared.train.cut_sources,
          .cut_targets = prepared.train.cut_targets,
          .validation_perplexity = validation.perplexity(),
          .validation_token_accuracy = validation.token_accuracy,
          .weights = chosen.name,
          .bleu_signature = evaluation.bleu_signature,
          .chrf_signature = evaluation.chrf_signature,
          .tests = std::move(evaluation.tests)};
}

}  // namespace

std::filesystem::path run_folder(const std::filesystem::path& output, const std::string& study,
                                 const RunSpecification& run) {
  return output / study / run.task / run.arm / fmt::format("seed-{}", run.seed);
}

std::filesystem::path data_folder_of(const std::filesystem::path& run, const std::string& given) {
  if (!given.empty()) return given;
  const auto file = run / "environment.json";
  const auto recorded = nlohmann::json::parse(training::read_bytes(file), nullptr, false);
  return recorded.is_object() ? recorded.value("data_folder", ".") : ".";
}

RunResult run_one(const RunSpecification& run, const RunPlace& place, std::ostream& messages) {
  const RunLock lock(place.folder);
  check_same_configuration(run, place.folder);
  if (auto finished = read_result(place.folder)) return *finished;
  const auto environment = prepare(run, place, messages);
  training::write_record(messages, {.stage = training::Stage::preparing});
  auto prepared = prepare_data(run, place);
  write_start(run, place, prepared, environment);
  const bool continued = !training::list_checkpoints(place.folder / "checkpoints").empty();
  auto model = begin_model(run, prepared, continued, messages);
  model->to(environment.device);
  training::Trainer trainer(model, trainer_input(run, place, prepared, environment),
                            {.stream = messages, .steps = run.experiment.training.steps});
  const auto summary = trainer.run();
  const auto memory = training::peak_memory(environment.device);
  training::write_record(messages, {.stage = training::Stage::evaluating});
  auto result = evaluate_run(run, place, prepared, model);
  result.steps = summary.state.step;
  result.skipped_updates = summary.state.skipped;
  result.train_loss = summary.train_loss;
  result.tokens_per_second = summary.tokens_per_second;
  result.training_seconds = summary.seconds;
  result.tokens = summary.state.tokens;
  result.memory_bytes = memory;
  result.data_sha256 = prepared.corpus.sha256;
  training::EventFile events(place.folder, result.steps + 1);
  events.add(result.steps, final_scalars(result));
  events.add(result.steps, training::SessionEnd{});
  training::write_durably(place.folder / "result.json", to_json(result).dump(2) + "\n");
  return result;
}

}  // namespace ablate::experiments
