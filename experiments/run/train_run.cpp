#include "experiments/run/train_run.h"

#include <fmt/format.h>

#include "data/text_file.h"
#include "experiments/config/schema/option.h"
#include "experiments/config/schema/printer.h"
#include "experiments/errors.h"
#include "experiments/records/folders.h"
#include "experiments/records/result.h"
#include "experiments/records/run_start.h"
#include "experiments/run/evaluate.h"
#include "experiments/run/load_run.h"
#include "experiments/run/prepare_run.h"
#include "experiments/run/recorded_start.h"
#include "experiments/run/run_data.h"
#include "experiments/run/start_model.h"
#include "models/libtorch.h"
#include "models/random.h"
#include "tokenizer/text/digest.h"
#include "training/checkpoint/checkpoint.h"
#include "training/checkpoint_selection.h"
#include "training/device.h"
#include "training/likelihood.h"
#include "training/process/folder_claim.h"
#include "training/process/interrupt.h"
#include "training/process/machine.h"
#include "training/process/rank_processes.h"
#include "training/ranks/rank_group.h"
#include "training/storage/durable_file.h"
#include "training/storage/finite_json.h"
#include "training/trainer.h"

namespace ablate::run {
namespace {

/// Throws DataError if a continued run would go on with other data than it began with.
void check_same_data(const records::RunFolder& folder, const data::Corpus& corpus) {
  const auto recorded = records::recorded_environment(folder);
  if (!recorded.contains("data_sha256") || recorded.at("data_sha256") == corpus.sha256) return;
  throw data::DataError(folder.path.string() +
                        " began with other data: their SHA-256 differs; restore them, choose "
                        "another --output or remove that folder");
}

/// Reports that a continued run goes on with another program than it began with.
void note_other_program(const records::RunFolder& folder, std::ostream& messages) {
  const auto starts = records::read_starts(folder);
  if (!starts.empty() && starts.front().program_sha256 != training::program_sha256())
    messages << "this run began with another build of ablate, so it may not end as it would have\n"
             << std::flush;
}

/// The facts of environment.json, besides the starts.
nlohmann::json environment_facts(const RunJob& job, const Prepared& prepared) {
  const auto& environment = prepared.environment;
  nlohmann::json record{{"ablate", ABLATE_VERSION},
                        {"device", environment.device.str()},
                        {"threads", environment.threads},
                        {"precision", config::word_of(environment.precision)},
                        {"mkl_fast_path", environment.mkl_fast_path},
                        {"seed", job.plan.seed},
                        {"steps", prepared.steps},
                        {"data_folder", job.plan.data_folder},
                        {"data_sha256", prepared.data.corpus.sha256},
                        {"source_tokenizer_sha256", prepared.data.tokenizers.source.sha256()},
                        {"target_tokenizer_sha256", prepared.data.tokenizers.target.sha256()}};
  if (const auto& labels = prepared.data.tokenizers.labels)
    record["labels_sha256"] = tokenizer::sha256(labels->to_text());
  if (!prepared.data.vectors.empty()) record["vectors"] = to_json(prepared.data.vectors);
  return record;
}

/// The files in every checkpoint.
std::map<std::string, std::string> files_of(const RunJob& job, const data::Tokenizers& tokenizers) {
  std::map<std::string, std::string> files{
      {records::kConfigFile, training::read_bytes(job.folder.config())},
      {records::kSourceTokenizerFile, tokenizers.source.bytes()},
      {records::kTargetTokenizerFile, tokenizers.target.bytes()}};
  if (tokenizers.labels) files[records::kLabelsFile] = tokenizers.labels->to_text();
  return files;
}

training::TrainerInput trainer_input(const RunJob& job, const Prepared& prepared,
                                     const training::RankGroup& ranks) {
  auto options = job.experiment.training;
  options.steps = prepared.steps;
  return {.options = std::move(options),
          .dropout = job.experiment.model.dropout,
          .seed = static_cast<uint64_t>(job.plan.seed),
          .precision = prepared.environment.precision,
          .train = prepared.data.train.examples,
          .validation = prepared.data.validation.examples,
          .augmentation = prepared.data.augmentation(static_cast<uint64_t>(job.plan.seed)),
          .folder = job.folder.path,
          .log = job.folder.log(),
          .checkpoints = job.folder.checkpoints(),
          .files = files_of(job, prepared.data.tokenizers),
          .session = session_of(job.plan, job.experiment),
          .ranks = ranks};
}

/// A model before its first step, and which weights of another run it starts from; empty: of none.
struct InitialModel {
  models::Transformer model{nullptr};
  std::string weights;
};

/// The model before the first step; a continued run takes its weights from a checkpoint later.
InitialModel begin_model(const RunJob& job, const Prepared& prepared, bool continued,
                         std::ostream& messages) {
  const auto seed = static_cast<uint64_t>(job.plan.seed);
  InitialModel initial{.model = make_model(job.experiment, prepared.data.tokenizers)};
  models::initialize(*initial.model, models::derive_seed(seed, "weights"));
  if (prepared.start && !continued)
    initial.weights = start_model(
        *initial.model, job.experiment,
        {*prepared.start, prepared.data.corpus, seed, prepared.data.tokenizers.labels}, messages);
  set_vectors(*initial.model, prepared.data.vectors,
              job.experiment.training.pretrained_embeddings.frozen);
  for (const auto& given : prepared.data.vectors)
    messages << given.coverage() << "\n" << std::flush;
  initial.model->to(prepared.environment.device);
  return initial;
}

void write_outputs(const records::RunFolder& folder, const Evaluation& evaluation,
                   const std::vector<data::TestSet>& tests) {
  for (size_t i = 0; i < evaluation.outputs.size(); ++i) {
    std::vector<std::string> sources, references;
    for (const auto& example : tests[i].examples) {
      sources.push_back(example.source);
      references.push_back(example.target);
    }
    const auto& name = evaluation.tests[i].name;
    training::write_durably(folder.sources(name), data::text_of(sources));
    training::write_durably(folder.references(name), data::text_of(references));
    training::write_durably(folder.outputs(name), data::text_of(evaluation.outputs[i]));
  }
}

records::RunResult evaluate_run(const RunJob& job, Prepared& prepared, models::Transformer& model) {
  const auto& experiment = job.experiment;
  const auto chosen = training::select_weights(job.folder.checkpoints(), "", experiment.training);
  training::require_finite(chosen.weights,
                           fmt::format("{} ({})", job.folder.checkpoints().string(), chosen.name));
  training::load_weights(*model, chosen.weights);
  const auto validation =
      validation_of(model, prepared.data.validation,
                    {experiment.training.tokens_per_batch, prepared.data.masking()});
  const training::Translator translator{models::InferenceModel(model), prepared.data.tokenizers,
                                        prepared.data.format};
  auto evaluation = evaluate(translator, prepared.data.corpus.tests, experiment);
  write_outputs(job.folder, evaluation, prepared.data.corpus.tests);
  auto result = result_of(model, validation, std::move(evaluation));
  result.study = job.plan.study;
  result.task = job.plan.task;
  result.arm = job.plan.arm;
  result.seed = job.plan.seed;
  result.skipped_lines = prepared.data.corpus.skipped;
  const auto cuts = prepared.data.cuts(static_cast<uint64_t>(job.plan.seed));
  result.cut_sources = cuts.sources;
  result.cut_targets = cuts.targets;
  result.weights = chosen.name;
  result.target_vocabulary = prepared.data.tokenizers.target.vocabulary_size();
  return result;
}

/// The work of a rank that is not the first.
void share_training(const RunJob& job) {
  if (!job.experiment.training.trains() || records::read_result(job.folder)) return;
  std::ostream nowhere(nullptr);
  const auto prepared = prepare(job, nowhere);
  const bool continued = !training::list_checkpoints(job.folder.checkpoints()).empty();
  auto model = begin_model(job, prepared, continued, nowhere).model;
  const training::RankGroup ranks(*job.place, prepared.environment.device);
  training::Trainer(model, trainer_input(job, prepared, ranks),
                    {.stream = nowhere, .steps = prepared.steps})
      .run();
}

/// The first rank's connection to the others, which it starts unless a launcher has.
class SharedTraining {
 public:
  explicit SharedTraining(const RunJob& job) {
    if (!job.experiment.training.trains()) return;
    if (job.ranks > 1)  // before it starts the others, each of which would fail separately
      training::require_connection(training::resolve(job.experiment.training.device));
    if (job.place) place_ = *job.place;
    if (job.place || job.ranks == 1) return;
    place_ = {.size = job.ranks,
              .file = training::temporary_beside(job.folder.path / "ranks"),
              .timeout = job.rank_timeout,
              .lost = [this] { return processes_->lost(); }};
    processes_.emplace(job.rank_command, job.ranks, place_.file);
  }

