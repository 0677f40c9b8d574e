#include <fmt/format.h>
#include <gtest/gtest.h>

#include "tests/experiments/config/study_text.h"
#include "tests/says.h"

namespace ablate::config {
namespace {

std::string repeated(const std::string& text, size_t times) {
  std::string all;
  for (size_t i = 0; i < times; ++i) all += text;
  return all;
}

TEST(Limits, SixtyFourLevelsAreReadAndSixtyFiveAreNot) {
  const auto study = [](size_t levels) {
    return fmt::format("x: {}{}\n", repeated("[", levels - 1), repeated("]", levels - 1));
  };
  EXPECT_EQ(messages_of(study(65)), "study.yaml:1:67: nested deeper than 64 levels");
  EXPECT_FALSE(says(messages_of(study(64)), "nested"));
}

TEST(Limits, AHundredThousandBracketsEndCleanly) {
  EXPECT_TRUE(says(messages_of(repeated("[", 100'000)), "nested deeper than 64 levels"));
}

TEST(Limits, AliasesCannotNestDeeperThanText) {
  const std::string deep = fmt::format("{}1{}", repeated("[", 40), repeated("]", 40));
  const std::string yaml =
      fmt::format("a: &a {}\nb: {}*a{}\n", deep, repeated("[", 40), repeated("]", 40));
  EXPECT_EQ(messages_of(yaml), "study.yaml:2:44: nested deeper than 64 levels");
}

TEST(Limits, AliasBombEndsCleanly) {
  std::string yaml = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n";
  for (int i = 1; i < 9; ++i)
    yaml += fmt::format("a{0}: &a{0} [{1}*a{2}]\n", i, repeated(fmt::format("*a{}, ", i - 1), 9),
                        i - 1);
  EXPECT_TRUE(says(messages_of(yaml), "more than 20000 values, aliases included"));
}

TEST(Limits, TwentyThousandValuesAreTooMany) {
  EXPECT_TRUE(says(messages_of(fmt::format("x: [{}1]\n", repeated("1, ", 20'000))),
                   "more than 20000 values"));
}

TEST(Limits, AFileAboveOneMebibyteIsRefused) {
  EXPECT_EQ(messages_of(fmt::format("# {}", std::string(1 << 20, 'x'))),
            "study.yaml: is larger than 1 MiB, the limit of a configuration");
}

/// Or ten thousand mistakes in a line of a mebibyte would take ten gibibytes.
TEST(Limits, NoMistakeKeepsACopyOfALongLine) {
  std::string line = "name: s, seeds: [1]";
  for (int i = 0; i < 9'000; ++i) line += fmt::format(", x{}: 1", i);
  const TemporaryFile file("{" + line + std::string(900'000, ' ') + "}\n");
  const auto problems = problems_of([&] { read_study(file.path()); });
  EXPECT_GE(problems.size(), 9'000U);
  for (const auto& problem : problems) EXPECT_TRUE(problem.text.empty());
}

TEST(Limits, ManyRunsAreRefused) {
  std::string seeds = "0";
  for (int i = 1; i <= 10'000; ++i) seeds += ", " + std::to_string(i);
  EXPECT_EQ(messages_of("name: s\nseeds: [" + seeds + "]\nbase: {data: {task: copy}}\n"),
            "study.yaml:1:1: the study has 10001 runs; at most 10000 are possible");
}

TEST(Limits, ALongDottedPathIsRefused) {
  const auto text = messages_of(kBase + "arms: {a: {" + repeated("a.", 400) + "b: 1}}\n");
  EXPECT_TRUE(says(text, "is not a key path")) << text.substr(0, 200);
  EXPECT_LT(text.size(), 200U);
}

TEST(Limits, ALongLineIsNotPrinted) {
  const auto text = error_of(kModel + "{d_modle: 1} #" + std::string(500, 'x') + "\n");
  EXPECT_EQ(text, "study.yaml:5:11: unknown key 'd_modle' in model; did you mean 'd_model'?");
}

TEST(Limits, MissingFileAndFolderAreConfigErrors) {
  const auto message = [](const std::filesystem::path& path) {
    return refusal_of<ConfigError>([&] { read_study(path); });
  };
  EXPECT_EQ(message("no/such.yaml"), "no/such.yaml: cannot be read: No such file or directory");
  EXPECT_EQ(message("/"), "/: is a folder, not a file");
}

TEST(Limits, EscapeSequencesDoNotReachTheTerminal) {
  const auto text = error_of(kModel + "{\"\\x1b[31m\": 1}\n");
  EXPECT_EQ(text.find('\x1b'), std::string::npos);
  EXPECT_TRUE(says(text, "unknown key '?[31m' in model"));
}

TEST(Messages, ColumnsAndCaretsCountCharactersNotBytes) {
  EXPECT_EQ(error_of("{name: äöü, sedes: 1, seeds: [1], base: {data: {task: copy}}}\n"),
            "study.yaml:1:8: study name 'äöü' may hold only letters, digits, '.', '_', '=' and "
            "'-'\n"
            "  {name: äöü, sedes: 1, seeds: [1], base: {data: {task: copy}}}\n"
            "         ^\n"
            "study.yaml:1:13: unknown key 'sedes'; did you mean 'seeds'?\n"
            "  {name: äöü, sedes: 1, seeds: [1], base: {data: {task: copy}}}\n"
            "              ^");
}

TEST(Messages, ShowTheLineAndACaretUnderTheCharacter) {
  EXPECT_EQ(error_of(kBase + "question: 'äö' # ü\nbaes: 1\n"),
            "study.yaml:6:1: unknown key 'baes'; did you mean 'base'?\n  baes: 1\n  ^");
  EXPECT_EQ(
      error_of(kHead + "base: {data: {task: 'ä'}}\n"),
      "study.yaml:3:21: unknown task 'ä' in data; choose copy, reverse, sort, duplicate, "
      "selective_copy, parity, modular_arithmetic, dyck, recall, depo, brevo, capo, mano, lano, "
      "facts, table, addition, "
      "numbers, text, labelled, language or tokens\n"
      "  base: {data: {task: 'ä'}}\n"
      "                      ^");
}

}  // namespace
}  // namespace ablate::config
