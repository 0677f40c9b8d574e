#include <gtest/gtest.h>

#include "tests/says.h"
#include "training/weights.h"

namespace ablate::training {
namespace {

/// One weight [2] and one buffer of whole numbers [2].
class Weighted : public torch::nn::Module {
 public:
  Weighted()
      : weight(register_parameter("weight", torch::tensor({1.0, 2.0}))),
        chosen(register_buffer("chosen", torch::tensor({1, 2}))) {}
  void set(double value, int64_t id) {
    torch::NoGradGuard no_grad;
    weight.fill_(value);
    chosen.fill_(id);
  }
  torch::Tensor weight, chosen;
};

TEST(Ema, MovesByOneMinusDecayOfTheDistanceAndTakesWholeNumbersOver) {
  Weighted model;
  Ema ema(model, 0.75);
  model.set(5.0, 9);
  ema.update();
  EXPECT_TRUE(torch::allclose(ema.weights().at("weight"), torch::tensor({2.0, 2.75})));
  EXPECT_TRUE(torch::equal(ema.weights().at("chosen"), torch::tensor({9, 9})));
}

TEST(Ema, SharesNoMemoryWithTheModel) {
  Weighted model;
  const Ema ema(model, 0.5);
  model.set(7.0, 7);
  EXPECT_TRUE(torch::equal(ema.weights().at("weight"), torch::tensor({1.0, 2.0})));
  EXPECT_TRUE(torch::equal(model.weight, torch::tensor({7.0, 7.0})));
}

TEST(Ema, GoesThroughACheckpoint) {
  Weighted model;
  Ema ema(model, 0.5);
  model.set(3.0, 4);
  ema.update();
  Weights saved{{"first.weight", torch::zeros(2)}};
  ema.save_to(saved);
  EXPECT_EQ(saved.size(), 3U);
  Ema resumed(model, 0.5);
  resumed.load(extract_ema(saved));
  EXPECT_EQ(saved.size(), 1U) << "what is left is the optimizer's";
  EXPECT_TRUE(torch::equal(resumed.weights().at("weight"), torch::tensor({2.0, 2.5})));
}

TEST(Ema, ACheckpointWithoutAnAverageIsRefusedByName) {
  Weighted model;
  Ema ema(model, 0.5);
  EXPECT_TRUE(says(refusal_of<c10::Error>([&] {
                     ema.load({{"weight", torch::zeros(2)}});
                   }),
                   "lacks the average 'chosen'"));
}

}  // namespace
}  // namespace ablate::training