  const training::RankGroup& connect(torch::Device device) {
    if (place_.size == 1) return training::RankGroup::alone();
    return *(ranks_ = std::make_unique<training::RankGroup>(place_, device));
  }

  void finish() {
    if (processes_) processes_->wait();
  }

 private:
  training::RankPlace place_;
  std::unique_ptr<training::RankGroup> ranks_;
  std::optional<training::RankProcesses> processes_;  // ends before the connection does
};

/// The results of a training besides its checkpoints.
struct TrainingOutcome {
  training::TrainingSummary summary = {};
  int64_t memory_bytes = 0;
};

TrainingOutcome train(training::TrainerInput input, const models::Transformer& model,
                      std::ostream& messages) {
  const auto steps = input.options.steps;
  training::Trainer trainer(model, std::move(input), {.stream = messages, .steps = steps});
  auto summary = trainer.run();
  return {std::move(summary), training::peak_memory(model->output_weight().device())};
}

/// Logs the observations of weights that a run only evaluates.
void observe_start(const training::TrainerInput& input, models::Transformer& model) {
  if (!input.options.observe.looks()) return;
  training::RunLog log(input.log, {});
  for (const auto& one : training::observe_validation(model, input))
    log.append(training::to_json(one, 0));
  log.sync();
}

/// Saves the weights of a run that only evaluates as a trained run saves its own.
void save_initial_checkpoint(const RunJob& job, const training::TrainerInput& input,
                             InitialModel& initial) {
  input.check_owner();
  observe_start(input, initial.model);
  training::save_checkpoint(
      job.folder.checkpoints(),
      {.step = 0,
       .model = training::weights_of(*initial.model),
       .optimizer = {},
       .state = nlohmann::json::object({{training::kWeightsRecord, initial.weights}}),
       .files = input.files});
}

/// Updates of the run that this one starts from, and of those before it.
int64_t earlier_steps(const Prepared& prepared) {
  const auto source = prepared.start ? records::read_result(*prepared.start) : std::nullopt;
  return source ? records::all_steps(*source) : 0;
}

void add_training(records::RunResult& result, const TrainingOutcome& trained) {
  const auto& [summary, memory_bytes] = trained;
  result.steps = summary.state.step;
  result.skipped_updates = summary.state.skipped;
  if (summary.state.step > 0) result.train_loss = summary.train_loss;
  result.tokens_per_second = summary.tokens_per_second;
  result.training_seconds = summary.seconds;
  result.tokens = summary.state.tokens;
  result.memory_bytes = memory_bytes;
}

void write_scores(const RunJob& job, records::RunResult result) {
  training::EventFile events(job.folder.path, result.steps + 1);
  if (result.steps == 0) {
    events.add(0, session_of(job.plan, job.experiment));
    if (std::filesystem::exists(job.folder.log()))
      for (const auto& line : training::read_run_log(job.folder.log()))
        events.add(0, training::scalars_of(line));
  }
  events.add(result.steps, final_scalars(result));
  events.add(result.steps, training::SessionEnd{});
  records::write_result(job.folder, std::move(result));
}

/// The work of the owner of the run's folder.
void work_on(const RunJob& job, const training::FolderClaim& claim, std::ostream& messages) {
  if (records::read_result(job.folder)) return;
  SharedTraining shared(job);
  auto prepared = prepare(job, messages);
  check_same_data(job.folder, prepared.data.corpus);
  note_other_program(job.folder, messages);
  save_tokenizers(job.folder.path, prepared.data.tokenizers);
  const bool continued = !training::list_checkpoints(job.folder.checkpoints()).empty();
  const RecordedStart start(job.folder, environment_facts(job, prepared),
                            start_on(prepared.environment.device), claim);
  auto initial = begin_model(job, prepared, continued, messages);
  if (!continued) records::write_initial_weights(job.folder, initial_weights_of(*initial.model));
  auto input = trainer_input(job, prepared, shared.connect(prepared.environment.device));
  input.check_owner = [&claim] { claim.check(); };
  TrainingOutcome trained;
  if (job.experiment.training.trains())
    trained = train(std::move(input), initial.model, messages);
  else if (!continued)
    save_initial_checkpoint(job, input, initial);
  shared.finish();
  if (training::stop_requested())  // at the last update; an earlier stop throws in the loop
    throw training::Interrupted("stopped after the training; saved in " + job.folder.path.string());
  training::write_record(messages, {.stage = training::Stage::evaluating});
  auto result = evaluate_run(job, prepared, initial.model);
  add_training(result, trained);
  result.earlier_steps = earlier_steps(prepared);
  if (std::filesystem::exists(job.folder.log()))
    records::add_observed(result, training::read_run_log(job.folder.log()));
  result.shortfalls = shortfalls(job.experiment, prepared.data);
  result.data_sha256 = prepared.data.corpus.sha256;
  result.target_tokenizer_sha256 = prepared.data.tokenizers.target.sha256();
  result.hardware = records::hardware_of(records::read_starts(job.folder));
  result.initial_weights = records::read_initial_weights(job.folder);
  claim.check();
  write_scores(job, std::move(result));
}

}  // namespace

RunJob job_of(const records::RunFolder& folder) {
  return {.folder = folder,
          .plan = records::read_plan(folder),
          .experiment = records::planned_experiment(folder)};
}

void train_run(const RunJob& job, std::ostream& messages) {
  if (job.place && job.place->rank > 0) return share_training(job);
  const training::FolderClaim claim(job.folder.path, [&] {
    messages << "waiting for another process that works on " + job.folder.path.string() + "\n"
             << std::flush;
  });
  training::remove_leftover_files(job.folder.path);
  try {
    work_on(job, claim, messages);
  } catch (const std::exception&) {
    claim.check();  // after losing the folder, its new owner may cause any error
    throw;
  }
}

}  // namespace ablate::run
