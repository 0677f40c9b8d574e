#include "experiments/analysis/seed_components.h"

#include <gtest/gtest.h>

#include "tests/experiments/analysis/synthetic.h"
#include "tests/says.h"

namespace ablate::analysis {
namespace {

const std::vector<int64_t> kPairs{1001, 1002, 2001, 2002};

std::string crossed_yaml(const std::string& more = kCompare) {
  return "name: s\nseeds: {initialization: [1, 2], order: [1, 2]}\n"
         "base: {data: {task: copy, test_length: [12, 13]}}\n"
         "arms: {base: {}, a: {model.layers: 2}}\n" +
         more;
}

/// A score for each of kPairs.
records::StudyRuns crossed_runs(const std::vector<double>& base, const std::vector<double>& a) {
  records::StudyRuns runs{.folder = {"none/s"}};
  for (size_t i = 0; i < kPairs.size(); ++i) {
    runs.results.push_back(result_of("base", kPairs[i], base[i]));
    if (i < a.size()) runs.results.push_back(result_of("a", kPairs[i], a[i]));
  }
  return runs;
}

// The means of initializations are 0.15 and 0.45, of orders 0.2 and 0.4, and the rests 0.05.
const std::vector<double> kBase{0.1, 0.2, 0.3, 0.6}, kArm{0.2, 0.3, 0.5, 0.8};

Evidence crossed(const std::string& yaml = crossed_yaml()) {
  return evidence_of(yaml, crossed_runs(kBase, kArm));
}

TEST(SeedComponents, OfValuesByHand) {
  const auto evidence = crossed();
  const auto& all = evidence.tasks.front().components;
  ASSERT_EQ(all.size(), 3U) << "values of both arms, differences of one";
  const auto& base = all[0];
  EXPECT_EQ(base.arm, "base");
  EXPECT_EQ(base.test_set, "length 12") << "the primary one";
  EXPECT_NEAR(base.initialization, 0.2, 1e-12);
  EXPECT_NEAR(base.order, std::sqrt(0.015), 1e-12);
  EXPECT_NEAR(base.rest, 0.1, 1e-12);
  EXPECT_NEAR(base.error, std::sqrt(0.04 / 2 + 0.015 / 2 + 0.01 / 4), 1e-12);
  EXPECT_NEAR(base.own_error, std::sqrt((0.04 + 0.015 + 0.01) / 4), 1e-12);
  EXPECT_EQ(base.sentence,
            "base on length 12: 62 % of the variance between runs is from initialization, 23 % "
            "from order, and 15 % from neither alone; the standard error of the mean is 0.173; 4 "
            "runs, each with both seeds of its own, would have 0.127, so give each run both seeds "
            "anew.");
}

TEST(SeedComponents, OfDifferencesByHand) {
  // 0.1, 0.1 and 0.2, 0.2: the difference depends on the initialization alone.
  const auto evidence = crossed();
  const auto& difference = evidence.tasks.front().components.back();
  EXPECT_TRUE(difference.difference);
  EXPECT_NEAR(difference.initialization, std::sqrt(0.005), 1e-12);
  EXPECT_NEAR(difference.order, 0, 1e-9);
  EXPECT_NEAR(difference.rest, 0, 1e-9);
  EXPECT_TRUE(says(difference.sentence,
                   "a minus the baseline on length 12: 100 % of the variance between runs"));
}

TEST(SeedComponents, LeaveNoTestAndNoInterval) {
  const auto evidence = crossed();
  const auto& found = contrast(evidence, "a");
  EXPECT_EQ(found.verdict, Verdict::crossed);
  EXPECT_TRUE(std::isnan(found.difference.p) && std::isnan(found.difference.adjusted_p));
  EXPECT_TRUE(std::isnan(found.sign.p));
  EXPECT_FALSE(found.interval || found.detectable);
  EXPECT_EQ(
      evidence.answer,
      "a: 0.150 more exact match than base, in all 4 pairs of seeds. No claim: a crossed study "
      "estimates components of variance, and its runs share seeds.");
  EXPECT_EQ(evidence.tasks.front().family, "");
  EXPECT_TRUE(evidence.aggregates.empty());
}

/// Six seeds of their own would have an interval.
TEST(SeedComponents, OfMoreRunsHaveNoIntervalsEither) {
  const auto study = study_of(replaced(crossed_yaml(), "order: [1, 2]", "order: [1, 2, 3, 4]"));
  records::StudyRuns runs{.folder = {"none/s"}};
  for (const auto seed : study.seeds)
    for (const auto* arm : {"base", "a"})
      runs.results.push_back(result_of(arm, seed, 0.001 * static_cast<double>(seed % 7)));
  const auto evidence = make_evidence(study, runs);
  EXPECT_EQ(evidence.tasks.front().components.front().orders, 4);
  for (const auto& arm : evidence.tasks.front().arms) {
    EXPECT_FALSE(arm.tokens.interval || arm.memory_bytes.interval);
    for (const auto& cell : arm.cells) {
      EXPECT_FALSE(cell.sample.interval || cell.success) << cell.metric;
      if (cell.contrast) {
        EXPECT_FALSE(cell.contrast->interval) << cell.metric;
      }
    }
  }
}

TEST(SeedComponents, TakeEveryPair) {
  const auto evidence = evidence_of(crossed_yaml(), crossed_runs(kBase, {0.2, 0.3, 0.5}));
  EXPECT_EQ(evidence.tasks.front().components.size(), 1U) << "a lacks one";
  auto study = study_of(crossed_yaml());
  std::erase(study.seeds, 2002);
  const auto selected = make_evidence(study, crossed_runs(kBase, kArm));
  EXPECT_TRUE(selected.tasks.front().components.empty());
  EXPECT_TRUE(says(selected.notes.back(), "Components of variance take a run of every pair"));
}

TEST(SeedComponents, DoNotDependOnTheOrderOfTheSeeds) {
  auto study = study_of(crossed_yaml());
  std::ranges::reverse(study.seeds);
  const auto evidence = make_evidence(study, crossed_runs(kBase, kArm));
  EXPECT_NEAR(evidence.tasks.front().components.front().initialization, 0.2, 1e-12);
}

TEST(SeedComponents, WithoutABaselineAreOfTheLeadingMetric) {
  const auto evidence = crossed(crossed_yaml(""));
  const auto& all = evidence.tasks.front().components;
  ASSERT_EQ(all.size(), 4U) << "two arms on two test sets";
  for (const auto& one : all) {
    EXPECT_FALSE(one.difference);
    EXPECT_EQ(one.metric, arm_of(evidence, "base").cells.front().metric);
  }
}

TEST(SeedComponents, SayWhichSeedsToSpendOn) {
  const auto study = study_of(replaced(crossed_yaml(), "initialization: [1, 2], order: [1, 2]",
                                       "initialization: [1, 2, 3, 4], order: [1, 2, 3, 4]"));
  records::StudyRuns runs{.folder = {"none/s"}};
  for (const auto seed : study.seeds) {
    const auto i = static_cast<double>(seed / 1000), j = static_cast<double>(seed % 1000);
    runs.results.push_back(result_of("base", seed, 0.1 * i));
    runs.results.push_back(result_of("a", seed, 0.02 * i + 0.1 * j));
  }
  const auto all = make_evidence(study, runs).tasks.front().components;
  EXPECT_TRUE(all[0].sentence.ends_with("spend on initialization (8 x 2 seeds would have 0.046)."))
      << all[0].sentence;
  EXPECT_TRUE(says(all[1].sentence, "spend on order (2 x 8 seeds would have")) << all[1].sentence;
}

}  // namespace
}  // namespace ablate::analysis
