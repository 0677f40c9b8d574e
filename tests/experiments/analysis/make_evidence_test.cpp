#include "experiments/analysis/make_evidence.h"

#include <gtest/gtest.h>

#include <cmath>
#include <random>

#include "experiments/config/study/study_file.h"
#include "experiments/errors.h"
#include "tests/experiments/analysis/synthetic.h"
#include "tests/says.h"

namespace ablate::analysis {
namespace {

constexpr double kTolerance = 1e-12;

TEST(Evidence, OfSixSeedsByHand) {
  const auto evidence = evidence_of(
      study_yaml(6, {"more"}, kCompare),
      {{"base", {0.5, 0.6, 0.7, 0.5, 0.6, 0.7}}, {"more", {0.6, 0.8, 0.8, 0.7, 0.7, 0.9}}});
  const auto cell = cell_of(evidence, "more");
  EXPECT_TRUE(cell.primary);
  EXPECT_NEAR(cell.sample.mean, 0.75, kTolerance);
  ASSERT_TRUE(cell.contrast.has_value());
  // Differences 0.1, 0.2, 0.1, 0.2, 0.1, 0.2. Of 64 patterns the two without any flip always count;
  // a centre below 0.1 leaves no others, so it is rejected, and one above 0.1 leaves more.
  EXPECT_NEAR(cell.contrast->mean, 0.15, kTolerance);
  EXPECT_NEAR(cell.contrast->interval->low, 0.1, 1e-9);
  EXPECT_NEAR(cell.contrast->interval->high, 0.2, 1e-9);
  EXPECT_EQ(cell.contrast->difference.p, 2.0 / 64);
  EXPECT_EQ(cell.contrast->verdict, Verdict::better);
  EXPECT_TRUE(cell.contrast->sentence.starts_with("better by 0.150 [0.100, 0.200], p = 0.031; "))
      << cell.contrast->sentence;
  EXPECT_EQ(arm_of(evidence, "more").changes.front().path, "model.layers");
  EXPECT_EQ(evidence.answer,
            "more: 0.150 more exact match than base (0.100 to 0.200), in all 6 seeds: better.");
}

TEST(Evidence, TheShareOfUnknownTargetsStandsBesideEveryScoreWhereThereAreAny) {
  auto runs = runs_of({{"base", {0.5}}, {"more", {0.5}}});
  const auto shown = [&](const std::string& arm, const std::string& test_set,
                         const std::string& metric) {
    const auto evidence = evidence_of(study_yaml(1, {"more"}, kCompare), runs);
    return find_cell(arm_of(evidence, arm), test_set, metric)->in_tables;
  };
  EXPECT_FALSE(shown("more", "length 12", "unknown_targets"));
  EXPECT_FALSE(shown("more", "", "validation_unknown_targets"));
  runs.results.back().tests.front().unknown_targets = 0.5;
  EXPECT_TRUE(shown("base", "length 12", "unknown_targets")) << "as a column of all arms";
  EXPECT_TRUE(shown("more", "length 12", "unknown_targets"));
  EXPECT_FALSE(shown("more", "", "validation_unknown_targets"));
  runs.results.back().validation_unknown_targets = 0.5;
  EXPECT_TRUE(shown("base", "", "validation_unknown_targets"));
}

TEST(Evidence, SixSeedsSufficeForAnyNumberOfArmsThatHaveThemAll) {
  const auto study = study_of(study_yaml(6, {"a", "b", "c"}, kCompare));
  const std::vector<double> low(6, 0.1), high(6, 0.9);
  const Scores all{{"base", low}, {"a", high}, {"b", high}, {"c", high}};
  const auto joint = make_evidence(study, runs_of(all));
  EXPECT_EQ(joint.tasks.front().correction, Correction::joint);
  EXPECT_EQ(contrast(joint, "a").difference.adjusted_p, 2.0 / 64);
  EXPECT_EQ(contrast(joint, "a").verdict, Verdict::better);
  auto runs = runs_of(all);
  std::erase_if(runs.results, [](const auto& run) { return run.arm == "c" && run.seed == 3; });
  const auto holm = make_evidence(study, runs);
  EXPECT_EQ(holm.tasks.front().correction, Correction::holm);
  EXPECT_EQ(contrast(holm, "a").difference.adjusted_p, 3 * 2.0 / 64);
  EXPECT_EQ(contrast(holm, "a").verdict, Verdict::too_few_seeds);
  EXPECT_TRUE(holm.tasks.front().family.find("Holm's method corrects them") != std::string::npos);
}

TEST(Evidence, ByMinPAnOddSeedDoesNotHideAnArmThatIsBetterInAll) {
  const std::vector<double> base(8, 0.1), odd{0.11, 0.11, 0.11, 0.11, 0.11, 0.11, 0.11, 0.2};
  const auto runs =
      runs_of({{"base", base}, {"odd", odd}, {"mixed", {0.2, 0.2, 0.2, 0.2, 0.0, 0.0, 0.0, 0.0}}});
  const auto evidence_by = [&](const std::string& correction) {
    return evidence_of(study_yaml(8, {"odd", "mixed"}, compare("correction: " + correction)), runs);
  };
  // Each arm has its smallest p, 2 / 256, under two patterns of its own.
  const auto min_p = evidence_by("min_p");
  EXPECT_EQ(min_p.tasks.front().correction, Correction::min_p);
  EXPECT_EQ(contrast(min_p, "odd").difference.adjusted_p, 4.0 / 256);
  EXPECT_EQ(contrast(min_p, "odd").sign.adjusted_p, 4.0 / 256);
  EXPECT_EQ(contrast(min_p, "odd").verdict, Verdict::better);
  EXPECT_GT(contrast(min_p, "odd").interval.value().low, 0);
  EXPECT_GT(contrast(min_p, "odd").relative.value().interval.value().low, 0);
  EXPECT_TRUE(says(contrast(min_p, "odd").sentence, "p = 0.008 (min-P 0.016)"));
  EXPECT_TRUE(says(min_p.tasks.front().family, "their own p are compared (min-P)"));
  const auto max_t = evidence_by("max_t");
  EXPECT_EQ(max_t.tasks.front().correction, Correction::joint);
  EXPECT_EQ(contrast(max_t, "odd").verdict, Verdict::inconclusive);
  EXPECT_LT(contrast(max_t, "odd").detectable.value(), contrast(min_p, "odd").detectable.value());
}

TEST(Evidence, OnlyTheDeclaredMetricCarriesClaims) {
  const auto evidence = evidence_of(study_yaml(6, {"more"}, kCompare),
                                    {{"base", std::vector(6, 0.0)}, {"more", std::vector(6, 1.0)}});
  for (const auto& cell : arm_of(evidence, "more").cells)
    EXPECT_EQ(cell.metric == "exact_match" && cell.test_set == "length 12",
              cell.contrast && cell.contrast->verdict != Verdict::exploratory)
        << cell.metric;
}

TEST(Evidence, WhatNoRunObservedHasNoCell) {
  const auto study = study_of(study_yaml(6, {"more"}, kCompare));
  auto runs = runs_of({{"base", std::vector(6, 0.0)}, {"more", std::vector(6, 1.0)}});
  runs.results.back().active_neurons = 0.25;  // of the arm "more"
  const auto evidence = make_evidence(study, runs);
  for (const auto* arm : {"base", "more"}) {
    std::vector<std::string> metrics;
    for (const auto& cell : arm_of(evidence, arm).cells) metrics.push_back(cell.metric);
    EXPECT_EQ(std::ranges::count(metrics, "active_neurons"), 1);
    EXPECT_EQ(std::ranges::count(metrics, "attention_entropy"), 0);
  }
  EXPECT_EQ(cell_of(evidence, "more", "active_neurons", "").sample.mean, 0.25);
  EXPECT_FALSE(cell_of(evidence, "more", "active_neurons", "").best);
}

TEST(Evidence, AMissingSeedIsNamedAndForbidsTheClaimUnlessAllowed) {
  const Scores scores{{"base", std::vector(8, 0.2)}, {"more", std::vector(8, 0.9)}};
  const auto evidence_by = [&](const std::string& compare) {
    auto runs = runs_of(scores);
    std::erase_if(runs.results, [](const auto& run) { return run.arm == "more" && run.seed == 3; });
    runs.missing.push_back({"copy", "more", 3, "failed with exit code 5"});
    return evidence_of(study_yaml(8, {"more"}, compare), runs);
  };
  const auto refused = evidence_by(kCompare);
  EXPECT_EQ(contrast(refused, "more").sentence,
            "no claim: seed 3 of the arm has no value; compare.allow: [seeds] compares the others");
  const auto why = contrast(refused, "more").no_claim.value();
  EXPECT_EQ(why.reason, Reason::uneven);
  ASSERT_EQ(why.uneven.size(), 1U);
  EXPECT_EQ(why.uneven.front().seed, 3);
  EXPECT_TRUE(why.uneven.front().of_arm);
  EXPECT_EQ(refused.missing.front().reason, "failed with exit code 5");
  EXPECT_TRUE(std::isnan(cell_of(refused, "more").sample.values[2]));
  const auto allowed = evidence_by(compare("allow: [seeds]"));
  EXPECT_EQ(contrast(allowed, "more").verdict, Verdict::better);
  EXPECT_FALSE(contrast(allowed, "more").no_claim);
  EXPECT_EQ(contrast(allowed, "more").differences.size(), 7U);
}

TEST(Evidence, WhatCountsByTokensIsNotHeldAgainstOtherTokens) {
  auto runs = runs_of({{"base", {0.1}}, {"more", {0.2}}});
  runs.results.front().target_tokenizer_sha256 = "few";
  runs.results.back().target_tokenizer_sha256 = "many";
  runs.results.back().tests.front().perplexity = 1.5;
  const auto evidence = evidence_of(study_yaml(1, {"more"}, kCompare), runs);
  const auto more = arm_of(evidence, "more");
  EXPECT_FALSE(find_cell(more, "length 12", "perplexity")->best);
  EXPECT_TRUE(find_cell(more, "length 12", "exact_match")->best);
  EXPECT_TRUE(says(notes_of(evidence), "\ncopy: the arms cut text into different tokens"));
  const auto by_loss =
      study_of(study_yaml(1, {"more"}, "compare: {baseline: base, metric: loss}\n"));
  EXPECT_THROW(make_evidence(by_loss, runs), UsageError);
  runs.results.back().target_tokenizer_sha256 = "few";
  EXPECT_TRUE(
      find_cell(arm_of(make_evidence(by_loss, runs), "more"), "length 12", "perplexity")->best);
}

TEST(Evidence, MeansOfDifferentSeedsHaveNoBest) {
  auto runs = runs_of({{"base", {0.1, 0.1}}, {"more", {0.2, 0.2}}});
  const auto is_best = [&] {
    const auto evidence = evidence_of(study_yaml(2, {"more"}, kCompare), runs);
    return cell_of(evidence, "more", "exact_match").best;
  };
  EXPECT_TRUE(is_best());
  runs.results.erase(runs.results.begin());
  EXPECT_FALSE(is_best()) << "base has its second seed alone";
  runs.results.erase(runs.results.begin());
  EXPECT_FALSE(is_best()) << "nothing is worse";
}

TEST(Evidence, AnArmThatIsOnlyEvaluatedTookNoTimeToTrain) {
  auto runs = runs_of({{"base", {0.1}}, {"more", {0.2}}});
  for (auto& run : runs.results) {
    run.training_seconds = run.arm == "base" ? 5 : 0;
    run.tokens = run.arm == "base" ? 20 : 0;
    run.memory_bytes = 7;
  }
  runs.results.back().steps = 0;
  runs.results.back().earlier_steps = 10;
  const auto evidence = evidence_of(study_yaml(1, {"more"}, kCompare), runs);
  for (const auto member : {&ArmEvidence::tokens_per_second, &ArmEvidence::training_seconds,
                            &ArmEvidence::memory_bytes}) {
    EXPECT_EQ((arm_of(evidence, "base").*member).count, 1);
    EXPECT_EQ((arm_of(evidence, "more").*member).count, 0) << "neither zero nor anything else";
  }
  EXPECT_EQ(arm_of(evidence, "base").tokens_per_second.mean, 20 / 5.0);
}

TEST(Evidence, SuccessIsCountedInSeedsThatHaveNearlyAllRight) {
  const auto evidence =
      evidence_of(study_yaml(6, {"more"}, kCompare),
                  {{"base", std::vector(6, 1.0)}, {"more", {1, 0.95, 0.94, 0, 0, 0}}});
  const auto& success = cell_of(evidence, "more").success.value();
  EXPECT_EQ(success.solved, 2);
  EXPECT_EQ(success.runs, 6);
  EXPECT_NEAR(success.interval.low, 0.0968, 1e-4);
  EXPECT_FALSE(cell_of(evidence, "more", "perplexity").success.has_value());
  const auto open = evidence_of(study_yaml(1, {"more"}, kCompare), {{"base", {1.0}}});
  EXPECT_FALSE(cell_of(open, "more").success.has_value()) << "of no run";
}

TEST(Evidence, OverTasksThereIsNoMeanOfAMetricWithoutAHighestValue) {
  auto runs = runs_of({{"base", {0.5, 0.6}}, {"more", {0.7, 0.9}}});
  auto others = runs.results;
  for (auto& run : others) run.task = "sort";
  runs.results.insert(runs.results.end(), others.begin(), others.end());
  const auto aggregates = [&](const std::string& metric) {
    return evidence_of(study_yaml(2, {"more"},
                                  "tasks: {copy: {}, sort: {data.task: sort}}\n"
                                  "compare: {baseline: base, metric: " +
                                      metric + ", allow: [data]}\n"),
                       runs)
        .aggregates.size();
  };
  EXPECT_EQ(aggregates("exact_match"), 2U);
  EXPECT_EQ(aggregates("bleu"), 2U);
  for (const char* metric : {"perplexity", "loss", "train_loss"}) EXPECT_EQ(aggregates(metric), 0U);
}

TEST(Evidence, TheSameArmTwiceIsClaimedToDifferAtTheNominalRate) {
  const auto study = study_of(study_yaml(6, {"again"}, kCompare));
  std::mt19937 random{1};
  std::normal_distribution<double> score{0.7, 0.1};
  constexpr int kStudies = 1000;
  int claims = 0;
  for (int i = 0; i < kStudies; ++i) {
    Scores scores;
    for (const char* arm : {"base", "again"})
      for (int seed = 0; seed < 6; ++seed) scores[arm].push_back(score(random));
    const auto verdict = contrast(make_evidence(study, runs_of(scores)), "again").verdict;
    claims += is_claim(verdict) ? 1 : 0;
  }
  const double rate = 2.0 / 64;  // the largest that six seeds allow below 0.05
  EXPECT_NEAR(static_cast<double>(claims) / kStudies, rate,
              4 * std::sqrt(rate * (1 - rate) / kStudies));
}

}  // namespace
}  // namespace ablate::analysis
