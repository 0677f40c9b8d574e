#include <fmt/format.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "experiments/run/load_run.h"
#include "models/libtorch.h"
#include "tests/experiments/program.h"
#include "tests/says.h"
#include "training/checkpoint/checkpoint.h"

namespace ablate::commands {
namespace {

constexpr const char* kTinyModel =
    "d_model: 32, layers: 1, attention: { heads: 4 }, feed_forward: { kind: dense, d_hidden: 64 }, "
    "dropout: 0.0";
constexpr const char* kTraining =
    "tokens_per_batch: 512, max_length: 32, label_smoothing: 0.0, max_grad_norm: 1.0, schedule: { "
    "kind: "
    "cosine, peak: 5.0e-3, warmup: 20 }, threads: 1";

constexpr const char* kCopying =
    "task: copy, symbols: 12, train_length: [3, 3], test_length: [3], examples: { train: 2000, "
    "validation: 5, test: 5 }";
/// Names of classes that a tokenizer takes for one word.
constexpr const char* kGood = "no\u2581fault";
constexpr const char* kBad = "no\u2581good";

class FamilyTest : public ProgramTest {
 protected:
  FamilyTest() {
    for (const char* set : {"train", "validation", "test"}) {
      std::string labelled, running;
      for (int i = 0; i < 120; ++i) {
        const std::string text = std::string(i % 3 == 0 ? "a very " : "the ") +
                                 (i % 2 == 0 ? "good" : "bad") + (i % 5 == 0 ? " plot" : " film");
        labelled += text + "\t" + (i % 2 == 0 ? kGood : kBad) + "\n";
        running += text + "\n";
      }
      write_file(folder_ / (std::string(set) + ".tsv"), labelled);
      write_file(folder_ / (std::string(set) + ".txt"), running);
    }
  }

  /// Runs a study of one arm.
  Outcome run_study(const std::string& name, const std::string& data, const std::string& model,
                    const std::string& more) const {
    const auto file = folder_ / (name + ".yaml");
    write_file(file, "name: " + name + "\nseeds: [1]\nbase:\n  data: { " + data +
                         " }\n  model: { " + kTinyModel + ", " + model + " }\n  training: { " +
                         kTraining + more + " }\n" + "  tokenizer: " + tokenizer_ + "\n");
    return program("run", file, "--output", folder_, "2>&1");
  }
  /// The result of such a study.
  nlohmann::json result(const std::string& name, const std::string& data, const std::string& model,
                        const std::string& more) {
    output_ = output_of(run_study(name, data, model, more));
    for (const auto& entry : std::filesystem::recursive_directory_iterator(folder_ / name))
      if (entry.path().filename() == "result.json") {
        run_ = entry.path().parent_path();
        return read_json(entry.path());
      }
    return {};
  }

