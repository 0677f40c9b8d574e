#include "experiments/analysis/control.h"

#include <gtest/gtest.h>

#include <limits>

#include "experiments/analysis/claims.h"
#include "tests/experiments/analysis/synthetic.h"
#include "tests/says.h"

namespace ablate::analysis {
namespace {

const std::string kControlled = "compare: {baseline: base, metric: exact_match, control: true}\n";

Evidence controlled(const std::vector<double>& control, const std::vector<double>& arm) {
  const std::vector<double> base{0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5, 0.5};
  return make_evidence(study_of(study_yaml(8, {"a"}, kControlled)),
                       runs_of({{"base", base}, {"a", arm}, {"control", control}}));
}

const std::vector<double> kNoise{0.49, 0.51, 0.49, 0.51, 0.49, 0.51, 0.49, 0.51};

TEST(Control, IsAskedNothingAndIsNeverTheBest) {
  std::vector<double> above = kNoise;
  for (auto& score : above) score += 0.005;
  const auto evidence = controlled(above, std::vector<double>(8, 0.4));
  EXPECT_EQ(contrast(evidence, "control").verdict, Verdict::inconclusive);
  EXPECT_TRUE(is_decided(evidence)) << "the claim on a is all that was asked for";
  EXPECT_FALSE(says(evidence.answer, "control"));
  EXPECT_FALSE(cell_of(evidence, "control").best);
  EXPECT_TRUE(cell_of(evidence, "base").best);
}

TEST(Control, AComparisonWithoutAFiniteValueWaitsForNoFurtherSeed) {
  EXPECT_FALSE(is_decided(controlled(kNoise, kNoise)));
  const std::vector<double> infinite(8, std::numeric_limits<double>::infinity());
  const auto evidence =
      make_evidence(study_of(study_yaml(8, {"a"}, kControlled)),
                    runs_of({{"base", infinite}, {"a", infinite}, {"control", infinite}}));
  EXPECT_EQ(contrast(evidence, "a").verdict, Verdict::not_tested);
  EXPECT_TRUE(is_decided(evidence));
}

TEST(Control, OfAStudyWithoutOneSaysNothing) {
  const auto study = study_of(study_yaml(8, {"control"}, kCompare));
  const auto evidence =
      make_evidence(study, runs_of({{"base", kNoise}, {"control", std::vector<double>(8, 0.9)}}));
  EXPECT_TRUE(control_notes(evidence).empty());
  EXPECT_EQ(control_warning(evidence), "");
}

}  // namespace
}  // namespace ablate::analysis
