#include "experiments/run/run_data.h"

#include "experiments/config/study/study.h"
#include "tests/experiments/program.h"

namespace ablate::run {
namespace {

class ShortfallsTest : public ProgramTest {
 protected:
  /// Those of the first run of a study with these lines below base.
  std::vector<std::string> shortfalls_of(const std::string& lines) const {
    const auto file = folder_ / "study.yaml";
    write_file(file, "name: s\nseeds: [1]\nbase:\n" + lines);
    const auto experiment = config::read_study(file.string()).runs.front().experiment;
    return shortfalls(experiment, read_run_data(experiment, folder_, {}));
  }
};

// Of two symbols there are two strings of one symbol and four of two, and evaluation takes half.
TEST_F(ShortfallsTest, NameGeneratedSetsThatAreSmallerThanWasAsked) {
  const std::string data = "  data: {task: copy, symbols: 2, train_length: [3, 9], ";
  EXPECT_EQ(
      shortfalls_of(data + "test_length: [1, 2, 12], examples: {train: 300, validation: 10, "
                           "test: 200}}\n  training: {tokens_per_batch: 64, max_length: 32}\n"),
      (std::vector<std::string>{
          "the test set 'length 1' has 1 of the 200 examples that data.examples asks for: "
          "there are not enough different ones",
          "the test set 'length 2' has 2 of the 200 examples that data.examples asks for: "
          "there are not enough different ones"}));
}

TEST_F(ShortfallsTest, NameAVocabularyAndATrainingSetThatAreTooSmall) {
  write_file(folder_ / "pairs.tsv", "a b\tc d\nb a\td c\nb b\tc c\n");
  const std::string data =
      "  data: {task: text, train: [pairs.tsv], validation: [pairs.tsv], test: [pairs.tsv]}\n";
  const auto training = [](int64_t tokens) {
    return "  training: {max_length: 4, tokens_per_batch: " + std::to_string(tokens) + "}\n";
  };
  const std::string vocabulary =
      "the vocabulary has 8 tokens instead of the 50 of tokenizer.vocabulary: the training text "
      "gives no more";
  EXPECT_EQ(shortfalls_of(data + "  tokenizer: {kind: word, vocabulary: 50}\n" + training(8)),
            std::vector<std::string>{vocabulary});
  EXPECT_EQ(shortfalls_of(data + "  tokenizer: {kind: word, vocabulary: 50}\n" + training(9)),
            (std::vector<std::string>{
                vocabulary,
                "the training set fits into one batch of training.tokens_per_batch (9), so every "
                "update sees the same 3 examples"}));
}

}  // namespace
}  // namespace ablate::run
