#include "experiments/config/schema/printer.h"
#include "experiments/config/study/explanation.h"
#include "experiments/config/study/tuning.h"
#include "tests/experiments/config/study_text.h"
#include "tests/message_table.h"

namespace ablate::config {
namespace {

/// The values that are given somewhere, with their origins, and those that no default model has.
std::string values_of(const Experiment& experiment,
                      const std::map<std::string, std::string>& origins) {
  static const auto kDefaults = "\n" + canonical({});
  std::istringstream lines(canonical(experiment));
  std::string text;
  for (std::string line; std::getline(lines, line);) {
    const auto& origin = origins.at(line.substr(0, line.find('=')));
    if (origin != kDefaultOrigin || !says(kDefaults, "\n" + line + "\n"))
      text += fmt::format("  {}  # {}\n", line, origin);
  }
  return text;
}

/// The runs in their order and then the trial runs of tune, each with its values.
std::string runs_of(const Study& study) {
  std::string text, before;
  const auto add = [&](const std::string& name, const auto& one) {
    const auto values = values_of(one.experiment, one.origins);
    text += values == before ? name + ": the same\n" : name + "\n" + values;
    before = values;
  };
  for (const auto& run : study.runs)
    add(fmt::format("{}/{}/{}", run.task, folder_arm(run), run.seed), run);
  if (study.tuning && study.tuning->by != TunedBy::curve) {
    const auto& tuning = *study.tuning;
    text += fmt::format("tune on {}\n", fmt::join(tuning.seeds, ", "));
    for (const auto& arm : tuning.arms)
      for (const auto& values : combinations(declared_axes(tuning)))
        add(name_of(arm.arm, tuning, values), *candidate_of(arm, tuning, values, study.file));
  }
  text.pop_back();
  return text;
}

/// "line:column: message" of every mistake in the study; with "--show runs" its runs; the
/// notes on a study without mistakes; "accepted" if there are none.
std::string answer(const MessageRow& row) {
  std::vector<int64_t> seeds;
  for (const auto& seed : row.values("--seeds")) seeds.push_back(std::stoll(seed));
  const TemporaryFile file(row.text);
  try {
    const auto study = read_study(file.path(), {.sets = row.values("--set"),
                                                .arms = row.values("--arms"),
                                                .tasks = row.values("--tasks"),
                                                .sizes = row.values("--sizes"),
                                                .seeds = seeds,
                                                .count = parameters_of});
    if (!row.values("--show").empty()) return runs_of(study);
    if (study.notes.empty()) return "accepted";
    return fmt::format("note: {}", fmt::join(study.notes, "\nnote: "));
  } catch (const ConfigError& error) {
    return messages_in(error.problems, "");
  }
}

class StudyMessages : public testing::TestWithParam<const char*> {};

TEST_P(StudyMessages, AreThoseOfTheTable) {
  const auto folder = std::filesystem::path(ABLATE_SOURCE) / "tests/experiments/config/messages";
  MessageTable(folder / (std::string(GetParam()) + ".txt")).check(answer);
}

INSTANTIATE_TEST_SUITE_P(Each, StudyMessages,
                         testing::Values("comparisons", "crossed", "documents", "layers", "match",
                                         "models", "notes", "runs", "settings", "starts", "studies",
                                         "tuning", "values", "words"),
                         [](const auto& one) { return one.param; });

TEST(Explanations, AreThoseOfTheTable) {
  MessageTable(ABLATE_SOURCE "/tests/experiments/config/messages/explanations.txt")
      .check([](const MessageRow& row) {
        std::istringstream words(row.text);
        std::string text;
        for (std::string word; std::getline(words, word);)
          for (const auto& problem : problems_of([&] { text += explanation(word); }))
            text += problem.message + "\n";
        text.pop_back();
        return text;
      });
}

/// Texts that an editor would change.
TEST(StudyMessages, AreThoseOfBytesThatNoTableHolds) {
  EXPECT_EQ(messages_of("\357\273\277" + kBase),
            "study.yaml: begins with a byte order mark; save it as UTF-8 without BOM");
  EXPECT_EQ(messages_of("name: s\nbase:\n\tmodel: {}\n"),
            "study.yaml:3:1: tab in the indentation; use spaces");
  EXPECT_EQ(messages_of("name: \377\n"),
            "study.yaml:1:7: byte 0xFF is not UTF-8; save the file as UTF-8");
  EXPECT_EQ(messages_of("name: a\001b\n"), "study.yaml:1:8: control character 0x01");
  EXPECT_EQ(messages_of("name: s\r\nseeds: [1]\r\nbase: {data: {task: coppy}}\r\n"),
            "study.yaml:3:21: unknown task 'coppy' in data; did you mean 'copy'?");
  EXPECT_EQ(messages_of(kBase, {.sets = {"model.layers=2\007"}}),
            "--set:1:15: control character 0x07");
}

}  // namespace
}  // namespace ablate::config
