#include <gtest/gtest.h>

#include "tests/experiments/config/study_text.h"

namespace ablate::config {
namespace {

const std::string kTuned =
    "name: s\nseeds: [4, 5]\nbase: {data: {task: copy}}\n"
    "arms: {a: {}, b: {training.schedule.peak: 0.5}}\n"
    "tune: {key: training.schedule.peak, values: [0.5, 0.25]}\n";

double peak_of(const Experiment& experiment) {
  return std::visit([](const auto& schedule) { return schedule.peak; },
                    experiment.training.schedule);
}

TEST(Tuning, EveryArmHasACandidateOfEachValueOnTheFirstSeed) {
  const auto study = study_of(kTuned);
  EXPECT_EQ(study.runs.size(), 4U);
  EXPECT_EQ(study.arms, (std::vector<std::string>{"a", "b"}));
  ASSERT_TRUE(study.tuning);
  EXPECT_EQ(study.tuning->seeds, std::vector<int64_t>{4});
  std::string seen;
  for (const auto& candidate : study.tuning->candidates)
    seen += fmt::format("{}:{}:{} ", candidate.arm, candidate.name, peak_of(candidate.experiment));
  EXPECT_EQ(seen,
            "a:a-training.schedule.peak=0.5:0.5 a:a-training.schedule.peak=0.25:0.25 "
            "b:b:0.5 b:b-training.schedule.peak=0.25:0.25 ");
}

TEST(Tuning, AnArmThatIsCalledLikeATriedValueOfAnotherHasItsOwnCandidates) {
  const auto study = study_of(
      "name: s\nseeds: [1]\nbase: {data: {task: copy}}\n"
      "arms: {a: {}, a-training.schedule.peak=2: {model.layers: 2}}\n"
      "tune: {key: training.schedule.peak, values: [0.5, 0.25]}\n");
  std::vector<std::string> seen;
  for (const auto& candidate : study.tuning->candidates)
    seen.push_back(fmt::format("{}:{}", candidate.arm, candidate.value));
  EXPECT_EQ(seen, (std::vector<std::string>{"a:0", "a:1", "a-training.schedule.peak=2:0",
                                            "a-training.schedule.peak=2:1"}));
}

TEST(Tuning, AnArmWithATriedValueIsNoArmOfTheCommandLine) {
  EXPECT_EQ(messages_of(kTuned, {.arms = {"a-training.schedule.peak=0.25"}}),
            "--arms:1:1: unknown arm 'a-training.schedule.peak=0.25'; choose a or b");
}

TEST(Tuning, AnArmAtItsBestCanBeTheBaselineAndBeExpectedOf) {
  const auto text = kTuned +
                    "compare: {baseline: a-tuned, metric: perplexity}\n"
                    "expect: [\"a-tuned.perplexity <= a.perplexity\"]\n";
  const auto study = study_of(text);
  ASSERT_TRUE(study.compare);
  EXPECT_EQ(study.compare->baseline, (ComparedArm{.arm = "a", .tuned = true}));
  EXPECT_EQ(study.expect.size(), 1U);
  EXPECT_EQ(messages_of(kBase + "compare: {baseline: base-tuned, metric: perplexity}\n"),
            "study.yaml:5:21: unknown arm 'base-tuned' in compare.baseline; choose base");
}

TEST(Tuning, WithoutItAnArmMayEndInTunedAndIsNoOtherArm) {
  const auto study = study_of(kBase +
                                  "arms: {a: {tokenizer: {kind: character}}, a-tuned: {}, b: {}}\n"
                                  "compare: {baseline: a-tuned, metric: perplexity}\n",
                              {.arms = {"a-tuned", "b"}});
  ASSERT_TRUE(study.compare);
  EXPECT_EQ(study.compare->baseline, ComparedArm{"a-tuned"});
}

TEST(Tuning, MistakesAreNamed) {
  const auto tuned = [](const std::string& tune) { return kBase + "tune: " + tune + "\n"; };
  EXPECT_EQ(messages_of(tuned("{values: [1]}")),
            "study.yaml:5:1: tune needs 'key', a dotted path below base");
  EXPECT_EQ(messages_of(tuned("{key: training.steps}")),
            "study.yaml:5:1: tune needs 'values', a list of values to try");
  EXPECT_EQ(messages_of(tuned("{key: training.steps, values: 3}")),
            "study.yaml:5:37: tune.values must be a list; write [3]");
  EXPECT_EQ(messages_of(tuned("{key: training.steps, values: []}")),
            "study.yaml:5:37: tune.values must list at least one value");
  EXPECT_EQ(messages_of(tuned("{key: training.step, values: [3]}")),
            "study.yaml:5:22: unknown key 'step' in training; did you mean 'steps'?");
  EXPECT_EQ(messages_of(tuned("{key: training.steps, values: [3], seeds: [1, 1]}")),
            "study.yaml:5:49: seed 1 is given twice");
  EXPECT_EQ(messages_of(kBase + "arms: {a-tuned: {}}\ntune: {key: training.steps, values: [3]}\n"),
            "study.yaml:5:8: the name of an arm must not end in -tuned in a study with tune: that "
            "is the suffix of the arms with the best values");
}

}  // namespace
}  // namespace ablate::config
