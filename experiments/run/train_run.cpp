#include "experiments/run/train_run.h"

#include "experiments/config/schema/printer.h"
#include "experiments/records/folders.h"
#include "experiments/records/result.h"
#include "experiments/records/run_start.h"
#include "experiments/run/embedding_vectors.h"
#include "experiments/run/evaluate.h"
#include "experiments/run/load_run.h"
#include "experiments/run/prepare_run.h"
#include "experiments/run/record_run.h"
#include "experiments/run/recorded_start.h"
#include "experiments/run/run_data.h"
#include "experiments/run/start_model.h"
#include "models/libtorch.h"
#include "models/random.h"
#include "training/checkpoint/checkpoint.h"
#include "training/checkpoint_selection.h"
#include "training/device.h"
#include "training/process/folder_claim.h"
#include "training/process/interrupt.h"
#include "training/process/rank_processes.h"
#include "training/ranks/rank_group.h"
#include "training/storage/durable_file.h"
#include "training/storage/finite_json.h"
#include "training/trained_parts.h"
#include "training/trainer.h"

namespace ablate::run {
namespace {

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
          .seed = job.seed(),
          .precision = prepared.environment.precision,
          .train = prepared.data.train.examples,
          .validation = prepared.data.validation.examples,
          .augmentation = prepared.data.augmentation(job.seed()),
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
  const auto seed = job.initial_seed();
  InitialModel initial{.model = make_model(job.experiment, prepared.data.tokenizers)};
  models::initialize(*initial.model, models::derive_seed(seed, "weights"));
  if (prepared.start && !continued)
    initial.weights = start_model(
        *initial.model, job.experiment,
        {*prepared.start, prepared.data.corpus, seed, prepared.data.tokenizers.labels}, messages);
  set_vectors(*initial.model, prepared.data.vectors);
  for (const auto& given : prepared.data.vectors)
    messages << given.coverage() << "\n" << std::flush;
  choose_trained(*initial.model, job.experiment.training, seed);
  if (const auto text = trained_text(*initial.model); !text.empty())
    messages << text << "\n" << std::flush;
  initial.model->to(prepared.environment.device);
  return initial;
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

TrainingOutcome train(training::TrainerInput input, const models::Transformer& model,
                      std::ostream& messages) {
  const auto steps = input.options.steps;
  training::Trainer trainer(model, std::move(input), {.stream = messages, .steps = steps});
  auto summary = trainer.run();
  return {std::move(summary), training::peak_memory(model->output_weight().device()),
          training::trained_parameter_count(*model)};
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

/// The work of the owner of the run's folder.
void work_on(const RunJob& job, const training::FolderClaim& claim, std::ostream& messages) {
  if (records::read_result(job.folder)) return;
  SharedTraining shared(job);
  auto prepared = prepare(job, messages);
  check_continued(job, prepared, messages);
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
  if (job.experiment.training.lora.given()) {  // whose adapters are merged
    initial.model = make_model(job.experiment, prepared.data.tokenizers);
    initial.model->to(prepared.environment.device);
  }
  auto result = evaluate_run(job, prepared, initial.model);
  const auto device = prepared.environment.device;
  if (device.is_cuda() && !continued)  // whose peak may have been an earlier process's
    training::write_record(
        messages, {.stage = training::Stage::evaluating, .gpu = training::gpu_memory(device)});
  add_training(result, trained, job, prepared);
  claim.check();
  write_scores(job, std::move(result));
}

}  // namespace

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
