#include "tests/experiments/program.h"
#include "tests/says.h"

namespace ablate::commands {
namespace {

/// The tiny study with two arms and these seeds.
class CrossedSeeds : public ProgramTest {
 protected:
  void with_seeds(const std::string& seeds) const {
    const auto tiny = read_file(std::string(ABLATE_SOURCE) + "/tests/experiments/tiny.yaml");
    write_file(study(), replaced(tiny, "seeds: [1]", "seeds: " + seeds) +
                            "arms: { base: {}, wide: { model.d_model: 24 } }\n"
                            "compare: { baseline: base, metric: loss }\n");
  }
  void train_crossed() const {
    with_seeds("{ initialization: [1, 2], order: [1, 2] }");
    given_runs("out");
  }
  std::filesystem::path folder() const { return folder_ / "out/tiny"; }
  std::filesystem::path base(int seed, const std::string& output = "out") const {
    return folder_ / output / "tiny/copy/base" / ("seed-" + std::to_string(seed));
  }
  std::string weights(const std::filesystem::path& run) const {
    return read_file(run / "checkpoints/step-00000060/model.safetensors");
  }
};

TEST_F(CrossedSeeds, DecideInitialValuesAndAllElseApart) {
  train_crossed();
  const auto initial = [&](int seed) { return read_file(base(seed) / "initial_weights.json"); };
  EXPECT_EQ(initial(1001), initial(1002));
  EXPECT_NE(initial(1001), initial(2001));
  EXPECT_NE(log_of(base(1001)), log_of(base(1002)));
  EXPECT_NE(log_of(base(1001)), log_of(base(2001)));
}

TEST_F(CrossedSeeds, OfOneNumberAreThatPlainSeed) {
  train_crossed();
  with_seeds("[1, 2]");
  given_runs("plain");
  for (const int seed : {1, 2}) {
    EXPECT_FALSE(weights(base(seed, "plain")).empty());
    EXPECT_EQ(weights(base(1001 * seed)), weights(base(seed, "plain")));
  }
}

TEST_F(CrossedSeeds, HaveTheirComponentsInEveryFormOfTheReport) {
  train_crossed();
  const auto task = read_json(folder() / "results.json").at("tasks").at(0);
  EXPECT_EQ(task.at("components").at(0).at("initializations"), 2);
  for (const auto* file : {"table.txt", "table.md", "table.tex", "report.html"})
    EXPECT_TRUE(says(read_file(folder() / file), "wide minus the baseline")) << file;
  const auto shown = program("report", folder());
  EXPECT_TRUE(says(shown.output, "copy: components of variance of loss")) << shown.output;
  EXPECT_TRUE(says(shown.output, "error (2 x 2)")) << shown.output;
}

TEST_F(CrossedSeeds, AreContinuedAndPackedAsOthersAre) {
  train_crossed();
  const auto results = read_file(folder() / "results.json");
  std::filesystem::remove_all(base(2001));
  EXPECT_EQ(lines_of(program("status", folder(), "--json").output).size(), 8U);
  ASSERT_TRUE(ends(shell(command("out")), 0));
  EXPECT_TRUE(std::filesystem::exists(base(2001) / "result.json"));
  const auto scores = [](const std::string& text) {
    return nlohmann::json::parse(text).at("tasks").at(0).at("components");
  };
  EXPECT_EQ(scores(read_file(folder() / "results.json")), scores(results));
  ASSERT_TRUE(ends(ablate("pack out/tiny"), 0));
  const auto packed = ablate("report out/tiny.zip --format json 2>/dev/null");
  EXPECT_EQ(scores(packed.output), scores(results));
}

TEST_F(CrossedSeeds, MayGrowButNotTurnIntoPlainOnes) {
  train_crossed();
  with_seeds("{ initialization: [1, 2], order: [1, 2, 3] }");
  EXPECT_TRUE(ends(shell(command("out", "--dry-run --launcher print")), 0, "seed-2003"));
  with_seeds("[1001, 1002, 2001, 2002]");
  EXPECT_TRUE(ends(shell(command("out")), 2, "seeds: crossed before, a list now"));
}

TEST_F(CrossedSeeds, AreNoPilotAndNotPooled) {
  train_crossed();
  EXPECT_TRUE(ends(ablate("power out/tiny --difference 1"), 2, "crosses its seeds"));
  EXPECT_TRUE(ends(ablate("report out/tiny --together"), 2, "crosses its seeds"));
}

}  // namespace
}  // namespace ablate::commands
