#include <algorithm>
#include <regex>
#include <sstream>

#include "experiments/commands/command_line.h"
#include "experiments/config/study/study.h"
#include "experiments/run/model_cost.h"
#include "tests/experiments/program.h"
#include "tests/says.h"

namespace ablate::commands {
namespace {

const std::filesystem::path kRepository = ABLATE_SOURCE;

struct Command {
  std::string where;
  std::string text;  // "ablate ..."
};

/// Every page but that of parts which are not in the program yet (tests/long/extending.py).
std::vector<std::filesystem::path> documents() {
  std::vector<std::filesystem::path> files{kRepository / "README.md",
                                           kRepository / "bench/README.md"};
  for (const auto& entry : std::filesystem::recursive_directory_iterator(kRepository / "docs"))
    if (entry.path().extension() == ".md" && entry.path().filename() != "extending.md")
      files.push_back(entry.path());
  return files;
}

/// The examples in the help of `app` and of every verb below it.
void collect_examples(const CLI::App& app, std::vector<Command>& commands) {
  for (const auto& line : lines_of(app.get_footer()))
    if (line.starts_with("  ")) commands.push_back({app.get_name() + " --help", line.substr(2)});
  for (const auto* verb : app.get_subcommands([](const CLI::App*) { return true; }))
    collect_examples(*verb, commands);
}

std::vector<Command> examples() {
  bool debug = false;
  std::vector<Command> commands;
  collect_examples(*command_line(debug), commands);
  return commands;
}

/// Lines of code blocks, and `code` in the text.
std::vector<Command> code_of(const std::filesystem::path& document) {
  std::vector<Command> code;
  bool block = false;
  std::string text;
  for (const auto& line : lines_of(read_file(document))) {
    if (line.starts_with("```"))
      block = !block;
    else if (block)
      code.push_back({document.string(), line});
    else
      text += line + "\n";
  }
  std::ranges::replace(text, '\n', ' ');
  for (size_t begin = text.find('`'), end = 0; begin != std::string::npos;
       begin = text.find('`', end + 1)) {
    end = std::min(text.find('`', begin + 1), text.size());
    code.push_back({document.string(), text.substr(begin + 1, end - begin - 1)});
  }
  return code;
}

/// "a b|c [d]" is "a b d" and "a c d".
std::vector<std::string> alternatives_of(const std::string& synopsis) {
  const std::string text = std::regex_replace(synopsis, std::regex(R"([\[\]]|\.\.\.)"), "");
  std::smatch found;
  if (!std::regex_search(text, found, std::regex(R"((\S+)\|(\S+))"))) return {text};
  std::vector<std::string> all;
  std::istringstream words(found.str());
  for (std::string word; std::getline(words, word, '|');)
    for (const auto& rest : alternatives_of(found.suffix().str()))
      all.push_back(found.prefix().str() + word + rest);
  return all;
}

/// Every `ablate ...` in a line of code, without pipes, redirections and what stands beside it.
std::vector<std::string> commands_in(const std::string& code) {
  std::vector<std::string> commands;
  const std::regex command(
      R"((?:^|[(|] *|  )(?:build/)?(ablate(?: [^ <>|()#][^<>()#]*?)?)(?= *(?:$|[<>)#]|\| |   )))");
  for (std::sregex_iterator at(code.begin(), code.end(), command), end; at != end; ++at)
    for (const auto& one : alternatives_of((*at)[1].str())) commands.push_back(one);
  return commands;
}

std::vector<Command> documented_commands() {
  auto code = examples();
  for (const auto& document : documents())
    for (const auto& one : code_of(document)) code.push_back(one);
  std::vector<Command> commands;
  for (const auto& line : code)
    for (const auto& command : commands_in(line.text)) commands.push_back({line.where, command});
  return commands;
}

std::vector<std::string> words_of(const std::string& command) {
  std::vector<std::string> words;
  const std::regex word(R"x('([^']*)'|"([^"]*)"|(\S+))x");
  for (std::sregex_iterator at(command.begin(), command.end(), word), end; at != end; ++at)
    for (size_t group = 1; group <= 3; ++group)
      if ((*at)[group].matched) words.push_back((*at)[group].str());
  words.erase(words.begin());
  for (auto& one : words)
    if (one == "N" || one == "STEP") one = "1";
  return words;
}

/// Thrown where a command line is understood and its verb would begin to work.
struct Understood {};

/// Whether only verbs are named, as in a sentence: "`ablate import` reads them".
bool only_verbs(const std::vector<std::string>& words) {
  return words.size() <= 2 && std::ranges::none_of(words, [](const std::string& word) {
           return word.find_first_of("-./ABCDEFGHIJKLMNOPQRSTUVWXYZ") != std::string::npos;
         });
}

std::string parse(const std::vector<std::string>& words) {
  bool debug = false;
  const auto app = command_line(debug);
  const auto unknown = unknown_word(*app, words);
  if (!unknown.empty() || only_verbs(words)) return unknown;
  app->parse_complete_callback([] { throw Understood(); });
  try {
    app->parse(std::vector<std::string>(words.rbegin(), words.rend()));
  } catch (const Understood&) {
  } catch (const CLI::Error& error) {
    return error.what();
  }
  const auto* run = app->get_subcommand("run");
  const auto list = [&](const char* name) { return run->get_option(name)->results(); };
  const auto study = list("study");
  if (study.empty() || !study[0].starts_with("experiments/")) return {};
  return refusal_of<std::exception>([&] {
    config::read_study(kRepository / study[0], {.sets = list("--set"),
                                                .arms = list("--arms"),
                                                .tasks = list("--tasks"),
                                                .count = run::counted_parameters()});
  });
}

TEST(DocumentedCommands, AreFoundInProseBlocksAndSynopses) {
  using Words = std::vector<std::string>;
  EXPECT_EQ(commands_in("build/ablate verify model.pt"), Words{"ablate verify model.pt"});
  EXPECT_EQ(commands_in("source <(ablate completion)"), Words{"ablate completion"});
  EXPECT_EQ(commands_in("echo 'a b' | ablate translate RUN --beam 2 > out"),
            Words{"ablate translate RUN --beam 2"});
  EXPECT_EQ(commands_in("ablate config check|show     ablate eval RUN [--beam N]   what it does"),
            (Words{"ablate config check", "ablate config show", "ablate eval RUN --beam N"}));
  EXPECT_EQ(commands_in("the ablated model"), Words{});
  EXPECT_GT(documented_commands().size(), 80U);
}

TEST(DocumentedCommands, AreAllUnderstood) {
  for (const auto& command : documented_commands())
    EXPECT_EQ(parse(words_of(command.text)), "") << command.where << ": " << command.text;
}

TEST(DocumentedCommands, NameFilesThatExist) {
  const std::regex file(R"((?:^|[ =])((?:experiments|bench|docs|tests|cmake)/[\w./-]+))");
  for (const auto& document : documents())
    for (const auto& code : code_of(document))
      for (std::sregex_iterator at(code.text.begin(), code.text.end(), file), end; at != end; ++at)
        EXPECT_TRUE(std::filesystem::exists(kRepository / (*at)[1].str()))
            << document << ": " << (*at)[1].str();
}

TEST(DocumentedCommands, MakeHasTheTargets) {
  const auto makefile = "\n" + read_file(kRepository / "Makefile");
  const std::regex make(R"(^make ([a-z-]+))");
  int targets = 0;
  for (const auto& document : documents())
    for (const auto& code : code_of(document)) {
      std::smatch found;
      if (!std::regex_search(code.text, found, make)) continue;
      EXPECT_TRUE(says(makefile, "\n" + found[1].str() + ":")) << code.text;
      ++targets;
    }
  EXPECT_GE(targets, 4);
}

}  // namespace
}  // namespace ablate::commands
