#include "tests/experiments/program.h"
#include "tests/says.h"

namespace ablate {
namespace {

/// A study whose two arms differ by far, and its standing below the answer.
class Until : public ProgramTest {
 protected:
  void write(const std::string& compare) const {
    append("arms: { trained: {}, idle: { training.steps: 1 } }\n" + compare);
  }
  Outcome run(const std::string& more) const {
    return ablate("run tiny.yaml --output out " + more);
  }
  nlohmann::json results() const { return read_json(folder_ / "out/tiny/results.json"); }
};

TEST_F(Until, SeedsAreAddedUntilEveryComparisonHasItsClaimAndNoneIsHeldAgainstTheStudy) {
  write("compare: { baseline: trained, metric: perplexity, test: e_value, allow: [steps] }\n");
  const auto outcome = run("--until decided --at-most 12");
  ASSERT_TRUE(ends(outcome, 0, "not decided yet; adding seed 2"));
  const auto found = results();
  EXPECT_GE(found.at("seeds").size(), 6U);
  EXPECT_LT(found.at("seeds").size(), 12U) << "the difference is large";
  EXPECT_TRUE(says(outcome.output, "idle: "));
  EXPECT_FALSE(says(outcome.output, "Added after a report"));
}

TEST_F(Until, TheMostSeedsEndIt) {
  write("compare: { baseline: trained, metric: perplexity, test: e_value, allow: [steps] }\n");
  EXPECT_TRUE(ends(run("--until decided --at-most 2"), 0));
  EXPECT_EQ(results().at("seeds").size(), 2U);
}

TEST_F(Until, ARegisteredStudyIsConfirmatoryUnlessTheSourceWasNotCommitted) {
  write("compare: { baseline: trained, metric: perplexity, allow: [steps] }\n");
  EXPECT_TRUE(ends(ablate("register tiny.yaml"), 0, "tiny.lock"));
  EXPECT_TRUE(ends(ablate("register tiny.yaml"), 2, "is of this study"));
  const auto output = output_of(run(""));
  const auto lock = read_json(folder_ / "tiny.lock");
  const auto commit = lock.at("commit").get<std::string>();
  const bool committed = !commit.empty() && !commit.ends_with("-dirty");
  EXPECT_EQ(output.find("note: results will be exploratory") == std::string::npos, committed);
  EXPECT_EQ(results().at("confirmatory"), committed);
  EXPECT_EQ(results().at("standing"),
            committed ? "Confirmatory: registered at " + lock.at("registered").get<std::string>() +
                            ", before the first run, as study 1 of its question."
                      : "Exploratory: the program's source was not committed.");
}

TEST_F(Until, WhatIsPrintedOfSomeArmsOfARegisteredStudyIsNoMoreConfirmatoryThanItsReport) {
  append(
      "arms: { a: {}, b: { training.steps: 1 }, c: { training.steps: 2 } }\n"
      "compare: { baseline: a, metric: perplexity, allow: [steps], control: false }\n");
  EXPECT_TRUE(ends(ablate("register tiny.yaml"), 0));
  const auto printed = output_of(run("--arms a,b"));
  EXPECT_FALSE(results().at("confirmatory").get<bool>());
  EXPECT_FALSE(says(printed, "Confirmatory")) << printed;
}

TEST_F(Until, AStudyThatWasChangedAfterItsRegistrationIsToldSoBeforeItRuns) {
  EXPECT_TRUE(ends(ablate("register tiny.yaml"), 0));
  EXPECT_TRUE(ends(run("--set training.steps=3"), 0,
                   "note: results will be exploratory: the study is another one than the "
                   "registered one"));
}

}  // namespace
}  // namespace ablate
