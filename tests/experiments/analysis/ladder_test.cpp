#include "experiments/analysis/ladder.h"

#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <regex>

#include "experiments/analysis/statistics/joint_test.h"
#include "experiments/analysis/statistics/significance.h"
#include "tests/experiments/analysis/synthetic.h"
#include "tests/says.h"

namespace ablate::analysis {
namespace {

constexpr double kClose = 1e-12;
const std::vector<double> kSeedNoise{0, 0.01, 0.02, 0.03, 0.04, 0.05};  // one for each seed

const std::string kThreeSizes =
    "sizes: {small: {model.d_model: 64}, middle: {model.d_model: 128}, large: {model.d_model: "
    "256}}\n";

const std::string kTwoSizes = "sizes: {1: {model.d_model: 64}, 2: {model.d_model: 128}}\n";

/// A rung: its setting, the parameters of its models, and exact match without the seed's noise.
struct MeasuredRung {
  std::string setting;
  int64_t parameters;
  double base, more;
  double spread = 0;  // of the differences, over the seeds
};

records::StudyRuns runs_on(const std::vector<MeasuredRung>& rungs) {
  records::StudyRuns runs{.folder = {"none/s"}};
  for (const auto& [setting, parameters, base, more, spread] : rungs)
    for (size_t i = 0; i < kSeedNoise.size(); ++i)
      for (const auto& [arm, value] : {std::pair{"base", base + kSeedNoise[i]},
                                       {"more", more + kSeedNoise[i] + spread * kSeedNoise[i]}}) {
        auto result = result_of(arm, static_cast<int64_t>(i + 1), value);
        result.task = setting;
        result.parameters = parameters;
        runs.results.push_back(std::move(result));
      }
  return runs;
}

Evidence ladder_evidence(const std::string& axis, const std::vector<MeasuredRung>& rungs) {
  return evidence_of(study_yaml(6, {"more"}, kCompare + axis), runs_on(rungs));
}

/// A study of two or three sizes, each with ten times the parameters of the one before, in which
/// the baseline has 0.5 and the other arm these.
Evidence over_sizes(const std::vector<double>& more, double spread = 0) {
  const auto names = more.size() == 2 ? std::vector{"copy-1", "copy-2"}
                                      : std::vector{"copy-small", "copy-middle", "copy-large"};
  std::vector<MeasuredRung> rungs;
  for (int64_t parameters = 1'000; const double value : more) {
    rungs.push_back({names[rungs.size()], parameters, 0.5, value, spread});
    parameters *= 10;
  }
  return ladder_evidence(more.size() == 2 ? kTwoSizes : kThreeSizes, rungs);
}

TEST(Ladder, TheSlopeIsTheChangeOfTheEffectWithTenTimesTheParameters) {
  const auto evidence = over_sizes({0.6, 0.65, 0.7}, 1);
  ASSERT_EQ(evidence.ladders.size(), 1U);
  const auto& ladder = evidence.ladders.front();
  EXPECT_EQ(ladder.axis, kSizeAxis);
  EXPECT_TRUE(ladder.logarithmic);
  EXPECT_EQ(ladder.rungs[1].label, "middle");
  EXPECT_EQ(ladder.rungs[1].x, 10'000);
  const auto& arm = ladder.arms.back();
  EXPECT_NEAR(arm.effects[1].mean, 0.15 + 0.025, kClose);
  EXPECT_EQ(arm.p[1], 2.0 / 64);
  EXPECT_NEAR(arm.slope.mean, 0.05, kClose);
  EXPECT_EQ(arm.slope_p, 2.0 / 64);
  EXPECT_EQ(arm.interaction_p, 2.0 / 64) << "of six seeds whatever the number of rungs";
  EXPECT_FALSE(arm.turns);
  EXPECT_FALSE(arm.crossing.has_value()) << "the line is zero only beyond the rungs";
}

TEST(Ladder, ASignTurnsIfIntervalsExcludeZeroOnOppositeSides) {
  const auto evidence = over_sizes({0.6, 0.5, 0.4});
  const auto& arm = evidence.ladders.front().arms.back();
  EXPECT_TRUE(arm.turns);
  EXPECT_NEAR(*arm.crossing, 10'000, 1e-6);
  EXPECT_EQ(arm.sentence,
            "more: its difference changes by -0.100 [-0.100, -0.100] with ten times the parameters "
            "(p 0.031). That its difference is the same everywhere has p 0.031. Its sign turns; "
            "the line through its means is zero at 10.0 k parameters.");
}

TEST(Ladder, AnEffectThatIsTheSameEverywhereHasNoInteraction) {
  const auto evidence = ladder_evidence(kThreeSizes, {{"copy-small", 1'000, 0.5, 0.625, 1},
                                                      {"copy-middle", 10'000, 0.25, 0.375, 1},
                                                      {"copy-large", 100'000, 0, 0.125, 1}});
  const auto& arm = evidence.ladders.front().arms.back();
  EXPECT_EQ(arm.interaction_p, 1) << "rounding is no effect";
  EXPECT_EQ(arm.slope_p, 1);
}

TEST(Ladder, RungsOfOneSizeHaveNoSlope) {
  const auto evidence = ladder_evidence(kThreeSizes, {{"copy-small", 1'000, 0.5, 0.6},
                                                      {"copy-middle", 1'000, 0.5, 0.65},
                                                      {"copy-large", 1'000, 0.5, 0.7}});
  const auto& arm = evidence.ladders.front().arms.back();
  EXPECT_EQ(arm.slope.count, 0);
  EXPECT_EQ(arm.effects.size(), 3U);
}

TEST(Ladder, TheBestOfEachSeedIsComparedOverAGrid) {
  const auto evidence = ladder_evidence("grid: {training.schedule.peak: [0.4, 0.04, 0.004]}\n",
                                        {{"copy-peak=0.4", 1'000, 0.1, 0.6},
                                         {"copy-peak=0.04", 1'000, 0.5, 0.5},
                                         {"copy-peak=0.004", 1'000, 0.2, 0.3}});
  const auto& ladder = evidence.ladders.front();
  EXPECT_EQ(ladder.axis, "training.schedule.peak");
  EXPECT_EQ(ladder.rungs.front().x, 0.004) << "from the least to the largest";
  const auto& [base, more] = std::pair{ladder.arms.front(), ladder.arms.back()};
  EXPECT_EQ(base.best_at, (std::vector<int64_t>{0, 6, 0}));
  EXPECT_EQ(more.best_at, (std::vector<int64_t>{0, 0, 6}));
  EXPECT_NEAR(more.best_effect->mean, 0.1, kClose);
  EXPECT_EQ(more.best_p, 2.0 / 64);
}

TEST(Ladder, TheAnswerNamesTheOtherCoordinates) {
  const auto answer =
      ladder_evidence(
          "grid: {model.norm.kind: [layer, rms], training.schedule.peak: [0.04, 0.4]}\n",
          {{"copy-kind=layer-peak=0.04", 1'000, 0.5, 0.6},
           {"copy-kind=layer-peak=0.4", 1'000, 0.5, 0.6},
           {"copy-kind=rms-peak=0.04", 1'000, 0.5, 0.4},
           {"copy-kind=rms-peak=0.4", 1'000, 0.5, 0.4}})
          .answer;
  EXPECT_TRUE(says(answer, "kind=layer, more: better at both peaks (0.100 exact match more)."));
  EXPECT_TRUE(says(answer, "kind=rms, more: worse at both peaks (0.100 exact match less)."));
}

TEST(Ladder, EverySizeHasItsOwnOverTheGridAndEveryPointOverTheSizes) {
  const auto evidence = ladder_evidence(
      "sizes: {small: {model.d_model: 64}, large: {model.d_model: 128}}\n"
      "grid: {training.schedule.peak: [0.04, 0.4]}\n",
      {{"copy-small-peak=0.04", 1'000, 0.5, 0.6},
       {"copy-small-peak=0.4", 1'000, 0.5, 0.6},
       {"copy-large-peak=0.04", 9'000, 0.5, 0.6},
       {"copy-large-peak=0.4", 9'000, 0.5, 0.6}});
  std::vector<std::string> names;
  for (const auto& ladder : evidence.ladders) names.push_back(ladder.axis + " at " + ladder.at);
  EXPECT_EQ(names, (std::vector<std::string>{"size at peak=0.04", "size at peak=0.4",
                                             "training.schedule.peak at small",
                                             "training.schedule.peak at large"}));
}

/// Runs with the exact match of each arm and seed in each setting. Every setting has ten times the
/// parameters of the one before.
records::StudyRuns runs_by_setting(const std::map<std::string, Scores>& settings) {
  records::StudyRuns runs{.folder = {"none/s"}};
  int64_t parameters = 1'000;
  for (const auto& [setting, scores] : settings) {
    for (auto result : runs_of(scores).results) {
      result.task = setting;
      result.parameters = parameters;
      runs.results.push_back(std::move(result));
    }
    parameters *= 10;
  }
  return runs;
}

const std::vector<double> kLowScores{0.1, 0.2, 0.3, 0.1, 0.2, 0.3};
const std::vector<double> kHighScores{0.4, 0.52, 0.63, 0.44, 0.55, 0.66};
/// Five of six differences from kLowScores are positive.
const std::vector<double> kUnclear{0.15, 0.25, 0.35, 0.15, 0.25, 0.29};

TEST(Ladder, ARungHasTheIntervalAndThePOfItsVerdict) {
  const auto evidence =
      evidence_of(study_yaml(6, {"one", "two", "three"}, kCompare + kTwoSizes),
                  runs_by_setting({{"copy-1",
                                    {{"base", kLowScores},
                                     {"one", kHighScores},
                                     {"two", kUnclear},
                                     {"three", {0.2, 0.1, 0.4, 0.2, 0.1, 0.2}}}},
                                   {"copy-2",
                                    {{"base", kLowScores},
                                     {"one", kUnclear},
                                     {"two", kHighScores},
                                     {"three", {0.2, 0.2, 0.5, 0.3, 0.1, 0.2}}}}}));
  ASSERT_EQ(evidence.ladders.size(), 1U);
  const auto& ladder = evidence.ladders.front();
  for (size_t arm = 1; arm < ladder.arms.size(); ++arm)
    for (size_t rung = 0; rung < 2; ++rung) {
      const auto& contrast =
          *find_cell(evidence.tasks[rung].arms[arm], "length 12", "exact_match")->contrast;
      EXPECT_EQ(ladder.arms[arm].effects[rung].interval, contrast.interval);
      EXPECT_EQ(ladder.arms[arm].p[rung], contrast.difference.adjusted_p);
      EXPECT_GE(ladder.arms[arm].p[rung], contrast.difference.p);
    }
  EXPECT_GT(ladder.arms[2].p[0],
            statistics::sign_flip_p(std::vector<double>{0.05, 0.05, 0.05, 0.05, 0.05, -0.01}))
      << "corrected for the six comparisons of the task";
}

/// Of six seeds, the differences at rung 2 minus those at rung 1 are these.
std::map<std::string, Scores> changing_by(const std::map<std::string, std::vector<double>>& arms) {
  std::map<std::string, Scores> settings{{"copy-1", {{"base", kLowScores}}},
                                         {"copy-2", {{"base", kLowScores}}}};
  for (const auto& [arm, changes] : arms) {
    settings["copy-1"][arm] = kHighScores;
    settings["copy-2"][arm] = kHighScores;
    for (size_t i = 0; i < changes.size(); ++i) settings["copy-2"][arm][i] += changes[i];
  }
  return settings;
}

TEST(Ladder, SlopesAndInteractionsAreCorrectedForTheArms) {
  const std::vector<double> first{0.01, 0.02, 0.03, 0.04, 0.05, -0.011},
      second{0.02, -0.03, 0.01, 0.05, 0.03, 0.04}, third{-0.01, 0.04, 0.06, -0.02, 0.01, 0.02};
  const std::vector<std::vector<double>> changes{first, second, third};
  const auto runs = runs_by_setting(changing_by({{"a", first}, {"b", second}, {"c", third}}));
  for (const auto& [correction, joint] : {std::pair{"max_t", statistics::Joint::max_t},
                                          std::pair{"min_p", statistics::Joint::min_p}}) {
    const auto declared = compare(std::string("correction: ") + correction) + kTwoSizes;
    const auto evidence = evidence_of(study_yaml(6, {"a", "b", "c"}, declared), runs);
    const auto& arms = evidence.ladders.front().arms;
    const auto expected = statistics::joint_sign_flip_p(changes, statistics::Side::both, joint);
    for (size_t i = 0; i < changes.size(); ++i) {
      EXPECT_EQ(arms[i + 1].slope_p, expected[i]) << "the slope over one decade is the change";
      EXPECT_EQ(arms[i + 1].interaction_p, expected[i]) << "of two rungs it is the same question";
    }
    EXPECT_GT(expected[2], statistics::sign_flip_p(third));
  }
}

TEST(Ladder, LooksAtTheQuestionCorrectSlopesInteractionsAndTheirIntervals) {
  const auto study = study_of(study_yaml(6, {"more"}, kCompare + kThreeSizes));
  const auto evidence = over_sizes({0.6, 0.65, 0.7}, 1);
  const auto& alone = evidence.ladders.front().arms.back();
  const auto second = ladders_of(evidence.tasks, study, 2).front().arms.back();
  const double factor = statistics::look_factor(2);
  EXPECT_DOUBLE_EQ(second.slope_p, factor * alone.slope_p);
  EXPECT_DOUBLE_EQ(second.interaction_p, factor * alone.interaction_p);
  EXPECT_TRUE(alone.slope.interval.has_value());
  EXPECT_FALSE(second.slope.interval.has_value()) << "six seeds reject nothing at that level";
}

TEST(Ladder, ArmsThatAreNotSelectedCountInTheFamilyOfSlopes) {
  const std::vector<double> rising{0.01, 0.02, 0.03, 0.04, 0.05, 0.06};
  const auto yaml = study_yaml(6, {"a", "b"}, kCompare + kTwoSizes);
  const auto evidence = make_evidence(study_of(yaml, {.arms = {"base", "a"}}),
                                      runs_by_setting(changing_by({{"a", rising}})));
  EXPECT_EQ(evidence.ladders.front().arms.back().slope_p, 2 * (2.0 / 64)) << "Holm's method";
}

TEST(Ladder, AnArmThatIsUnstableAtARungMakesNoClaimOverRungs) {
  auto settings = changing_by({{"falling", {-0.4, -0.4, -0.4, -0.4, -0.4, -0.4}}, {"steady", {}}});
  settings["copy-1"]["falling"] = {1, 1, 1, 0.2, 1, 1};
  const auto evidence = evidence_of(study_yaml(6, {"falling", "steady"}, kCompare + kTwoSizes),
                                    runs_by_setting(settings));
  const auto& arm = evidence.ladders.front().arms[1];
  EXPECT_EQ(arm.sentence, "falling: no claim over sizes; verdicts: unstable at 1.");
  EXPECT_EQ(arm.slope.count, 0);
  EXPECT_TRUE(std::isnan(arm.slope_p) && std::isnan(arm.interaction_p));
  EXPECT_FALSE(arm.turns);
  EXPECT_EQ(evidence.ladders.front().arms[2].no_claim, "") << "of another arm";
  EXPECT_TRUE(evidence.answer.starts_with("steady: better at both sizes ")) << evidence.answer;
  EXPECT_TRUE(says(evidence.answer, "Over sizes, falling: no claim over sizes; "));
}

TEST(Ladder, AMissingSeedAtOneRungWithholdsTheSlope) {
  auto runs = runs_by_setting(changing_by({{"a", {0.01, 0.02, 0.03, 0.04, 0.05, 0.06}}}));
  std::erase_if(runs.results, [](const auto& run) {
    return run.task == "copy-2" && run.arm == "a" && run.seed == 6;
  });
  const auto evidence = evidence_of(study_yaml(6, {"a"}, kCompare + kTwoSizes), runs);
  EXPECT_EQ(evidence.ladders.front().arms.back().sentence,
            "a: no claim over sizes; verdicts: other seeds at 2.");
}

TEST(Ladder, TheAnswerBeginsWithTheVerdictAndTheTrend) {
  EXPECT_TRUE(
      over_sizes({0.7, 0.65, 0.6}, 1)
          .answer.starts_with("more: better at all three sizes (0.125 to 0.225 exact match more); "
                              "its lead shrinks as the model grows (p 0.031). Over sizes, more: "
                              "its difference changes by -0.050 [-0.050, -0.050] with"));
  EXPECT_TRUE(
      over_sizes({0.4, 0.3, 0.2})
          .answer.starts_with("more: worse at all three sizes (0.100 to 0.300 exact match less); "
                              "its deficit grows as the model grows (p 0.031). "));
}

TEST(Ladder, TheAnswerDoesNotRoundWhatIsShownToZero) {
  EXPECT_TRUE(says(over_sizes({0.5003, 0.5004}).answer,
                   "more: better at both sizes (0.0003 to 0.0004 exact match more)"));
}

TEST(Ladder, TheAnswerGivesThePOfASlopeOnce) {
  const auto answer = over_sizes({0.7, 0.6}, 1).answer;
  EXPECT_TRUE(says(answer, "as the model grows (p 0.031). "));
  EXPECT_TRUE(says(answer, "with ten times the parameters. No turn"));
  const auto flat = ladder_evidence(
      kTwoSizes, {{"copy-1", 1'000, 0.5, 0.625, 1}, {"copy-2", 10'000, 0.25, 0.375, 1}});
  EXPECT_FALSE(says(flat.answer, "as the model grows"));
}

TEST(Ladder, TheAnswerNamesTheRungsOfEachVerdict) {
  EXPECT_TRUE(
      over_sizes({0.6, 0.5, 0.4})
          .answer.starts_with("more: better at size small (0.100 exact match more), inconclusive "
                              "at size middle (the same exact match), worse at size large (0.100 "
                              "exact match less); its difference falls as the model grows (p "
                              "0.031). "));
}

TEST(Ladder, RungsAreCalledAfterTheirKey) {
  const auto over = [](const std::string& key) {
    const auto name = "copy-" + key.substr(key.rfind('.') + 1);
    return ladder_evidence("grid: {" + key + ": [64, 128]}\n",
                           {{name + "=64", 1'000, 0.5, 0.6}, {name + "=128", 1'000, 0.5, 0.6}})
        .answer;
  };
  EXPECT_TRUE(over("data.symbols").starts_with("more: better at both values of symbols (0.100 "));
  EXPECT_TRUE(over("training.schedule.warmup").starts_with("more: better at both warmups (0.100 "));
}

TEST(Ladder, SlopeAndInteractionOfTwoRungsAreSaidOnce) {
  EXPECT_FALSE(
      says(over_sizes({0.6, 0.65}, 1).ladders.front().arms.back().sentence, "the same everywhere"));
}

TEST(Ladder, TheBestValueIsChosenOnlyOfWhatIsTuned) {
  const auto best = [](const std::string& key, const std::string& values) {
    const auto name = "copy-" + key.substr(key.rfind('.') + 1) + "=";
    const auto comma = values.find(", ");
    return ladder_evidence("grid: {" + key + ": [" + values + "]}\n",
                           {{name + values.substr(0, comma), 1'000, 0.5, 0.6},
                            {name + values.substr(comma + 2), 1'000, 0.5, 0.6}})
        .ladders.front()
        .arms.back()
        .best_effect.has_value();
  };
  EXPECT_TRUE(best("training.schedule.peak", "0.04, 0.4"));
  EXPECT_TRUE(best("model.dropout", "0.1, 0.2"));
  EXPECT_FALSE(best("data.symbols", "8, 9")) << "of the data";
  EXPECT_FALSE(best("model.d_model", "64, 128")) << "of the size";
  EXPECT_FALSE(best("training.steps", "10, 20")) << "of the length";
}

TEST(Ladder, ArmsThatShowASlopeAloneShareASentence) {
  const std::vector<double> rising{0.01, 0.02, 0.03, 0.04, 0.05, 0.06}, steep(6, 0.1);
  const auto evidence =
      evidence_of(study_yaml(6, {"a", "b", "steady"}, kCompare + kTwoSizes),
                  runs_by_setting(changing_by({{"a", rising}, {"b", steep}, {"steady", {}}})));
  EXPECT_TRUE(std::regex_search(
      evidence.answer,
      std::regex("Over sizes, the difference from the baseline changes with ten times the "
                 "parameters by [^ ]+ \\[[^\\]]+\\] for a, by [^ ]+ \\[[^\\]]+\\] "
                 "for b\\. Over sizes, no change of the difference from the baseline "
                 "is shown: steady\\.$")))
      << evidence.answer;
}

TEST(Ladder, ArmsThatShowNothingShareASentence) {
  const auto evidence = evidence_of(study_yaml(6, {"a", "b"}, kCompare + kTwoSizes),
                                    runs_by_setting(changing_by({{"a", {}}, {"b", {}}})));
  EXPECT_TRUE(evidence.answer.ends_with(
      " Over sizes, no change of the difference from the baseline is shown: a, b."))
      << evidence.answer;
}

TEST(Aggregates, SizesAreSettingsAndNoTasks) {
  const auto yaml = study_yaml(6, {"a"}, kCompare + kTwoSizes);
  auto settings = changing_by({{"a", {}}});
  EXPECT_TRUE(evidence_of(yaml, runs_by_setting(settings)).aggregates.empty());
  const auto two = yaml + "tasks: {x: {}, y: {data.test_length: [12, 13]}}\n";
  const auto evidence = evidence_of(two, runs_by_setting({{"x-1", settings["copy-1"]},
                                                          {"x-2", settings["copy-2"]},
                                                          {"y-1", settings["copy-1"]},
                                                          {"y-2", settings["copy-2"]}}));
  ASSERT_EQ(evidence.aggregates.size(), 2U);
  EXPECT_EQ(evidence.aggregates.front().tasks, 2);
  EXPECT_EQ(evidence.aggregates.front().settings, 4);
  EXPECT_EQ(count_declared_tasks(evidence.tasks), 2);
}

}  // namespace
}  // namespace ablate::analysis
