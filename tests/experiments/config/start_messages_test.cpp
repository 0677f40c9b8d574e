#include <gtest/gtest.h>

#include "tests/experiments/config/study_text.h"
#include "tests/says.h"

namespace ablate::config {
namespace {

TEST(StartMessages, NamePartsThatTheModelOfAnArmDoesNotHave) {
  const auto parts = [](const Experiment& experiment) {
    std::vector<training::TrainingProblem> problems;
    for (const auto& words : experiment.training.freeze)
      problems.push_back({"freeze", "names " + words});
    return problems;
  };
  const auto yaml = kBase + "arms:\n  a: {}\n  b: {training.freeze: [x]}\n";
  EXPECT_EQ(messages_of(yaml, {.parts = parts}),
            "study.yaml:7:24: training.freeze names x (task 'copy', arm 'b')");
  EXPECT_FALSE(says(messages_of(yaml + "  c: {training.steps: -1, training.freeze: [y]}\n",
                                {.arms = {"c"}, .parts = parts}),
                    "names y"))
      << "only sound configurations are made into models";
}

/// Arms `a`, of two layers with two heads, and `b`, which starts from it and has `more`.
std::string starting(const std::string& start, const std::string& more = "",
                     const std::string& first = "") {
  return kBase + "  model: {layers: 2, d_model: 16, attention: {heads: 2}}\narms:\n  a: {" + first +
         "}\n  b: {training.steps: 0, training.init_from: {arm: a, " + start + "}" + more + "}\n";
}

TEST(EvaluatedArm, DoesNotTrainWhateverTheBudget) {
  const auto run = run_of(starting("weights: last", ", training.budget: {kind: tokens}"), "b");
  EXPECT_FALSE(run.experiment.training.trains());
}

TEST(EvaluatedArm, HasBeenThroughTheTrainingOfTheFirstArmOfItsChain) {
  const auto study = study_of(starting("weights: last") +
                              "  c: {training.steps: 0, training.init_from.arm: b}\n"
                              "  d: {training.init_from.arm: c}\n");
  const auto trained = [&](const std::string& arm) {
    return trained_by(study.configurations, "copy", arm)->arm;
  };
  EXPECT_EQ(trained("b"), "a");
  EXPECT_EQ(trained("c"), "a");
  EXPECT_EQ(trained("d"), "d");
  EXPECT_EQ(trained_by(study.configurations, "copy", "e"), nullptr);
}

}  // namespace
}  // namespace ablate::config
