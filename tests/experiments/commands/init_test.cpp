#include "tests/experiments/program.h"
#include "tests/says.h"

namespace ablate::commands {
namespace {

/// A folder with a text in the place of tiny Shakespeare.
class InitTest : public ProgramTest {
 protected:
  InitTest() {
    std::filesystem::create_directories(folder_ / "data/tinyshakespeare");
    std::string text;
    for (int i = 0; i < 2000; ++i) text += "Line " + std::to_string(i * i) + ": to be, or not?\n";
    write_file(folder_ / "data/tinyshakespeare/input.txt", text);
  }
};

TEST_F(InitTest, WritesAStudyThatRuns) {
  ASSERT_EQ(ablate("init first.yaml").code, 0);
  const auto text = read_file(folder_ / "first.yaml");
  EXPECT_TRUE(text.starts_with("# yaml-language-server: $schema=study.schema.json\n"));
  EXPECT_TRUE(says(text, "ablate run first.yaml"));
  const auto quickstart =
      read_file(std::string(ABLATE_SOURCE) + "/experiments/studies/quickstart.yaml");
  EXPECT_EQ(text.substr(text.find("question:")), quickstart.substr(quickstart.find("question:")));
  EXPECT_EQ(read_file(folder_ / "study.schema.json"), ablate("config schema").output);
  EXPECT_TRUE(
      ends(ablate("run first.yaml --set training.steps=2 --seeds 1 --arms none --jobs 1"), 0));
}

TEST_F(InitTest, WritesEveryArchitectureThatItNamesEstimatesAndTrainsIt) {
  for (const std::string name :
       {"bert", "gpt2", "llama", "marian", "modernbert", "t5", "vaswani"}) {
    const auto file = name + ".yaml";
    ASSERT_TRUE(ends(ablate("init " + file + " --like " + name), 0, "ablate run " + file));
    const auto checked = ablate("config check " + file + " --data data");
    EXPECT_EQ(checked.output, name + ": 1 task, 2 arms, 6 seeds: 12 runs\n");
    const auto few =
        file + " --data data --seeds 1 --set training.steps=5 --set training.save_every=1 ";
    EXPECT_TRUE(ends(ablate("run " + few + "--dry-run"), 0, "2 runs to do: "));
    EXPECT_TRUE(ends(ablate("run " + few), 0));
  }
  EXPECT_EQ(ablate("init --like gpt5").code, 2);
}

}  // namespace
}  // namespace ablate::commands
