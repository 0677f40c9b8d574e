#pragma once

#include <gtest/gtest.h>

#include <sstream>
#include <vector>

#include "models/random.h"
#include "tests/models/models.h"
#include "tests/models/variants.h"
#include "tests/says.h"
#include "tests/training/checkpoint_folder.h"
#include "tokenizer/special_tokens.h"
#include "training/trained_parts.h"
#include "training/trainer.h"

namespace ablate::training {

inline models::Transformer tiny() {
  return models::make(models::tiny("d_model: 8, layers: 1, feed_forward.d_hidden: 8"),
                      {10, 10, tokenizer::kPad}, 1);
}

/// The same, of which only those parts are trained that the options name.
inline models::Transformer tiny(const TrainingOptions& options) {
  auto model = tiny();
  choose_parts(*model, options, 1);
  return model;
}

/// The batches that such a training reads.
inline data::BatchStream batches_of(const TrainerInput& input) {
  return {input.train,
          {.tokens_per_batch = input.options.tokens_per_batch,
           .seed = models::derive_seed(input.seed, "order"),
           .start = {},
           .augmentation = {}}};
}

inline Checkpoint last_checkpoint(const std::filesystem::path& checkpoints) {
  return load_checkpoint(list_checkpoints(checkpoints).back().path);
}

/// As if the training had been killed before it saved again.
inline void remove_after_step_4(const std::filesystem::path& checkpoints) {
  for (const auto& found : list_checkpoints(checkpoints))
    if (found.step > 4) std::filesystem::remove_all(found.path);
}

class TrainerTest : public FolderTestCase {
 protected:
  TrainerTest() {
    for (int32_t i = 0; i < 40; ++i) {
      const int32_t id = 4 + i % 6;
      examples_.push_back({{id, tokenizer::kEos}, {id, id, tokenizer::kEos}});
    }
  }
  TrainerInput input() const {
    return {.options = {.steps = 12,
                        .tokens_per_batch = 24,
                        .schedule = Constant{{.peak = 1e-2}},
                        .max_length = 8,
                        .log_every = 3,
                        .save_every = 4,
                        .keep = 3},
            .dropout = 0.1,
            .seed = 5,
            .train = examples_,
            .validation = examples_,
            .folder = folder(),
            .log = log_,
            .checkpoints = checkpoints_};
  }
  TrainingSummary train(const TrainerInput& input, models::Transformer model) {
    Trainer trainer(std::move(model), input, {.stream = messages_, .steps = 12});
    return trainer.run();
  }
  /// Expects a training that goes on after step 4 to end as one that was never interrupted.
  void expect_goes_on(const TrainerInput& input) {
    train(input, tiny(input.options));
    const auto whole = last_checkpoint(input.checkpoints);
    remove_after_step_4(input.checkpoints);
    messages_.str("");  // of the trainings before
    train(input, tiny(input.options));
    EXPECT_TRUE(says(messages_.str(), "continuing after step 4"));
    const auto resumed = last_checkpoint(input.checkpoints);
    EXPECT_EQ(resumed.step, whole.step);
    expect_same(whole.model, resumed.model);
    expect_same(whole.optimizer, resumed.optimizer);
  }
  const std::filesystem::path checkpoints_ = folder() / "checkpoints",
                              log_ = folder() / "metrics.jsonl";
  std::vector<data::EncodedExample> examples_;
  std::ostringstream messages_;
};

}  // namespace ablate::training
