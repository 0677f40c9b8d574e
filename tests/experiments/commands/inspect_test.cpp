#include "tests/experiments/program.h"
#include "tests/says.h"

namespace ablate::commands {
namespace {

class InspectTest : public ProgramTest {
 protected:
  Outcome ablate(const std::string& words) const { return program(words, "2>/dev/null"); }
  int64_t parameters(const std::string& line) const {
    const auto colon = line.find(": ");
    return std::stoll(line.substr(colon + 2));
  }
  /// The first line of what it prints of a study with this section of data, and more.
  std::string inspected(const std::string& sections, const std::string& flags = "") {
    write_file(study(),
               "name: tiny\nseeds: [1]\nbase:\n  training: { steps: 1, threads: 1 }\n" + sections);
    const auto outcome = ablate("inspect model " + study().string() + " " + flags);
    EXPECT_EQ(outcome.code, 0);
    return lines_of(outcome.output).front();
  }
  int64_t of_dry_run() const {
    const auto outcome = ablate("run " + study().string() + " --dry-run --json");
    return nlohmann::json::parse(lines_of(outcome.output).front())
        .at("estimate")
        .at("parameters")
        .get<int64_t>();
  }
};

const std::string kTiny =
    "d_model: 16, layers: 1, attention: { heads: 2 }, feed_forward: { d_hidden: 16 } }\n";

TEST_F(InspectTest, CountsAsTheRunsOfGeneratedDataDo) {
  const auto line = lines_of(ablate("inspect model " + study().string()).output).front();
  EXPECT_TRUE(says(line, " parameters with a vocabulary of "));
  EXPECT_TRUE(says(line, " (the data), "));
  EXPECT_EQ(parameters(line), of_dry_run());
}

TEST_F(InspectTest, CountsWithTheVocabularyThatTheStudyDeclaresForFiles) {
  const auto line = inspected(
      "  data: { task: language, train: missing.txt }\n  tokenizer: { kind: unigram, "
      "vocabulary: 2000 }\n  model: { family: decoder_only, " +
      kTiny);
  EXPECT_TRUE(says(line, " with a vocabulary of 2000 (tokenizer.vocabulary), "));
  const auto tokens = inspected(
      "  data: { task: tokens, train: a, validation: b, vocabulary: 40 }\n  model: { "
      "family: decoder_only, " +
      kTiny);
  EXPECT_TRUE(says(tokens, " with a vocabulary of 44 (data.vocabulary), "));
}

TEST_F(InspectTest, CountsTheClassesOfALabelHead) {
  write_file(folder_ / "labelled.tsv", "a b c\tgood\nb c\tbad\nc a\tgood\n");
  const auto line = inspected(
      "  data: { task: labelled, train: labelled.tsv, validation: labelled.tsv, test: "
      "labelled.tsv }\n  tokenizer: { kind: word }\n  model: { family: encoder_only, tying: none, "
      "output: { kind: label }, " +
      kTiny);
  EXPECT_TRUE(says(line, " (the data) and 2 classes (the data), "));
  EXPECT_EQ(parameters(line), of_dry_run());
}

TEST_F(InspectTest, SaysThatANumberWasGivenOrIsNeeded) {
  const std::string sections =
      "  data: { task: language, train: missing.txt }\n  tokenizer: { kind: word }\n  model: { "
      "family: decoder_only, " +
      kTiny;
  EXPECT_TRUE(says(inspected(sections, "--vocabulary 90"), "a vocabulary of 90 (--vocabulary)"));
  const auto refused = program("inspect model", study(), "2>&1");
  EXPECT_TRUE(ends(refused, 2, "the data decides on the vocabulary of language/base"));
  EXPECT_TRUE(says(refused.output, "--vocabulary"));
}

TEST_F(InspectTest, ABenchmarkSaysWithWhichVocabularyItRan) {
  const auto bench = [&](const std::string& flags) {
    const auto outcome = ablate("bench decode " + study().string() +
                                " --steps 1 --batch 2 --threads 1 --json " + flags);
    return nlohmann::json::parse(outcome.output).at("vocabulary").get<int64_t>();
  };
  EXPECT_EQ(bench("--set tokenizer.vocabulary=50"), 50);
  EXPECT_EQ(bench("--vocabulary 30"), 30);
}

}  // namespace
}  // namespace ablate::commands
