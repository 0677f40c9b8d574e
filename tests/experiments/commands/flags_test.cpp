#include "experiments/commands/flags.h"

#include "experiments/errors.h"
#include "tests/experiments/program.h"
#include "tests/says.h"

namespace ablate::commands {
namespace {

class FlagsTest : public ProgramTest {};

TEST(CheckMode, RefusesEveryFlagThatAModeDoesNotName) {
  CLI::App app;
  bool list = false, json = false;
  std::string study;
  app.add_option("study", study);
  app.add_flag("--list", list);
  app.add_flag("--json", json);
  app.parse(std::vector<std::string>{"--json", "--list", "a.yaml"});
  EXPECT_NO_THROW(check_mode(app, {"--list", {"study", "--list", "--json"}}));
  EXPECT_EQ(refusal_of<UsageError>([&] {
              check_mode(app, {"--list", {"--list"}});
            }),
            "study, --json have no effect with --list; leave them out");
}

TEST_F(FlagsTest, AModeOfAVerbRefusesWhatItDoesNotRead) {
  const auto refused = [&](const std::string& words, const std::string& message) {
    EXPECT_EQ(ablate(words), (Outcome{2, "ablate: " + message + "\n"})) << words;
  };
  refused("run --list --seeds 3",
          "--seeds has no effect with --list without a study; leave it out");
  refused("run tiny.yaml --list --jobs 2 --dry-run",
          "--jobs, --dry-run have no effect with --list; leave them out");
  refused("run tiny.yaml --dry-run --retries 2",
          "--retries has no effect with --dry-run; leave it out");
  refused("run tiny.yaml --dry-run --ranks 2 --jobs 2",
          "--jobs has no effect with --dry-run and a launcher or ranks, which times nothing; leave "
          "it out");
  refused("run tiny.yaml --launcher print --json",
          "--json has no effect with --launcher print; leave it out");
  refused("data fetch --list --to x", "--to has no effect with --list; leave it out");
  refused("data show --task copy --tasks x", "--tasks has no effect without a study; leave it out");
  refused("data show copy", "'copy' is a task, not a study; write --task copy");
  refused("help run --all", "run has no effect with --all; leave it out");
  refused("export r --to x --format safetensors --data .",
          "--data has no effect with --format safetensors; leave it out");
  EXPECT_EQ(ablate("inspect positions --causal").code, 2);
  EXPECT_EQ(ablate("train r --rank-timeout 9").code, 2);
}

TEST_F(FlagsTest, AListIsAlsoPrintedAsJson) {
  const auto lines = lines_of(ablate("run tiny.yaml --output out --list --json").output);
  ASSERT_EQ(lines.size(), 1U);
  EXPECT_EQ(nlohmann::json::parse(lines[0]),
            (nlohmann::json{{"run", "copy/base/seed-1"},
                            {"state", "new"},
                            {"folder", "out/tiny/copy/base/seed-1"},
                            {"study", "out/tiny"}}));
  const auto shipped = lines_of(ablate("run --list --json").output);
  ASSERT_FALSE(shipped.empty());
  for (const auto& line : shipped) EXPECT_TRUE(nlohmann::json::parse(line).contains("question"));
}

TEST_F(FlagsTest, TheFolderOfAStudyIsContinuedAsItWasStarted) {
  ASSERT_EQ(ablate("run tiny.yaml --output out --set training.steps=3 --seeds 4 --jobs 1").code, 0);
  const auto result = folder_ / "out/tiny/copy/base/seed-4/result.json";
  std::filesystem::remove(result);
  EXPECT_TRUE(ends(ablate("run out/tiny --jobs 1"), 0));
  EXPECT_EQ(read_json(result).at("steps"), 3);
  EXPECT_EQ(ablate("run out/tiny --list").output,
            "finished\tcopy/base/seed-4\t" + result.parent_path().string() + "\n");
  EXPECT_EQ(
      ablate("run out/tiny --set training.steps=4"),
      (Outcome{2,
               "ablate: --set has no effect on the folder of a study that was started; leave it "
               "out\n"}));
  EXPECT_TRUE(says(ablate("run out").output, "is not the folder of a study"));
}

}  // namespace
}  // namespace ablate::commands
