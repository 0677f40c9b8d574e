#include <gtest/gtest.h>

#include "tests/training/trainer_test_case.h"

namespace ablate::training {
namespace {

TEST_F(TrainerTest, ReadsAsManyBatchesAsTheWarmupOfTheBatchSays) {
  auto options = input();
  options.options.accumulate = 4;
  options.options.batch_warmup.share = 0.5;
  const auto state = train(options, tiny()).state;
  auto stream = batches_of(options);
  int64_t tokens = 0;
  for (int i = 0; i < 1 + 2 + 2 + 3 + 4 + 4 + 6 * 4; ++i) tokens += stream.next().tokens;
  EXPECT_EQ(state.tokens, tokens);
  EXPECT_EQ((data::StreamPosition{state.epoch, state.batch}), stream.position());
}

TEST_F(TrainerTest, CutsRowsWhileTheyWarmUp) {
  auto options = input();
  options.options.length_warmup = {.share = 0.5, .shortest = 1};
  // Eight rows in each of twelve batches: three updates of one token a row, three of two, six of
  // all.
  EXPECT_EQ(train(options, tiny()).state.tokens, 8 * (3 * 1 + 3 * 2 + 6 * 3));
}

TEST_F(TrainerTest, AnUpdateWithoutATokenToPredictIsNoDivergence) {
  for (auto& example : examples_) example.prompt_length = 1;
  auto options = input();
  options.options.length_warmup = {.share = 0.5, .shortest = 1};
  EXPECT_TRUE(says(refusal_of<c10::Error>([&] { train(options, tiny()); }),
                   "the batches of an update have no token to predict"));
}

TEST_F(TrainerTest, TrainsFurtherHeadsWhenTheCurriculumDoes) {
  auto options = tiny()->options();
  options.output = models::LmHead{.ahead = 1};
  for (const auto curriculum : {Curriculum::none, Curriculum::forward, Curriculum::reverse}) {
    models::Transformer model(options, models::Vocabulary{10, 10, tokenizer::kPad});
    models::initialize(*model, 1);
    const std::string name = "decoder.ahead.0.feed_forward.up.weight";
    const auto first = model->named_parameters()[name].clone();
    auto chosen = input();
    chosen.options.ahead.curriculum = curriculum;
    chosen.options.save_every = 6;
    train(chosen, model);
    const auto saved = list_checkpoints(checkpoints_);
    ASSERT_EQ(saved.size(), 2U);
    const auto middle = load_checkpoint(saved[0].path).model.at(name),
               last = load_checkpoint(saved[1].path).model.at(name);
    EXPECT_EQ(torch::equal(middle, first), curriculum == Curriculum::forward);
    EXPECT_EQ(torch::equal(last, middle), curriculum == Curriculum::reverse);
    std::filesystem::remove_all(checkpoints_);
  }
}

}  // namespace
}  // namespace ablate::training
