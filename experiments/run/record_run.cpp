#include "experiments/run/record_run.h"

#include "data/text_file.h"
#include "experiments/records/run_start.h"
#include "training/checkpoint_selection.h"
#include "training/likelihood.h"
#include "training/storage/durable_file.h"
#include "training/storage/run_log.h"
#include "training/tensorboard/event.h"
#include "training/weights.h"

namespace ablate::run {
namespace {

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

/// Updates of the run that this one starts from, and of those before it.
int64_t earlier_steps(const Prepared& prepared) {
  const auto source = prepared.start ? records::read_result(*prepared.start) : std::nullopt;
  return source ? records::all_steps(*source) : 0;
}

}  // namespace

records::RunResult evaluate_run(const RunJob& job, Prepared& prepared, models::Transformer& model) {
  const auto& experiment = job.experiment;
  const auto chosen = training::select_weights(job.folder.checkpoints(), "", experiment.training);
  training::load_weights(*model, chosen.weights);
  const auto validation =
      validation_of(model, prepared.data.validation,
                    {experiment.training.tokens_per_batch, prepared.data.masking()});
  const training::Translator translator{models::InferenceModel(model), prepared.data.tokenizers,
                                        prepared.data.format};
  static const std::vector<data::TestSet> kNone;
  const auto& tests = job.plan.trial ? kNone : prepared.data.corpus.tests;
  auto evaluation = evaluate(translator, tests, experiment);
  write_outputs(job.folder, evaluation, tests);
  auto result = result_of(model, validation, std::move(evaluation));
  result.study = job.plan.study;
  result.task = job.plan.task;
  result.arm = job.plan.arm;
  result.seed = job.plan.seed;
  result.skipped_lines = prepared.data.corpus.skipped;
  result.repeated_pairs = prepared.data.corpus.repeated;
  result.lopsided_pairs = prepared.data.corpus.lopsided;
  const auto cuts = prepared.data.cuts(job.seed());
  result.cut_sources = cuts.sources;
  result.cut_targets = cuts.targets;
  result.weights = chosen.name;
  result.target_vocabulary = prepared.data.tokenizers.outputs();
  return result;
}

void add_training(records::RunResult& result, const TrainingOutcome& trained, const RunJob& job,
                  const Prepared& prepared) {
  const auto& summary = trained.summary;
  result.steps = summary.state.step;
  result.skipped_updates = summary.state.skipped;
  if (summary.state.step > 0) result.train_loss = summary.train_loss;
  result.training_seconds = summary.state.seconds;
  result.training_flops = summary.state.flops;
  result.tokens = summary.state.tokens;
  const auto text = prepared.data.training_text();
  result.text_tokens = text.tokens;
  result.longest_sequence = text.longest;
  result.memory_bytes = trained.memory_bytes;
  result.trained_parameters = trained.trained_parameters;
  result.earlier_steps = earlier_steps(prepared);
  if (std::filesystem::exists(job.folder.log()))
    records::add_logged(result, training::read_run_log(job.folder.log()));
  result.shortfalls = shortfalls(job.experiment, prepared.data);
  result.data_sha256 = prepared.data.corpus.sha256;
  result.target_tokenizer_sha256 = prepared.data.tokenizers.target.sha256();
  result.hardware = records::hardware_of(records::read_starts(job.folder));
  result.initial_weights = records::read_initial_weights(job.folder);
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

}  // namespace ablate::run
