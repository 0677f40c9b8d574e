#include <gtest/gtest.h>

#include <numbers>

#include "experiments/analysis/claims.h"
#include "experiments/analysis/family.h"
#include "tests/experiments/analysis/synthetic.h"
#include "tests/says.h"

namespace ablate::analysis {
namespace {

/// What is found of arm `a` of a study with so many seeds, as the k-th registered one.
Contrast at_look(int64_t look, int seeds, const std::string& test = "sign_flip") {
  std::vector<double> arm;
  for (int i = 0; i < seeds; ++i) arm.push_back(0.7 + 0.01 * i);
  const auto study = study_of(study_yaml(seeds, {"a"}, compare("test: " + test)));
  auto evidence = make_evidence(
      study, runs_of({{"base", std::vector<double>(static_cast<size_t>(seeds), 0.5)}, {"a", arm}}));
  add_claims(evidence.tasks, study, look);
  return contrast(evidence, "a");
}

TEST(Looks, AtAQuestionShareTheLevelOfOne) {
  double spent = 0;
  for (int64_t look = 1; look < 10'000; ++look) spent += kLevel / statistics::look_factor(look);
  EXPECT_NEAR(spent, kLevel, 1e-5);
  EXPECT_LT(spent, kLevel);
}

TEST(Looks, MultiplyEveryPAndTakeMoreSeeds) {
  const double second = std::numbers::pi * std::numbers::pi * 4 / 6;
  EXPECT_DOUBLE_EQ(at_look(2, 9).difference.adjusted_p, second * 2 / 512);
  EXPECT_DOUBLE_EQ(at_look(2, 9).difference.p, 2.0 / 512);
  EXPECT_EQ(at_look(0, 6).verdict, Verdict::better);
  EXPECT_EQ(at_look(1, 6).verdict, Verdict::too_few_seeds);
  EXPECT_EQ(at_look(1, 7).verdict, Verdict::better);
  EXPECT_EQ(at_look(2, 8).verdict, Verdict::too_few_seeds);
  EXPECT_EQ(at_look(2, 9).verdict, Verdict::better);
  EXPECT_EQ(at_look(1, 4, "t").verdict, Verdict::better);
}

TEST(Looks, AreInThePOfTheSentence) {
  EXPECT_TRUE(says(at_look(0, 9).sentence, "p = 0.004"));
  EXPECT_TRUE(says(at_look(2, 9).sentence, "p = 0.026"));
}

TEST(Looks, WidenIntervalsSoThatTheyAgree) {
  for (const int64_t look : {0, 1, 2, 3})
    for (const char* test : {"sign_flip", "t", "e_value"}) {
      const auto found = at_look(look, 9, test);
      const bool zero = !found.interval || found.interval->low <= 0;
      EXPECT_EQ(zero, found.difference.adjusted_p > kLevel) << look << " " << test;
    }
  EXPECT_LT(at_look(1, 9).interval->low, at_look(0, 9).interval->low);
}

}  // namespace
}  // namespace ablate::analysis
