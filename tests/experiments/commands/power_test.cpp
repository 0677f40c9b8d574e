#include "tests/experiments/program.h"
#include "tests/says.h"

namespace ablate {
namespace {

class PowerTest : public ProgramTest {
 protected:
  PowerTest() {
    append(
        "arms: { base: {}, wide: { model.d_model: 24 } }\n"
        "compare: { baseline: base, metric: perplexity }\n");
  }

  Outcome power(const std::string& more) const {
    return program("power", folder_ / "out/tiny", more, "2>&1");
  }
  /// The plans for a study that compares so.
  std::vector<nlohmann::json> plans(const std::string& compare, const std::string& flags) {
    change("metric: perplexity", "metric: perplexity, " + compare);
    given_runs("out", "--seeds 1,2,3");
    return json_lines(output_of(power(flags + " --json")));
  }
};

TEST_F(PowerTest, TellsTheSeedsThatADifferenceTakes) {
  given_runs("out", "--seeds 1,2,3");
  const auto seeds = [&](const std::string& more) {
    const auto json = nlohmann::json::parse(lines_of(power(more + " --json").output).front());
    EXPECT_EQ(json.at("pilot_seeds"), 3);
    return json.at("seeds").is_null() ? 1000 : json.at("seeds").get<int>();
  };
  EXPECT_EQ(seeds("--difference 1e6"), 6) << "fewer show nothing";
  EXPECT_EQ(seeds("--difference 1e-9"), 1000) << "more than it looks for";
  EXPECT_TRUE(says(power("--difference 1").output, "wide"));
  EXPECT_TRUE(says(power("--difference 1").output, "half to six times that of three (95 %)"))
      << "sqrt(2 / 7.38) and sqrt(2 / 0.0506), by chi-squared of two degrees of freedom";
  EXPECT_EQ(power("--difference -1").code, 2);
}

TEST_F(PowerTest, ARegisteredStudyPlansForTheLevelOfItsLook) {
  given_runs("out", "--seeds 1,2,3");
  const auto seeds = [&](const std::string& look) {
    return json_lines(output_of(power("--difference 1e6 --json --look " + look)))
        .front()
        .at("seeds");
  };
  EXPECT_EQ(seeds("1"), 7) << "2 / 2^6 is above 0.05 x 6 / pi^2 = 0.0304, 2 / 2^7 is not";
  EXPECT_EQ(seeds("2"), 9) << "2 / 2^8 is above 0.05 x 6 / (4 pi^2) = 0.0076, 2 / 2^9 is not";
  EXPECT_TRUE(says(power("--difference 1e6 --look 2").output,
                   "at the level 0.0076 of look 2 at its question"));
  const auto planned = [&] { return program("run --dry-run", study(), "2>&1").output; };
  EXPECT_TRUE(says(planned(), "6 seeds can (docs/statistics.md)."));
  const std::string at_once = "7 seeds can (docs/statistics.md, at the level 0.03 of look 1 at its";
  EXPECT_TRUE(ends(program("register", study(), "2>&1"), 0, at_once));
  EXPECT_TRUE(says(
      planned(), "7 seeds can (docs/statistics.md, at the level 0.03 of look 1 at its question)"));
  append("question: Is wide better?\n");
  EXPECT_TRUE(says(planned(), "6 seeds can (docs/statistics.md).")) << "it has changed since";
}

TEST_F(PowerTest, AStudyThatDeclaresTTestsPlansForThem) {
  const auto plan = plans("test: t", "--difference 1e6").front();
  EXPECT_EQ(plan.at("seeds"), 2) << "two seeds are enough for a t test";
  EXPECT_EQ(plan.at("test"), "t");
  EXPECT_EQ(plan.at("shows"), "difference");
}

TEST_F(PowerTest, ByMinPAStudyOfManyArmsPlansForMoreSeeds) {
  const auto plan = plans("correction: min_p", "--difference 1e6 --arms 4").front();
  EXPECT_EQ(plan.at("seeds"), 8) << "4 x 2 / 2^8 is below 0.05";
  EXPECT_EQ(plan.at("correction"), "min_p");
  EXPECT_TRUE(says(power("--difference 1e6").output, "sign flips and min-P"));
  EXPECT_TRUE(says(program("run --dry-run", study(), "--seeds 1,2 2>&1").output,
                   "can show no difference of a single arm; 6 seeds can"));
}

TEST_F(PowerTest, AClaimOfEqualityIsPlannedByItsMargin) {
  const auto plan = plans("claim: equal, margin: 1000000", "").front();
  EXPECT_EQ(plan.at("seeds"), 5) << "the fewest that show equivalence";
  EXPECT_EQ(plan.at("shows"), "equality");
  EXPECT_EQ(plan.at("size"), 1e6);
  EXPECT_EQ(nlohmann::json::parse(power("--difference 1 --json").output).at("seeds"), 5);
  EXPECT_TRUE(
      ends(power("--difference 1e6"), 2, "is not below compare's margin of 1000000 for wide"));
}

TEST_F(PowerTest, OfAControlNothingIsPlanned) {
  const auto all = plans("claim: equal, margin: 1000000, control: true", "");
  ASSERT_EQ(all.size(), 1U);
  EXPECT_EQ(all.front().at("arm"), "wide");
  EXPECT_FALSE(says(program("run --dry-run", study(), "2>&1").output, "can show no difference"))
      << "all that is asked has a margin";
}

TEST_F(PowerTest, AClaimOfNoLossIsPlannedByItsMargin) {
  EXPECT_EQ(plans("claim: noninferior, margin: 1000000", "").front().at("shows"), "no_loss");
}

TEST_F(PowerTest, AClaimedDifferenceIsAboveTheMargin) {
  EXPECT_EQ(plans("claim: superior, margin: 0.5", "--difference 1e6").front().at("seeds"), 6);
  EXPECT_TRUE(
      says(power("--difference 0.5").output, "is not above compare's margin of 0.5 for wide"));
  EXPECT_TRUE(says(power("").output, "--difference is missing"));
}

TEST_F(PowerTest, BesideAClaimedDifferenceAnArmWithAMarginHasNone) {
  change("d_model: 24 } }", "d_model: 24 }, deep: { model.layers: 2 } }");
  const auto all =
      plans("control: false, claim: superior, margin: 10, arms: { deep: { claim: noninferior } }",
            "--difference 1e6");
  ASSERT_EQ(all.size(), 2U);
  EXPECT_EQ(all[0].at("difference"), 1e6);
  EXPECT_EQ(all[1].at("shows"), "no_loss");
  EXPECT_EQ(all[1].at("difference"), 0);
}

TEST_F(PowerTest, RefusesAPilotOfOneSeed) {
  ASSERT_EQ(shell(command("out")).code, 0);
  EXPECT_TRUE(ends(power("--difference 1"), 2, "two finished seeds or more"));
}

}  // namespace
}  // namespace ablate
