#include <set>
#include <sstream>

#include "tests/experiments/program.h"

namespace ablate::commands {
namespace {

using WordSet = std::set<std::string>;

/// Completion scripts as the program prints them, run by the shells themselves.
class CompletionTest : public testing::Test {
 protected:
  static void SetUpTestSuite() {
    std::string pattern = testing::TempDir() + "ablate-XXXXXX";
    folder_ = mkdtemp(pattern.data());
    setenv("PATH", (ABLATE_BUILD ":" + std::string(getenv("PATH"))).c_str(), 1);
    for (const std::string name : {"bash", "zsh", "fish"})
      ASSERT_EQ(shell(kProgram + " completion " + name + " > " + script(name)).code, 0);
  }
  static void TearDownTestSuite() { std::filesystem::remove_all(folder_); }

  static std::string script(const std::string& name) { return (folder_ / name).string(); }

  static bool installed(const std::string& name) {
    return shell("command -v " + name + " >/dev/null").code == 0;
  }

  /// What the verb prints for the last of `words`, without descriptions.
  static WordSet offered(const std::string& words) {
    const auto outcome = shell(kProgram + " complete -- " + words + " 2>&1");
    EXPECT_EQ(outcome.code, 0) << outcome.output;
    return without_descriptions(lines(outcome.output));
  }

  static WordSet without_descriptions(const WordSet& words) {
    WordSet bare;
    for (const auto& word : words) bare.insert(word.substr(0, word.find('\t')));
    return bare;
  }

  static WordSet lines(const std::string& text) {
    std::istringstream stream(text);
    WordSet words;
    for (std::string line; std::getline(stream, line);) words.insert(line);
    return words;
  }

  /// What bash offers for the last of `words`, which bash has split as it does.
  static WordSet bash(const std::string& words) {
    write_file(folder_ / "ask", "source " + script("bash") + "\nCOMP_WORDS=(" + words +
                                    ")\nCOMP_CWORD=$((${#COMP_WORDS[@]} - 1))\n_ablate\n"
                                    "printf '%s\\n' \"${COMPREPLY[@]}\"\n");
    const auto outcome = shell("cd " + folder_.string() + " && bash ask 2>&1");
    EXPECT_EQ(outcome.code, 0) << outcome.output;
    return lines(outcome.output);
  }

  /// What zsh is given, with its own functions replaced by ones that print.
  static WordSet zsh(const std::string& words) {
    write_file(folder_ / "ask",
               "compdef() {}\ncompset() {}\n_files() { print FILES }\n"
               "compadd() { while [[ $1 != -- ]]; do shift; done; shift; (( $# )) && print -l -- "
               "\"$@\"; true }\n"
               "source " +
                   script("zsh") + "\nwords=(" + words + ")\nCURRENT=${#words}\n_ablate\n");
    const auto outcome = shell("zsh -f " + (folder_ / "ask").string() + " 2>&1");
    EXPECT_EQ(outcome.code, 0) << outcome.output;
    return lines(outcome.output);
  }

  static WordSet fish(const std::string& line) {
    const auto outcome = shell("HOME=" + folder_.string() + " fish --no-config -c 'source " +
                               script("fish") + "; complete -C \"" + line + "\"' 2>&1");
    EXPECT_EQ(outcome.code, 0) << outcome.output;
    return without_descriptions(lines(outcome.output));
  }

