#include "experiments/commands/command_line.h"

#include <algorithm>
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

TEST(CommandLine, OnlyTheVerbThatShellsAskIsHidden) {
  bool debug = false;
  const auto app = command_line(debug);
  EXPECT_EQ(hidden_parts(*app), 1);
  EXPECT_EQ(verb_named(*app, "complete")->get_group(), "");
}

TEST(CommandLine, WhateverIsPrintedEndsQuietlyWhereNoOneReads) {
  for (const std::string verb :
       {"config docs", "help --all", "--version", "run --help", "run --list"})
    EXPECT_EQ(shell("bash -c 'exec 3> >(exit 0); wait $!; " + kProgram + " " + verb +
                    " 2>&1 >&3; echo $?'")
                  .output,
              "141\n")
        << verb;
}

TEST(CommandLine, WhateverIsPrintedNamesAFullDisk) {
  for (const std::string verb : {"config docs", "--version", "run --help"}) {
    const auto full = shell(kProgram + " " + verb + " 2>&1 > /dev/full");
    EXPECT_EQ(full.code, 7) << verb;
    EXPECT_TRUE(
        full.output.starts_with("ablate: cannot write 'standard output': No space left on device"))
        << full.output;
  }
}

TEST(CommandLine, UnknownVerbsComeWithTheNearest) {
  EXPECT_EQ(mistake({"rnu", "study.yaml"}), "unknown verb 'rnu'; did you mean 'run'?");
  EXPECT_EQ(mistake({"plot", "runs/a"}), "unknown verb 'plot'; did you mean 'report'?");
  EXPECT_EQ(mistake({"a.yaml"}), "unknown verb 'a.yaml'; write ablate run a.yaml");
  EXPECT_EQ(mistake({"run", "a.yaml", "training.steps=5"}),
            "'training.steps=5' is no argument of run; write --set training.steps=5");
  EXPECT_EQ(mistake({"run", "runs/peak=0.1", "a.yaml"}), "");
  EXPECT_EQ(mistake({"validate", "study.yaml"}),
            "unknown verb 'validate'; did you mean 'config check'?");
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
  EXPECT_EQ(mistake({"run", "study.yaml", "--lr", "0.1"}),
            "unknown flag '--lr' of run; keys of the study are given as --set "
            "training.schedule.peak=VALUE");
  EXPECT_EQ(mistake({"run", "study.yaml", "--steps=9"}),
            "unknown flag '--steps' of run; keys of the study are given as --set "
            "training.steps=VALUE");
  EXPECT_EQ(mistake({"--verison"}), "unknown flag '--verison'; did you mean '--version'?");
  EXPECT_EQ(mistake({"doctor", "--frobnicate"}),
            "unknown flag '--frobnicate' of doctor; see ablate doctor --help");
}

TEST(CommandLine, ValuesAndWordsBehindTwoDashesAreNoFlags) {
  EXPECT_EQ(mistake({"run", "s.yaml", "--output", "--sede"}), "");
  EXPECT_EQ(mistake({"run", "--", "--sede"}), "");
  EXPECT_EQ(mistake({"run", "s.yaml", "--debug", "--set", "a=-1"}), "");
}

TEST(CommandLine, ATokenizerThatIsTrainedTakesNoFileOfAnother) {
  const auto refused = shell(kProgram + " tokenizer train --model x --input y --file z 2>&1");
  EXPECT_EQ(refused.code, 2);
  EXPECT_NE(refused.output.find("--file"), std::string::npos) << refused.output;
}

TEST(CommandLine, AnEmptyTextIsNoValue) {
  const auto outcome =
      shell(kProgram + " tokenizer train --model x --input y --vocabulary '' 2>&1");
  EXPECT_EQ(outcome.code, 2) << outcome.output;
  EXPECT_EQ(outcome.output.find("ablate: --vocabulary: "), 0U) << outcome.output;
}

