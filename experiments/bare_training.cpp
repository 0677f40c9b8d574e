#include "experiments/bare_training.h"

#include <fmt/format.h>

#include "data/batch_stream.h"
#include "experiments/evaluate.h"
#include "experiments/exit_code.h"
#include "experiments/run_data.h"
#include "experiments/run_environment.h"
#include "experiments/run_folder.h"
#include "models/random.h"
#include "training/likelihood.h"
#include "training/schedule.h"
#include "training/update.h"

namespace ablate::experiments {
namespace {

void check_plain(const training::TrainingOptions& options) {
  const auto refuse = [](const char* key) {
    throw UsageError(fmt::format("{} is not done by a bare loop; take it out with --set", key));
  };
  if (!std::holds_alternative<training::StepBudget>(options.budget)) refuse("training.budget");
  if (options.init_from.run || options.init_from.arm) refuse("training.init_from");
  if (options.pretrained_embeddings.source || options.pretrained_embeddings.target)
    refuse("training.pretrained_embeddings");
}

}  // namespace

std::vector<TestScores> train_bare(const RunSpecification& run, const RunPlace& place,
                                   std::ostream& messages) {
  check_plain(run.experiment.training);
  const auto environment = set_up(run, place, messages);
  const auto data = read_run_data(run.experiment, place.data_folder, {});
  const auto& options = run.experiment.training;
  const auto seed = static_cast<uint64_t>(run.seed);
  auto model = make_model(run.experiment, data.tokenizers);
  models::initialize(*model, models::derive_seed(seed, "weights"));
  model->to(environment.device);
  const auto optimizer = training::make_optimizer(options.optimizer, *model);
  data::BatchStream stream(data.train.examples, {.tokens_per_batch = options.tokens_per_batch,
                                                 .seed = models::derive_seed(seed, "order"),
                                                 .start = {},
                                                 .augmentation = data.augmentation()});
  for (int64_t step = 1; step <= options.steps; ++step) {
    std::vector<data::Batch> batches;
    for (int64_t i = 0; i < options.accumulate; ++i) batches.push_back(stream.next());
    training::update(
        model, *optimizer, batches,
        {.learning_rate = training::learning_rate(options.schedule, step, options.steps),
         .label_smoothing = options.label_smoothing,
         .clip = options.clip,
         .dropout = run.experiment.model.dropout,
         .dropout_seed = models::derive_seed(seed, "dropout", static_cast<uint64_t>(step)),
         .bfloat16 = environment.bfloat16});
    if (options.evaluate_every > 0 && step % options.evaluate_every == 0)
      training::likelihood(model, data.validation.examples,
                           {options.tokens_per_batch, data.masking()});
  }
  training::likelihood(model, data.validation.examples, {options.tokens_per_batch, data.masking()});
  const training::Translator translator{models::InferenceModel(model), data.tokenizers,
                                        data.format};
  return evaluate(translator, data.corpus.tests, run.experiment).tests;
}

}  // namespace ablate::experiments
