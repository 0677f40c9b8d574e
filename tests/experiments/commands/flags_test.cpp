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

TEST_F(FlagsTest, TheFolderOfAStudyIsContinuedAsItWasStarted) {
  ASSERT_EQ(ablate("run tiny.yaml --output out --set training.steps=3 --seeds 4 --jobs 1").code, 0);
  const auto result = folder_ / "out/tiny/copy/base/seed-4/result.json";
  const auto scores = scores_in(read_file(result));
  std::filesystem::remove(result);
  EXPECT_TRUE(ends(ablate("run out/tiny --jobs 1"), 0));
  EXPECT_EQ(scores_in(read_file(result)), scores);
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