  static inline std::filesystem::path folder_;
};

bool contains(const WordSet& words, const WordSet& some) {
  for (const auto& word : some)
    if (!words.contains(word)) return false;
  return true;
}

TEST_F(CompletionTest, TheVerbNamesWhatTheLastWordCanBecome) {
  EXPECT_EQ(offered("tra"), (WordSet{"train", "translate"}));
  EXPECT_EQ(offered("run study.yaml --see"), WordSet{"--seeds"});
  EXPECT_EQ(offered("run run --set model.position.kind=le"),
            WordSet{"model.position.kind=learned"});
  EXPECT_EQ(offered("export r --format=saf"), WordSet{"--format=safetensors"});
  EXPECT_EQ(offered("run --output=r"), WordSet{"*"}) << "a file";
  EXPECT_EQ(offered("run s.yaml --jobs ''"), WordSet{}) << "a number";
  EXPECT_EQ(offered("run s.yaml --set model=''"), WordSet{}) << "a section";
  EXPECT_EQ(offered("run s.yaml --set nothing.at.all="), WordSet{});
  EXPECT_EQ(offered(""), WordSet{});
  EXPECT_EQ(offered("complet"), WordSet{"completion"}) << "the verb itself is for shells";
  EXPECT_EQ(shell(kProgram + " complete -- doct").output.substr(0, 7), "doctor\t");
}

TEST_F(CompletionTest, BashOffersVerbsAndFlags) {
  EXPECT_EQ(bash("ablate tra"), (WordSet{"train", "translate"}));
  EXPECT_TRUE(contains(bash("ablate ''"), {"run", "config", "doctor", "completion"}));
  EXPECT_TRUE(contains(bash("ablate config ''"), {"check", "show", "explain"}));
  EXPECT_EQ(bash("ablate run study.yaml --se"), (WordSet{"--seeds", "--set"}));
  EXPECT_EQ(bash("ablate config show --ar"), WordSet{"--arms"});
  EXPECT_EQ(bash("ablate help tran"), WordSet{"translate"});
}

TEST_F(CompletionTest, BashOffersWordsOfOptions) {
  EXPECT_EQ(bash("ablate export r --format ''"),
            (WordSet{"huggingface", "safetensors", "torchscript"}));
  EXPECT_EQ(bash("ablate export r --format = saf"), WordSet{"safetensors"});
  EXPECT_EQ(bash("ablate export r --format ="),
            (WordSet{"huggingface", "safetensors", "torchscript"}));
  EXPECT_EQ(bash("ablate eval r --checkpoint ''"), (WordSet{"averaged", "best", "last"}));
  EXPECT_EQ(bash("ablate report r --format mark"), WordSet{"markdown"});
  EXPECT_EQ(bash("ablate data show --task rev"), WordSet{"reverse"});
  EXPECT_EQ(bash("ablate completion ''"), (WordSet{"bash", "fish", "zsh"}));
}

TEST_F(CompletionTest, BashOffersKeysAndTheirValues) {
  EXPECT_EQ(bash("ablate run s.yaml --set model.position.ki"), WordSet{"model.position.kind="});
  EXPECT_EQ(bash("ablate run s.yaml --set model.position.kind = le"), WordSet{"learned"});
  EXPECT_EQ(bash("ablate run s.yaml --set model.bias ="), (WordSet{"false", "true"}));
  EXPECT_EQ(bash("ablate run s.yaml --set = model.bi"), WordSet{"model.bias="});
  EXPECT_EQ(bash("ablate run s.yaml --set = model.bias = t"), WordSet{"true"});
  EXPECT_EQ(bash("ablate config explain training.sch"),
            bash("ablate config explain training.schedule"));
  EXPECT_TRUE(bash("ablate config explain training.sch").contains("training.schedule.kind"));
}

TEST_F(CompletionTest, BashOffersFilesWhereFilesAreWanted) {
  write_file(folder_ / "my study.yaml", "");
  EXPECT_EQ(bash("ablate run my"), WordSet{"my study.yaml"});
  EXPECT_EQ(bash("ablate run s.yaml --output my"), WordSet{"my study.yaml"});
  EXPECT_EQ(bash("ablate run s.yaml --jobs ''"), WordSet{""});
}

TEST_F(CompletionTest, ZshOffersTheSame) {
  if (!installed("zsh")) GTEST_SKIP() << "zsh is not installed";
  EXPECT_TRUE(contains(zsh("ablate ''"), {"run", "config", "doctor", "completion"}));
  EXPECT_TRUE(contains(zsh("ablate run s.yaml --s"), {"--seeds", "--set"}));
  EXPECT_TRUE(contains(zsh("ablate run s.yaml --set m"), {"model.position.kind=", "model.bias="}));
  EXPECT_TRUE(contains(zsh("ablate run s.yaml --set model.bias="),
                       {"model.bias=true", "model.bias=false"}));
  EXPECT_TRUE(contains(zsh("ablate export r --format ''"), {"safetensors", "torchscript"}));
  EXPECT_EQ(zsh("ablate run s"), WordSet{"FILES"});
  EXPECT_EQ(zsh("ablate run s.yaml --jobs ''"), WordSet{});
}

TEST_F(CompletionTest, FishOffersTheSame) {
  if (!installed("fish")) GTEST_SKIP() << "fish is not installed";
  EXPECT_EQ(fish("ablate tra"), (WordSet{"train", "translate"}));
  EXPECT_TRUE(contains(fish("ablate config "), {"check", "show", "explain"}));
  EXPECT_TRUE(contains(fish("ablate run s.yaml --se"), {"--seeds", "--set"}));
  EXPECT_TRUE(contains(fish("ablate export r --format "), {"safetensors", "torchscript"}));
  EXPECT_EQ(fish("ablate run s.yaml --set model.position.kind=le"),
            WordSet{"model.position.kind=learned"});
  write_file(folder_ / "my-study.yaml", "");
  EXPECT_EQ(fish("ablate run " + folder_.string() + "/my"),
            WordSet{(folder_ / "my-study.yaml").string()});
}

}  // namespace
}  // namespace ablate::commands
