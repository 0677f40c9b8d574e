#include <gtest/gtest.h>

#include "experiments/analysis/figure.h"
#include "tests/experiments/analysis/synthetic.h"

namespace ablate::analysis {
namespace {

TEST(Collapse, OfSeedsIsNamedAndForbidsClaimsOnMeans) {
  const std::vector<double> base(8, 0.99);
  auto broken = std::vector(8, 0.9);
  broken[2] = broken[5] = 0.1;
  const auto study = study_of(study_yaml(8, {"a", "b"}, compare("claim: inferior")));
  const auto evidence =
      make_evidence(study, runs_of({{"base", base}, {"a", broken}, {"b", std::vector(8, 0.9)}}));
  EXPECT_EQ(cell_of(evidence, "a").sample.collapsed, (std::vector<size_t>{2, 5}));
  EXPECT_EQ(contrast(evidence, "a").verdict, Verdict::unstable);
  EXPECT_EQ(contrast(evidence, "a").outcome, Outcome::inconclusive);
  EXPECT_TRUE(
      contrast(evidence, "a")
          .sentence.starts_with("unstable: 2 of 8 seeds collapsed; worse in every pair of 8 "
                                "(sign test p = 0.008 (joint 0.008)); nothing is said "
                                "about means"))
      << contrast(evidence, "a").sentence;
  EXPECT_EQ(verdict_figure(contrast(evidence, "a")), "unstable: 2 of 8 seeds");
  EXPECT_EQ(contrast(evidence, "b").outcome, Outcome::agrees);
  const auto turned =
      make_evidence(study, runs_of({{"base", broken}, {"a", base}, {"b", std::vector(8, 0.9)}}));
  EXPECT_EQ(contrast(turned, "a").verdict, Verdict::unstable) << "the baseline collapsed";
  EXPECT_EQ(verdict_figure(contrast(turned, "a")), "unstable: 2 of 8 seeds of base");
}

TEST(Collapse, LeavesTheSignTestUndecidedWhereSeedsDisagree) {
  const auto evidence = evidence_of(
      study_yaml(8, {"a"}, kCompare),
      {{"base", std::vector(8, 0.5)}, {"a", {0.51, 0.52, 0.5, 0.1, 0.51, 0.49, 0.52, 0.51}}});
  const auto found = contrast(evidence, "a");
  // Five better, two worse, one equal: of 128 patterns of seven signs, 58 are as uneven.
  EXPECT_DOUBLE_EQ(found.sign.p, 58.0 / 128);
  EXPECT_TRUE(found.sentence.starts_with(
      "unstable: 1 of 8 seeds collapsed; better in 5 of 8 seeds; nothing is said about means"))
      << found.sentence;
}

TEST(Collapse, IsNotThatASeedHasNotRun) {
  const auto study = study_of(study_yaml(8, {"a", "b"}, kCompare));
  auto runs = runs_of({{"base", kHigh}, {"a", kHigh}, {"b", kLow}});
  std::erase_if(runs.results, [](const auto& run) { return run.seed == 8; });
  for (const char* arm : {"a", "b"})
    EXPECT_TRUE(cell_of(make_evidence(study, runs), arm).sample.collapsed.empty());
}

}  // namespace
}  // namespace ablate::analysis
