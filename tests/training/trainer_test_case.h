#pragma once

#include <gtest/gtest.h>

#include <sstream>
#include <vector>

#include "tests/models/models.h"
#include "tests/models/variants.h"
#include "tests/training/folder_test_case.h"
#include "tokenizer/special_tokens.h"
#include "training/trainer.h"

namespace ablate::training {

inline models::Transformer tiny() {
  return models::make(models::tiny("d_model: 8, layers: 1, feed_forward.d_hidden: 8"),
                      {10, 10, tokenizer::kPad}, 1);
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
            .log = folder() / "metrics.jsonl",
            .checkpoints = folder() / "checkpoints"};
  }
  TrainingSummary train(const TrainerInput& input, models::Transformer model) {
    Trainer trainer(std::move(model), input, {.stream = messages_, .steps = 12});
    return trainer.run();
  }
  std::vector<data::EncodedExample> examples_;
  std::ostringstream messages_;
};

}  // namespace ablate::training
