#include "experiments/commands/command_line.h"

#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/experiments/program.h"

namespace ablate::commands {
namespace {

std::string mistake(const std::vector<std::string>& arguments) {
  bool debug = false;
  return unknown_word(*command_line(debug), arguments);
}

/// Options and verbs that no help shows.
int hidden_parts(const CLI::App& app) {
  int hidden = 0;
  for (const auto* option : app.get_options()) hidden += option->get_group().empty();
  for (const auto* verb : app.get_subcommands([](const CLI::App*) { return true; }))
    hidden += (verb->get_group().empty() ? 1 : 0) + hidden_parts(*verb);
  return hidden;
}

TEST(CommandLine, NothingIsHidden) {
  bool debug = false;
  EXPECT_EQ(hidden_parts(*command_line(debug)), 0);
}

TEST(CommandLine, TheReferenceIsWhatTheProgramPrints) {
  EXPECT_EQ(read_file(std::string(ABLATE_SOURCE) + "/docs/commands.md"), reference_page())
      << "run: build/ablate help --all > docs/commands.md";
}

TEST(CommandLine, UnknownVerbsComeWithTheNearest) {
  EXPECT_EQ(mistake({"rnu", "study.yaml"}), "unknown verb 'rnu'; did you mean 'run'?");
  EXPECT_EQ(mistake({"tranlsate", "run"}), "unknown verb 'tranlsate'; did you mean 'translate'?");
  EXPECT_EQ(mistake({"config", "shwo"}), "unknown verb 'shwo' of config; did you mean 'show'?");
  EXPECT_EQ(mistake({"--debug", "config", "xyzzy"}).substr(0, 48),
            "unknown verb 'xyzzy' of config; choose check, sh");
}

TEST(CommandLine, UnknownFlagsComeWithTheNearest) {
  EXPECT_EQ(mistake({"run", "s.yaml", "--seed", "1"}),
            "unknown flag '--seed' of run; did you mean '--seeds'?");
  EXPECT_EQ(mistake({"config", "check", "s.yaml", "--arm=a"}),
            "unknown flag '--arm' of config check; did you mean '--arms'?");
  EXPECT_EQ(mistake({"--verison"}), "unknown flag '--verison'; did you mean '--version'?");
  EXPECT_EQ(mistake({"doctor", "--frobnicate"}),
            "unknown flag '--frobnicate' of doctor; see ablate doctor --help");
}

TEST(CommandLine, ValuesAndWordsBehindTwoDashesAreNoFlags) {
  EXPECT_EQ(mistake({"run", "s.yaml", "--output", "--sede"}), "");
  EXPECT_EQ(mistake({"run", "--", "--sede"}), "");
  EXPECT_EQ(mistake({"run", "s.yaml", "--debug", "--set", "a=-1"}), "");
}

TEST(CommandLine, AnUnknownVerbIsAUsageError) {
  const auto outcome = shell(kProgram + " trian 2>&1 >/dev/null");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.output.substr(0, 28), "ablate: unknown verb 'trian'");
}

TEST(CommandLine, WithoutAVerbItPrintsTheHelp) {
  for (const std::string verb : {"", " config"}) {
    const auto help = shell(kProgram + verb + " --help");
    const auto alone = shell(kProgram + verb);
    EXPECT_EQ(alone.code, 0);
    EXPECT_EQ(alone.output, help.output);
    EXPECT_NE(alone.output.find("Subcommands:"), std::string::npos);
  }
}

TEST(CommandLine, HelpOfAVerbIsItsHelp) {
  EXPECT_EQ(shell(kProgram + " help config show").output,
            shell(kProgram + " config show --help").output);
  const auto wrong = shell(kProgram + " help confg 2>&1");
  EXPECT_EQ(wrong.code, 2);
  EXPECT_EQ(wrong.output, "ablate: unknown verb 'confg'; did you mean 'config'?\n");
}

TEST(CommandLine, ListsTheStudiesThatShip) {
  const auto outcome = shell("cd / && " + kProgram + " run --list");
  ASSERT_EQ(outcome.code, 0);
  std::istringstream lines(outcome.output);
  int studies = 0;
  for (std::string file, question, time;
       std::getline(lines, file, '\t') && std::getline(lines, question, '\t') &&
       std::getline(lines, time);
       ++studies) {
    EXPECT_TRUE(std::filesystem::exists(file)) << file;
    EXPECT_TRUE(question.ends_with('?')) << file;
    EXPECT_FALSE(time.empty()) << file;
  }
  EXPECT_GE(studies, 9);
}

class DoctorTest : public ProgramTest {};

TEST_F(DoctorTest, FindsThisMachineFit) {
  const auto outcome = shell(kProgram + " doctor --output " + folder_.string() + "/new --json");
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  const auto findings = nlohmann::json::parse(outcome.output);
  EXPECT_GE(findings.size(), 10U);
  for (const auto& finding : findings)
    EXPECT_EQ(finding["health"] == "ok", finding["remedy"] == "") << finding;
  EXPECT_TRUE(std::filesystem::is_empty(folder_) || !std::filesystem::exists(folder_ / "new"));
}

TEST_F(DoctorTest, AFolderThatCannotBeWrittenFailsWithARemedy) {
  const auto outcome = shell(kProgram + " doctor --output /proc/runs 2>&1");
  EXPECT_EQ(outcome.code, 1);
  EXPECT_NE(outcome.output.find("fail  writing"), std::string::npos) << outcome.output;
  EXPECT_NE(outcome.output.find("choose an --output that can be written"), std::string::npos);
}

class InitTest : public ProgramTest {
 protected:
  Outcome init() {
    return shell("cd " + folder_.string() + " && " + kProgram + " init first.yaml 2>&1");
  }
};

TEST_F(InitTest, WritesAStudyThatRuns) {
  ASSERT_EQ(init().code, 0);
  const auto text = read_file(folder_ / "first.yaml");
  EXPECT_TRUE(text.starts_with("# yaml-language-server: $schema=study.schema.json\n"));
  EXPECT_NE(text.find("ablate run first.yaml"), std::string::npos);
  EXPECT_EQ(read_file(folder_ / "study.schema.json"),
            read_file(std::string(ABLATE_SOURCE) + "/docs/study.schema.json"));
  const auto outcome =
      shell("cd " + folder_.string() + " && " + kProgram +
            " run first.yaml --set training.steps=2 --seeds 1 --arms none --jobs 1 2>&1");
  EXPECT_EQ(outcome.code, 0) << outcome.output;
}

TEST_F(InitTest, NeverReplacesAFile) {
  write_file(folder_ / "first.yaml", "mine");
  const auto outcome = init();
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.output, "ablate: first.yaml exists; name another file or remove it\n");
  EXPECT_EQ(read_file(folder_ / "first.yaml"), "mine");
  EXPECT_FALSE(std::filesystem::exists(folder_ / "study.schema.json"));
}

}  // namespace
}  // namespace ablate::commands
