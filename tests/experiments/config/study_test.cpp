#include "experiments/config/study/study.h"

#include <gtest/gtest.h>

#include "tests/experiments/config/study_text.h"

namespace ablate::config {
namespace {

TEST(Study, ClaimsNothingOfTheControl) {
  const auto study =
      study_of(kBase + "arms: {a: {}, b: {}}\n" +
               "compare: {baseline: a, metric: exact_match, control: true, claim: superior}\n");
  EXPECT_FALSE(claim_of(*study.compare, "copy", "control").kind);
  EXPECT_TRUE(claim_of(*study.compare, "copy", "b").kind);
}

TEST(Study, UnknownNamesOfTheSelectionAreReportedWithTheirPlace) {
  const std::string yaml = kBase + "arms: {sinusoidal: {}, learned: {}}\n";
  EXPECT_EQ(error_of(yaml, {.arms = {"sinusoidal", "lerned"}}),
            "--arms:1:12: unknown arm 'lerned'; did you mean 'learned'?\n"
            "  sinusoidal,lerned\n"
            "             ^");
}

TEST(Study, ComparisonIsLeftOutWhereTheBaselineIsNotSelected) {
  const std::string yaml = kBase + "arms: {a: {}, b: {}}\ncompare: {baseline: a, metric: bleu}\n";
  ASSERT_TRUE(study_of(yaml).compare.has_value());
  EXPECT_EQ(study_of(yaml).compare->metric, "bleu");
  EXPECT_FALSE(study_of(yaml, {.arms = {"b"}}).compare.has_value());
}

TEST(Study, RelativeDataStartsAtTheStudyUnlessTheSelectionSaysOtherwise) {
  const TemporaryFile file(kBase);
  EXPECT_EQ(read_study(file.path()).data_folder, file.folder());
  EXPECT_EQ(read_study(file.path(), {.data_folder = "/elsewhere"}).data_folder, "/elsewhere");
}

TEST(ShippedStudies, AreValid) {
  const std::filesystem::path studies = ABLATE_SOURCE "/experiments/studies";
  for (const char* name : {"copy.yaml", "multi30k.yaml"})
    EXPECT_FALSE(read_study(studies / name).runs.empty()) << name;
}

}  // namespace
}  // namespace ablate::config
