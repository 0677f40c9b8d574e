#include <nlohmann/json.hpp>

#include "tests/experiments/program.h"

namespace ablate::experiments {
namespace {

constexpr const char* kTiny =
    "d_model: 32, layers: 1, attention: { heads: 4 }, feed_forward: { kind: dense, d_hidden: 64 }, "
    "dropout: 0.0";
constexpr const char* kTraining =
    "tokens_per_batch: 512, max_length: 32, label_smoothing: 0.0, clip: 1.0, schedule: { kind: "
    "cosine, peak: 5.0e-3, warmup: 20 }, threads: 1";

class FamilyTest : public ProgramTest {
 protected:
  FamilyTest() {
    for (const char* set : {"train", "validation", "test"}) {
      std::string labelled, running;
      for (int i = 0; i < 120; ++i) {
        const std::string text = std::string(i % 3 == 0 ? "a very " : "the ") +
                                 (i % 2 == 0 ? "good" : "bad") + (i % 5 == 0 ? " plot" : " film");
        labelled += text + "\t" + (i % 2 == 0 ? "positive" : "negative") + "\n";
        running += text + "\n";
      }
      write_file(folder_ / (std::string(set) + ".tsv"), labelled);
      write_file(folder_ / (std::string(set) + ".txt"), running);
    }
  }

  /// Runs a study of one arm and returns its result.
  nlohmann::json result(const std::string& name, const std::string& data, const std::string& model,
                        const std::string& more) {
    const auto file = folder_ / (name + ".yaml");
    write_file(file, "name: " + name + "\nseeds: [1]\nbase:\n  data: { " + data +
                         " }\n  model: { " + kTiny + ", " + model + " }\n  training: { " +
                         kTraining + more + " }\n" + "  tokenizer: { kind: word, mask: true }\n");
    const auto outcome =
        shell(kProgram + " run " + file.string() + " --output " + folder_.string() + " 2>&1");
    EXPECT_EQ(outcome.code, 0) << outcome.output;
    output_ = outcome.output;
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_ / name))
      if (entry.path().filename() == "result.json") {
        run_ = entry.path().parent_path();
        return nlohmann::json::parse(read_file(entry.path()));
      }
    return {};
  }

  std::string output_;
  std::filesystem::path run_;
};

TEST_F(FamilyTest, ADecoderAloneLearnsPairsAsOneSequence) {
  const auto result = this->result(
      "prefix",
      "task: copy, symbols: 12, train_length: [3, 3], test_length: [3], examples: { train: 2000, "
      "validation: 5, test: 5 }",
      "family: decoder_only, position: { kind: rotary }", ", steps: 250");
  EXPECT_EQ(result["tests"][0]["exact_match"].get<double>(), 1.0) << output_;
  const auto translated =
      shell("echo 'a l d' | " + kProgram + " translate " + run_.string() + " --beam 3");
  EXPECT_EQ(translated.output, "a l d\n");
}

TEST_F(FamilyTest, ALanguageModelIsScoredByTheCharacter) {
  const auto result = this->result(
      "language", "task: language, train: train.txt, validation: validation.txt, block: 16",
      "family: decoder_only", ", steps: 150");
  const auto& test = result["tests"][0];
  EXPECT_EQ(test["compared"], "nothing");
  EXPECT_LT(test["nats_per_character"].get<double>(), 0.15) << output_;
  EXPECT_NE(output_.find("nats/char"), std::string::npos) << output_;
  EXPECT_EQ(output_.find("BLEU"), std::string::npos) << output_;
}

TEST_F(FamilyTest, AClassifierStartsFromAMaskedLanguageModel) {
  const auto masked = this->result(
      "masked", "task: language, train: train.txt, validation: validation.txt, block: 16",
      "family: encoder_only", ", steps: 500");
  EXPECT_LT(masked["validation_perplexity"].get<double>(), 3.0) << output_;
  const auto from = run_.string();
  const auto labelled = this->result(
      "labelled", "task: labelled, train: train.tsv, validation: validation.tsv, test: test.tsv",
      "family: encoder_only, tying: none, output: { kind: label }",
      ", steps: 60, start: '" + from + "'");
  EXPECT_NE(output_.find("weights of " + from + "; new: classifier"), std::string::npos) << output_;
  EXPECT_EQ(labelled["tests"][0]["exact_match"].get<double>(), 1.0) << output_;
  const auto classes = shell("printf 'the bad film\\na very good plot\\n' | " + kProgram +
                             " translate " + run_.string());
  EXPECT_EQ(classes.output, "negative\npositive\n");
}

}  // namespace
}  // namespace ablate::experiments
