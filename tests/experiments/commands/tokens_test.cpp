#include "data/token_file.h"
#include "tests/experiments/program.h"
#include "tests/says.h"

namespace ablate::commands {
namespace {

class TokensTest : public ProgramTest {
 protected:
  TokensTest() {
    std::string text;
    for (int i = 0; i < 200; ++i)
      text += std::string(i % 3 == 0 ? "a very " : "the ") + (i % 2 == 0 ? "good" : "bad") +
              (i % 5 == 0 ? " plot\n\n" : " film\n");
    write_file(folder_ / "train.txt", text);
    write_file(folder_ / "validation.txt", text.substr(text.size() / 2));
    std::string numbers;
    for (int i = 0; i < 2000; ++i) numbers += {static_cast<char>(i % 10), '\0'};
    write_file(folder_ / "numbers.bin", numbers);
  }

  std::string study(const std::string& data, const std::string& more) const {
    write_file(folder_ / "tokens.yaml",
               "name: tokens\nseeds: [1]\nbase:\n  data: { " + data +
                   " }\n  model: { family: decoder_only, d_model: 16, layers: 1, attention: { "
                   "heads: 2 }, feed_forward: { kind: dense, d_hidden: 32 } }\n"
                   "  training: { steps: 30, tokens_per_batch: 90, max_length: 32, evaluate_every: "
                   "10, log_every: 10, threads: 1, schedule: { kind: constant, peak: 3.0e-3 } }\n" +
                   more);
    return "run tokens.yaml --output ";
  }
  /// Trains a model of the numbers 0 to 9 in turn.
  void train_numbers(const std::string& output, const std::string& more, int steps = 1) const {
    const std::string data = "task: tokens, train: numbers.bin, validation: numbers.bin, ";
    const auto arms = "arms: { base: { training.steps: " + std::to_string(steps) + " } }\n";
    ASSERT_TRUE(ends(ablate(study(data + "vocabulary: 10, block: 16" + more, arms) + output), 0));
  }

  std::filesystem::path run_of(const std::string& output,
                               const std::string& task = "tokens") const {
    return folder_ / output / "tokens" / task / "base/seed-1";
  }
  nlohmann::json result_of(const std::string& output, const std::string& task = "tokens") const {
    return read_json(run_of(output, task) / "result.json");
  }
};

/// The same training and the same scores, bit for bit, whether the program cuts the text itself or
/// reads the tokens that it has written, with any number of threads.
TEST_F(TokensTest, TrainAsTheirTextDoes) {
  const std::string tokenizer = "  tokenizer: { file: text.model }\n";
  ASSERT_EQ(ablate("tokenizer train --input train.txt --model text.model --vocabulary 40").code, 0);
  for (const std::string set : {"train", "validation"}) {
    const auto command = "data tokens " + set + ".txt --tokenizer text.model --to " + set + ".bin";
    ASSERT_EQ(ablate(command + " --jobs 3").code, 0);
    const auto bytes = read_file(folder_ / (set + ".bin"));
    ASSERT_EQ(ablate(command + " --jobs 1 --raw").code, 0);
    EXPECT_EQ(bytes.substr(1024), read_file(folder_ / (set + ".bin")));
    write_file(folder_ / (set + ".bin"), bytes);
  }
  for (const auto& [output, data] :
       {std::pair{"text",
                  "task: language, train: train.txt, validation: validation.txt, block: 16"},
        {"tokens", "task: tokens, train: train.bin, validation: validation.bin, block: 16"}})
    ASSERT_TRUE(ends(ablate(study(data, tokenizer) + output), 0));
  EXPECT_EQ(log_of(run_of("text", "language")), log_of(run_of("tokens")));
  const auto known = result_of("text", "language"), own = result_of("tokens");
  EXPECT_EQ(own.at("validation_perplexity"), known.at("validation_perplexity"));
  const auto& test = own.at("tests").at(0);
  EXPECT_EQ(test.at("perplexity"), known.at("tests").at(0).at("perplexity"));
  EXPECT_EQ(test.at("tokens"), data::TokenFile(folder_ / "validation.bin").size() - 1);
  EXPECT_EQ(test.at("nats_per_character"), "NaN");
  EXPECT_TRUE(says(ablate("eval " + run_of("tokens").string()).output, " tokens)"));
}

/// An output can be given back as a prompt: the end token is written as a line end, never as a
/// number.
TEST_F(TokensTest, AreWrittenAsNumbersThatAreRead) {
  train_numbers("out", ", end_token: 9");
  const auto written = ablate("generate " + run_of("out").string() +
                              " --prompt '1 2' --temperature 100 --max-length 300");
  ASSERT_EQ(written.code, 0) << written.output;
  EXPECT_FALSE(says(written.output, "9"));
  EXPECT_EQ(written.output.find_first_not_of("012345678 \n"), std::string::npos) << written.output;
}

/// A source and a target have an end, behind which a document may not look, or which no text has.
TEST_F(TokensTest, GiveNoTargetAProbabilityWithoutAnEndThatIsLookedBehind) {
  write_file(folder_ / "line.txt", "1 2\n");
  const auto scored = [&](const std::string& more) {
    const auto output = "out-" + std::to_string(more.size());
    train_numbers(output, more);
    return ablate("score " + run_of(output).string() + " --source line.txt --target line.txt");
  };
  EXPECT_TRUE(ends(scored(""), 2, "tokens without an end"));
  EXPECT_TRUE(ends(scored(", end_token: 9"), 0));
  EXPECT_TRUE(ends(scored(", end_token: 9, mask_documents: true"), 2, "data.mask_documents"));
}

/// Numbers of 0 to 9 in turn: a model of numbers learns them, and goes on from a text of numbers.
TEST_F(TokensTest, WithoutATokenizerAreNumbers) {
  train_numbers("out", ", evaluated_tokens: 101", 300);
  const auto result = result_of("out");
  EXPECT_LT(result.at("tests").at(0).at("perplexity").get<double>(), 1.5);
  EXPECT_EQ(result.at("tests").at(0).at("tokens"), 100);
  EXPECT_EQ(result.at("target_vocabulary"), 14);
  EXPECT_EQ(shell("echo '3 4 5 ' | " + kProgram + " generate " + run_of("out").string() +
                  " --max-length 4")
                .output,
            "3 4 5 6 7 8 9\n");
}

/// Of two models the number 9 is an id of its own in one and the end token in the other.
TEST_F(TokensTest, VoteOnlyIfTheyEndAlike) {
  train_numbers("without", "");
  train_numbers("with", ", end_token: 9");
  const auto continued = [&](const std::string& one, const std::string& other) {
    return ablate("generate " + run_of(one).string() + " " + run_of(other).string() +
                  " --prompt '1 2' --max-length 3");
  };
  EXPECT_TRUE(ends(continued("with", "with"), 0));
  EXPECT_TRUE(ends(continued("without", "with"), 3, "must read texts and end outputs alike"));
  EXPECT_TRUE(ends(continued("with", "without"), 3, "must read texts and end outputs alike"));
}

}  // namespace
}  // namespace ablate::commands