  std::string tokenizer_ = "{ kind: word, mask: true }";
  std::string output_;
  std::filesystem::path run_;
};

TEST_F(FamilyTest, ADecoderAloneLearnsPairsAsOneSequence) {
  const auto result = this->result(
      "prefix", kCopying, "family: decoder_only, position: { kind: rotary }", ", steps: 250");
  EXPECT_EQ(result["tests"][0]["exact_match"].get<double>(), 1.0) << output_;
  const auto translated =
      shell("echo 'a l d' | " + kProgram + " translate " + run_.string() + " --beam 3");
  EXPECT_EQ(translated.output, "a l d\n");
}

TEST_F(FamilyTest, ATableOfSumsIsLearnedByHeart) {
  const auto result =
      this->result("sums", "task: table, operation: add, modulus: 7, share: 0.6",
                   "family: decoder_only, position: { kind: learned }", ", steps: 150");
  EXPECT_LT(result["train_loss"].get<double>(), 0.2) << output_;
  EXPECT_EQ(result["tests"][0]["examples"], 10) << output_;  // of 49 sums 29 are trained on
}

TEST_F(FamilyTest, BytesAreTranslatedWhateverTheirScript) {
  tokenizer_ = "{ kind: byte }";
  for (const char* set : {"train", "validation", "test"})
    write_file(folder_ / (std::string(set) + "-pairs.tsv"), "\u00e4\tb\nb\t\u00e4\u732b\n");
  const auto result = this->result(
      "bytes",
      "task: text, train: [train-pairs.tsv], validation: [validation-pairs.tsv], test: "
      "[test-pairs.tsv]",
      "family: encoder_decoder", ", steps: 120");
  EXPECT_EQ(result["tests"][0]["exact_match"].get<double>(), 1.0) << output_;
  const auto translated =
      shell("echo b | " + kProgram + " translate " + run_.string() + " --beam 3");
  EXPECT_EQ(translated.output, "\u00e4\u732b\n");
}

TEST_F(FamilyTest, ALanguageModelIsScoredByTheCharacter) {
  const auto result = this->result(
      "language", "task: language, train: train.txt, validation: validation.txt, block: 16",
      "family: decoder_only", ", steps: 150, evaluate_every: 150");
  const auto& test = result["tests"][0];
  const auto note = [&](const std::string& checkpoint) {
    return says(
        output_of(program("eval", run_, "--data", folder_, "--checkpoint", checkpoint, "2>&1")),
        "was chosen by the text that tests it");
  };
  EXPECT_TRUE(note("best"));
  EXPECT_FALSE(note("last"));
  EXPECT_EQ(test["compared"], "nothing");
  EXPECT_LT(test["nats_per_character"].get<double>(), 0.15) << output_;
  const auto study = run_.parent_path().parent_path().parent_path();
  EXPECT_TRUE(says(program("report", study, "--format text 2>&1").output, "nats per character"));
  EXPECT_FALSE(says(output_, "BLEU"));
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
      ", steps: 60, init_from: { run: '" + from + "', allow: [classifier] }");
  EXPECT_TRUE(says(output_, "weights of " + from + "; new: classifier"));
  EXPECT_EQ(labelled["tests"][0]["exact_match"].get<double>(), 1.0) << output_;
  EXPECT_EQ(labelled["tests"][0]["nats_per_character"], "NaN");
  EXPECT_EQ(labelled["target_vocabulary"], 2);
  const auto classes = shell("printf 'the bad film\\na very good plot\\n' | " + kProgram +
                             " translate " + run_.string());
  EXPECT_EQ(classes.output, std::string(kBad) + "\n" + kGood + "\n");
  EXPECT_EQ(read_file(run_ / "labels.txt"), std::string(kGood) + "\n" + kBad + "\n");
  const auto scored = [&](const std::string& label) {
    write_file(folder_ / "one.txt", "the bad film\n");
    write_file(folder_ / "label.txt", label + "\n");
    return program("score", run_, "--source", folder_ / "one.txt", "--target",
                   folder_ / "label.txt", "2>&1");
  };
  EXPECT_NEAR(std::exp(std::stod(scored(kGood).output)) + std::exp(std::stod(scored(kBad).output)),
              1.0, 1e-5)
      << "there are no classes beside these two";
  EXPECT_EQ(scored("no").code, 3);
  const auto weights = (folder_ / "weights").string(), again = (folder_ / "again").string();
  EXPECT_TRUE(ends(shell("set -e; exec 2>&1; " + kProgram + " export " + run_.string() + " --to " +
                         (folder_ / "model.pt").string() + "; " + kProgram + " verify --trust " +
                         (folder_ / "model.pt").string() + "; " + kProgram + " export " +
                         run_.string() + " --format safetensors --to " + weights + "; " + kProgram +
                         " import " + weights + " --to " + again),
                   0));
  const auto scores = program("eval", again, "--json --data", folder_).output;
  EXPECT_EQ(scores_in(scores), scores_in(read_file(run_ / "result.json")));
}

TEST_F(FamilyTest, AMaskedDiffusionModelFillsABlock) {
  const auto result = this->result(
      "diffusion",
      "task: language, train: train.txt, validation: validation.txt, block: 16, diffusion: true",
      "family: encoder_only, position: { kind: rotary }", ", steps: 2000");
  EXPECT_LT(result["validation_perplexity"].get<double>(), 3.6)
      << "half of the 7.2 that words have without their neighbours; " << output_;
  const auto generated = [&](const std::string& flags) {
    return program("generate", run_, "--prompt 'the good '", flags, "2>&1");
  };
  const auto output = output_of(generated(""));
  for (const auto& line : lines_of(output))
    EXPECT_TRUE(says(read_file(folder_ / "train.txt"), line));
  EXPECT_GE(lines_of(output).size(), 3U) << output;
  EXPECT_EQ(generated("").output, output);
  EXPECT_EQ(generated("--max-length 1").output, output.substr(0, 14));
  EXPECT_TRUE(ends(
      program("generate", run_, "--prompt 'the good film the good film the good film'", "2>&1"), 0,
      "than the 8 tokens of a prompt (training.max_length, and half of data.block)"));
  EXPECT_NE(generated("--passes 1").output, output);
  EXPECT_EQ(generated("--sample --seed 3").output, generated("--sample --seed 3").output);
  EXPECT_NE(generated("--sample --seed 3").output, generated("--sample --seed 4").output);
  for (const std::string flag : {"--beam 2", "--n-best 2", "--passes 0"})
    EXPECT_EQ(generated(flag).code, 2) << flag;
}

TEST_F(FamilyTest, AClassifierOfOtherClassesIsTakenForNoOther) {
  const std::string model = "family: encoder_only, tying: none, output: { kind: label }";
  const auto labelled = [](const std::string& set) {
    return "task: labelled, train: " + set + ", validation: " + set + ", test: " + set;
  };
  result("labelled", labelled("train.tsv"), model, ", steps: 60");
  write_file(
      folder_ / "named.tsv",
      replaced_everywhere(replaced_everywhere(read_file(folder_ / "train.tsv"), kGood, "good"),
                          kBad, "bad"));
  const auto from = run_.string();
  const auto started = [&](const std::string& training) {
    std::filesystem::remove_all(folder_ / "other");
    return run_study("other", labelled("named.tsv"), model, ", " + training);
  };
  const auto refused = started("steps: 1, init_from: { run: '" + from + "' }");
  EXPECT_TRUE(ends(refused, 2,
                   std::string("has the classes ") + kGood + ", " + kBad +
                       ", and the training data of this run bad, good"));
  EXPECT_TRUE(says(refused.output, "or name classifier in training.init_from.allow"));
  EXPECT_TRUE(ends(started("steps: 0, init_from: { run: '" + from + "' }"), 2));
  EXPECT_TRUE(ends(started("steps: 1, init_from: { run: '" + from + "', allow: [classifier] }"), 0,
                   "weights of " + from + "; new: classifier"));
}

TEST_F(FamilyTest, AMixtureStartsFromADenseModel) {
  result("dense", kCopying, "position: { kind: sinusoidal }", ", steps: 250");
  const auto dense = read_file(run_ / "result.json");
  const auto from = run_.string();
  const auto mixture =
      result("mixture", kCopying,
             "encoder: { feed_forward: { kind: moe, experts: 4, active: 2, d_hidden: 64 } }",
             ", steps: 1, log_every: 1, init_from: { run: '" + from + "', allow: [router] }");
  EXPECT_TRUE(says(output_, "new: encoder.layers.0.feed_forward.router.weight"));
  // One small step away from a model that has learned the task.
  EXPECT_NEAR(mixture["validation_perplexity"].get<double>(),
              nlohmann::json::parse(dense)["validation_perplexity"].get<double>(), 0.02)
      << output_;
  EXPECT_LT(mixture["active_parameters"].get<int64_t>(), mixture["parameters"].get<int64_t>());
  const auto log = read_file(run_ / "metrics.jsonl");
  EXPECT_TRUE(says(log, "\"mixture\":\"encoder.layers.0.feed_forward\""));
}

class VectorsTest : public FamilyTest {
 protected:
  /// A GloVe file of 32 numbers a word.
  VectorsTest() {
    std::string text;
    for (const char* word : {"good", "bad", "film", "unheard"}) {
      text += word;
      for (int i = 0; i < 32; ++i) text += fmt::format(" {:.3f}", std::sin(i * (word[0] - 90.0)));
      text += "\n";
    }
    write_file(folder_ / "words.txt", text);
  }
  nlohmann::json trained(const std::string& vectors, int steps = 30) {
    return result("vectors" + std::to_string(steps),
                  "task: language, train: train.txt, validation: validation.txt",
                  "family: decoder_only, tying: none",
                  ", steps: " + std::to_string(steps) + ", pretrained_embeddings: " + vectors);
  }
  /// Rows of the embedding for " good" and " the", which has no vector. // [2, D]
  torch::Tensor rows() const {
    const auto checkpoint =
        training::load_checkpoint(training::list_checkpoints(run_ / "checkpoints").back().path);
    const auto tokenizer = run::load_tokenizers(run_).target;
    return checkpoint.model.at("embedding")
        .index_select(0, torch::tensor({static_cast<int64_t>(tokenizer.encode("good")[0]),
                                        static_cast<int64_t>(tokenizer.encode("the")[0])}));
  }
  torch::Tensor given() const {
    auto row = torch::arange(32, torch::kDouble) * ('g' - 90.0);
    return (row.sin() * 1000).round() / 1000;
  }
  double cosine(const torch::Tensor& row) const {
    const auto wide = row.to(torch::kDouble);
    return (wide.dot(given()) / (wide.norm() * given().norm())).item<double>();
  }
};

TEST_F(VectorsTest, AFrozenEmbeddingStaysAsTheFileHasIt) {
  trained("{ source: words.txt }, freeze: [embedding]");
  // very, good, bad, the, a, film and plot are the tokens
  EXPECT_TRUE(says(output_, "source embedding: vectors for 3 of 7 tokens (42.9 %) from"));
  EXPECT_NEAR(cosine(rows()[0]), 1.0, 1e-6);
  const auto after = rows();
  const auto environment = read_json(run_ / "environment.json");
  EXPECT_EQ(environment["vectors"][0]["covered"], 3);
  EXPECT_EQ(environment["vectors"][0]["vocabulary"], 7);
  trained("{ source: words.txt }, freeze: [embedding]", 1);
  EXPECT_TRUE(torch::equal(rows(), after));  // the row without a vector too
}

TEST_F(VectorsTest, AnEmbeddingThatIsNotFrozenOnlyStartsThere) {
  trained("{ target: words.txt }");
  EXPECT_LT(cosine(rows()[0]), 0.9999);
  EXPECT_GT(cosine(rows()[0]), 0.8);
}

}  // namespace
}  // namespace ablate::commands
