#include "experiments/commands/command_line.h"

#include <nlohmann/json.hpp>
#include <sstream>

#include "tests/experiments/program.h"
#include "tests/message_table.h"

namespace ablate::commands {
namespace {

/// Thrown where a command line is understood and its verb would begin to work.
struct VerbBegins {};

/// What the command line says against the words of a row; '' is an empty one.
std::string answer(const MessageRow& row) {
  std::vector<std::string> words;
  std::istringstream text(row.name);
  for (std::string word; text >> word;) words.push_back(word == "''" ? "" : word);
  bool debug = false;
  const auto app = command_line(debug);
  for (const auto& mistake : {unknown_word(*app, words), empty_item(*app, words)})
    if (!mistake.empty()) return mistake;
  app->parse_complete_callback([] { throw VerbBegins(); });
  try {
    app->parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const CLI::ParseError& error) {
    return error.what();
  } catch (const VerbBegins&) {
  }
  return "understood";
}

TEST(CommandLine, SaysWhatIsWrongWithIt) {
  setenv("HOME", "/home/u", 1);
  MessageTable(std::filesystem::path(ABLATE_SOURCE) /
               "tests/experiments/commands/command_lines.txt")
      .check(answer);
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
  const auto findings = nlohmann::json::parse(
      output_of(shell(kProgram + " doctor --output " + folder_.string() + "/new --json")));
  EXPECT_GE(findings.size(), 10U);
  for (const auto& finding : findings)
    EXPECT_EQ(finding["health"] == "ok", finding["remedy"] == "") << finding;
  EXPECT_TRUE(std::filesystem::is_empty(folder_) || !std::filesystem::exists(folder_ / "new"));
}

}  // namespace
}  // namespace ablate::commands