TEST(CommandLine, AListHasNoEmptyItems) {
  bool debug = false;
  const auto app = command_line(debug);
  const auto mistake = [&](const std::vector<std::string>& words) {
    return empty_item(*app, words);
  };
  EXPECT_EQ(mistake({"run", "s.yaml", "--seeds", "1,,2"}), "--seeds: '1,,2' has an empty item");
  EXPECT_EQ(mistake({"run", "s.yaml", "--seeds=1,2,"}), "--seeds: '1,2,' has an empty item");
  EXPECT_EQ(mistake({"run", "s.yaml", "--json", "--arms", ",a"}), "--arms: ',a' has an empty item");
  EXPECT_EQ(mistake({"run", "s.yaml", "--seeds", "1,2", "--slurm", ",,"}), "");
  EXPECT_EQ(mistake({"run", "s.yaml", "--seeds"}), "");
  const auto outcome = shell(kProgram + " run no.yaml --seeds 1,,2 2>&1");
  EXPECT_EQ(outcome.code, 2);
  EXPECT_EQ(outcome.output, "ablate: --seeds: '1,,2' has an empty item\n");
}

/// What the command line says against `arguments`; empty where it carries them out.
std::string refusal(std::vector<std::string> arguments) {
  bool debug = false;
  const auto app = command_line(debug);
  std::ranges::reverse(arguments);  // CLI11 takes them from the back
  try {
    app->parse(arguments);
  } catch (const CLI::ParseError& error) {
    return error.what();
  } catch (const std::exception&) {  // it was carried out and found no study
  }
  return "";
}

TEST(CommandLine, ATildeIsNoFolder) {
  setenv("HOME", "/home/u", 1);
  const std::string shell = ", since only a shell expands ~";
  EXPECT_EQ(refusal({"run", "no.yaml", "--output=~/x"}),
            "--output: '~/x' is no path; write /home/u/x" + shell);
  EXPECT_EQ(refusal({"run", "~/no.yaml"}),
            "study: '~/no.yaml' is no path; write /home/u/no.yaml" + shell);
  EXPECT_EQ(refusal({"export", "run", "--to", "~"}), "--to: '~' is no path; write /home/u" + shell);
  EXPECT_EQ(refusal({"generate", "run", "--prompt", "~/x"}), "") << "text may be anything";
}

TEST(CommandLine, NumbersAreReadAsThoseOfAStudy) {
  const auto seeds = [](const std::string& text) {
    return refusal({"run", "no.yaml", "--seeds", text});
  };
  EXPECT_EQ(seeds("010"), "--seeds: '010' has leading zeros; write 10");
  EXPECT_EQ(seeds(""), "--seeds: '' is not an integer");
  EXPECT_EQ(seeds("99999999999999999999"),
            "--seeds: '99999999999999999999' is too large for an integer");
  EXPECT_EQ(seeds("0x10"), "--seeds: '0x10' is not an integer");
  EXPECT_EQ(seeds("1-3"), "--seeds: '1-3' is not an integer; write 1,2,3");
  EXPECT_EQ(seeds("3-1"), "--seeds: '3-1' is not an integer");
  EXPECT_EQ(seeds("1e3"), "--seeds: '1e3' is not an integer; write 1000");
  EXPECT_EQ(seeds("1,010"), "--seeds: '010' has leading zeros; write 10");
  EXPECT_EQ(seeds("1,2"), "");
  EXPECT_EQ(refusal({"run", "no.yaml", "--jobs", "04"}), "--jobs: '04' has leading zeros; write 4");
  EXPECT_EQ(refusal({"run", "no.yaml", "--jobs=-1"}), "--jobs: must be from 1 to 1024, not -1");
}

TEST(CommandLine, CountsAreNotNegative) {
  EXPECT_EQ(refusal({"data", "show", "--task", "copy", "--seed=-1"}),
            "--seed: must not be negative");
  EXPECT_EQ(refusal({"data", "show", "--task", "copy", "--examples=-1"}),
            "--examples: must be from 0 to 1000000, not -1");
  EXPECT_EQ(refusal({"moefy", "run", "--to", "x", "--seed=-1"}), "--seed: must not be negative");
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

}  // namespace
}  // namespace ablate::commands
