#include "tests/experiments/config/study_text.h"
#include "tests/message_table.h"

namespace ablate::config {
namespace {

/// "line:column: message" of every mistake in the study; "note: ..." of what a study without
/// mistakes is told; "accepted" where that is nothing.
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
                                         "models", "notes", "settings", "starts", "studies",
                                         "tuning", "values", "words"),
                         [](const auto& one) { return one.param; });

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
