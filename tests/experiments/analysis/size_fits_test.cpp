#include <gtest/gtest.h>

#include <cmath>

#include "experiments/analysis/aggregate.h"
#include "tests/experiments/analysis/synthetic.h"
#include "tests/says.h"

namespace ablate::analysis {
namespace {

/// Arms of 100, 400 and 1,600 parameters, whose perplexity in seed s is 40 / parameters^(s / 10);
/// 0 where there is no result.
Evidence fitted_evidence(const std::string& fit, int missing_seed = 0) {
  records::StudyRuns runs{.folder = {"none/s"}};
  int64_t parameters = 100;
  for (const char* arm : {"base", "more", "most"}) {
    for (const int seed : {1, 2, 3}) {
      if (seed == missing_seed && parameters == 400) continue;
      auto run = result_of(arm, seed, 0.5);
      run.parameters = parameters;
      run.tests[0].perplexity = 40 / std::pow(static_cast<double>(parameters), seed / 10.0);
      runs.results.push_back(run);
    }
    parameters *= 4;
  }
  return evidence_of(
      study_yaml(3, {"more", "most"},
                 "compare: {baseline: base, metric: perplexity" + fit + ", allow: [seeds]}\n"),
      runs);
}

TEST(SizeFits, HaveAnExponentOfEachSeedAndALawOfTheMeans) {
  const auto fits = fitted_evidence(", fit: power").tasks.front().fits;
  ASSERT_EQ(fits.size(), 1U);
  EXPECT_EQ(fits[0].test_set, "length 12");
  EXPECT_EQ(fits[0].metric, "perplexity");
  for (const size_t seed : {0U, 1U, 2U})
    EXPECT_NEAR(fits[0].exponents.values.at(seed), -0.1 * static_cast<double>(seed + 1), 1e-9);
  EXPECT_NEAR(fits[0].exponents.mean, -0.2, 1e-9);
  EXPECT_FALSE(fits[0].exponents.interval.has_value()) << "three seeds reject no exponent";
  EXPECT_NEAR(fits[0].law.exponent, -0.18, 0.02);
}

TEST(SizeFits, AreMadeOnlyWhereTheStudyAsksForThem) {
  EXPECT_TRUE(fitted_evidence("").tasks.front().fits.empty());
}

TEST(SizeFits, LeaveOutTheControl) {
  const auto with = fitted_evidence(", fit: power, control: true").tasks.front();
  const auto without = fitted_evidence(", fit: power, control: false").tasks.front();
  EXPECT_EQ(with.arms.size(), without.arms.size() + 1);
  ASSERT_EQ(with.fits.size(), 1U);
  EXPECT_EQ(with.fits[0].law.exponent, without.fits.at(0).law.exponent);
}

TEST(SizeFits, ASeedThatOneArmLacksHasNoExponent) {
  const auto fits = fitted_evidence(", fit: power", 2).tasks.front().fits;
  ASSERT_EQ(fits.size(), 1U);
  EXPECT_TRUE(std::isnan(fits[0].exponents.values.at(1)));
  EXPECT_EQ(fits[0].exponents.count, 2);
}

/// The arms base and more in three sizes, the perplexity of `more` falling twice as fast, or being
/// that of the baseline with `ahead` times the parameters; FLOPs are as the parameters.
Evidence evidence_of_sizes(double least = 1, double ahead = 0) {
  records::StudyRuns runs{.folder = {"none/s"}};
  int64_t parameters = 100;
  for (const char* size : {"small", "middle", "large"}) {
    for (const int seed : {1, 2, 3})
      for (const bool more : {false, true}) {
        auto run = result_of(more ? "more" : "base", seed, 0.5);
        run.task = std::string("copy-") + size;
        run.parameters = parameters + (more ? 10 : 0);
        run.training_flops = static_cast<double>(run.parameters);
        run.training_seconds = more ? 3 : 2;
        run.tests[0].perplexity = least * std::pow(run.parameters, more ? -0.4 : -0.2);
        if (more && ahead > 0)
          run.tests[0].perplexity = least * std::pow(ahead * run.training_flops, -0.2);
        runs.results.push_back(run);
      }
    parameters *= 4;
  }
  return evidence_of(
      study_yaml(3, {"more"},
                 "sizes: {small: {}, middle: {model.d_model: 32}, large: {model.d_model: "
                 "64}}\ncompare: {baseline: base, metric: perplexity, fit: power}\n"),
      runs);
}

TEST(SizeFits, OfAStudyWithSizesAreOfEveryArmOverThem) {
  const auto evidence = evidence_of_sizes();
  ASSERT_EQ(evidence.ladders.size(), 1U);
  for (const auto& arm : evidence.ladders[0].arms) {
    ASSERT_TRUE(arm.fit) << arm.name;
    EXPECT_EQ(arm.fit->test_set, "length 12");
    EXPECT_NEAR(arm.fit->law.exponent, arm.name == "more" ? -0.4 : -0.2, 1e-9);
    EXPECT_NEAR(arm.fit->exponents.values.at(2), arm.fit->law.exponent, 1e-9);
  }
  for (const auto& task : evidence.tasks) EXPECT_TRUE(task.fits.empty());
  EXPECT_TRUE(
      says(notes_of(evidence), "copy (length 12), more: perplexity goes as parameters^-0.400"));
}

TEST(SizeFits, TellTheComputeWithWhichTheBaselineWouldReachTheSame) {
  const auto evidence = evidence_of_sizes(1, /*ahead=*/2);
  for (const auto& arm : evidence.ladders.at(0).arms) {
    if (arm.baseline.empty()) {
      EXPECT_TRUE(arm.compute.empty() && arm.time.empty());
      continue;
    }
    ASSERT_EQ(arm.compute.size(), 3U) << arm.name;
    for (const auto& ratio : arm.compute) EXPECT_NEAR(ratio.mean, 0.5, 1e-9);
    ASSERT_EQ(arm.time.size(), 3U) << arm.name;
    for (const auto& ratio : arm.time) EXPECT_NEAR(ratio.mean, 1.5, 1e-9);
  }
  // Of a fall that is twice as steep, 110^-0.4 is the baseline's at 110^2 FLOPs, which is within
  // ten times of its most, 1,600; 410^2 is not.
  const auto steep = evidence_of_sizes().ladders.at(0).arms.back().compute;
  ASSERT_EQ(steep.size(), 3U);
  EXPECT_NEAR(steep[0].mean, 1.0 / 110, 1e-9);
  EXPECT_TRUE(std::isnan(steep[1].mean));
}

TEST(SizeFits, ThatCannotBeMadeAreSaidInTheNotes) {
  EXPECT_TRUE(says(notes_of(evidence_of_sizes(0)), "No power law is fitted"));
}

TEST(SizeFits, AreSaidInTheNotes) {
  const auto all = notes_of(fitted_evidence(", fit: power, control: true"));
  EXPECT_TRUE(says(all, "copy (length 12): perplexity goes as parameters^-0.1"));
  EXPECT_TRUE(says(all, "over the 3 arms' means")) << "the control is left out";
}

}  // namespace
}  // namespace ablate::analysis
