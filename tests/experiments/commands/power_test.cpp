#include "tests/experiments/program.h"

namespace ablate {
namespace {

class PowerTest : public ProgramTest {
 protected:
  PowerTest() {
    write_file(study(), read_file(study()) +
                            "arms: { base: {}, wide: { model.d_model: 24 } }\n"
                            "compare: { baseline: base, metric: perplexity }\n");
  }

  Outcome power(const std::string& more) const {
    return shell(kProgram + " power " + (folder_ / "out/tiny").string() + " " + more + " 2>&1");
  }
};

TEST_F(PowerTest, TellsTheSeedsThatADifferenceTakes) {
  ASSERT_EQ(shell(command("out", "--seeds 1,2,3")).code, 0);
  const auto seeds = [&](const std::string& more) {
    const auto json = nlohmann::json::parse(lines_of(power(more + " --json").output).front());
    EXPECT_EQ(json.at("pilot_seeds"), 3);
    return json.at("seeds").is_null() ? 1000 : json.at("seeds").get<int>();
  };
  EXPECT_EQ(seeds("--difference 1e6"), 6) << "fewer show nothing";
  EXPECT_EQ(seeds("--difference 1e-9"), 1000) << "more than it looks for";
  EXPECT_NE(power("--difference 1").output.find("wide"), std::string::npos);
  EXPECT_EQ(power("--difference -1").code, 2);
}

TEST_F(PowerTest, RefusesAPilotOfOneSeed) {
  ASSERT_EQ(shell(command("out")).code, 0);
  const auto outcome = power("--difference 1");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_NE(outcome.output.find("two finished seeds or more"), std::string::npos);
}

}  // namespace
}  // namespace ablate
