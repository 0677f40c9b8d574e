#include <set>

#include "tests/experiments/program.h"

namespace ablate::commands {
namespace {

using WordSet = std::set<std::string>;

/// The script as the program prints it, run by the shells themselves.
class CompletionTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    setenv("PATH", (ABLATE_BUILD ":" + std::string(getenv("PATH"))).c_str(), 1);
    ASSERT_EQ(program("completion >", folder_ / "script").code, 0);
  }

  static WordSet lines(const std::string& text) {
    const auto all = lines_of(text);
    return {all.begin(), all.end()};
  }

  /// What the verb prints for the last of `words`.
  static WordSet offered(const std::string& words) {
    return lines(output_of(program("complete --", words, "2>&1")));
  }

  /// What a shell offers for the last of `words`.
  static WordSet in_shell(const std::string& shell_name, const std::string& words) {
    write_file(folder_ / "ask", "complete() { :; }\nsource " + (folder_ / "script").string() +
                                    "\nCOMP_WORDS=(" + words +
                                    ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_ablate\n"
                                    "printf '%s\\n' \"${COMPREPLY[@]}\"\n");
    return lines(output_of(shell(shell_name + " " + (folder_ / "ask").string() + " 2>&1")));
  }

  static inline const Folder own_;
  static inline const auto& folder_ = own_.path;
};

TEST_F(CompletionTest, TheVerbNamesWhatTheLastWordCanBecome) {
  EXPECT_EQ(offered("tra"), (WordSet{"train", "translate"}));
  EXPECT_EQ(offered("help tran"), WordSet{"translate"});
  EXPECT_EQ(offered("run study.yaml --see"), WordSet{"--seeds"});
  EXPECT_EQ(offered("config show --ar"), WordSet{"--arms"});
  EXPECT_EQ(offered("export r --format saf"), WordSet{"safetensors"});
  EXPECT_EQ(offered("eval r --checkpoint ''"), (WordSet{"averaged", "best", "last"}));
  EXPECT_EQ(offered("run run --set model.position.ki"), WordSet{"model.position.kind"});
  EXPECT_TRUE(offered("config explain training.sch").contains("training.schedule.kind"));
  EXPECT_EQ(offered("run s"), WordSet{}) << "a file";
  EXPECT_EQ(offered("run s.yaml --jobs ''"), WordSet{}) << "a number";
  EXPECT_EQ(offered(""), WordSet{});
  EXPECT_EQ(offered("complet"), WordSet{"completion"}) << "the verb itself is for shells";
}

TEST_F(CompletionTest, ShellsOfferWhatTheVerbNames) {
  for (const std::string name : {"bash", "zsh -f -o ksharrays -o shwordsplit"}) {
    if (shell("command -v " + name.substr(0, name.find(' ')) + " >/dev/null").code != 0) continue;
    EXPECT_EQ(in_shell(name, "ablate tra"), (WordSet{"train", "translate"})) << name;
    EXPECT_EQ(in_shell(name, "ablate run study.yaml --se"), (WordSet{"--seeds", "--set"})) << name;
    EXPECT_EQ(in_shell(name, "ablate export r --format ''"),
              (WordSet{"huggingface", "safetensors", "torchscript"}))
        << name;
  }
}

}  // namespace
}  // namespace ablate::commands
