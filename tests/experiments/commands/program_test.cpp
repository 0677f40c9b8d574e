#include "tests/experiments/program.h"

#include <nlohmann/json.hpp>

#include "tests/says.h"

namespace ablate::commands {
namespace {

TEST_F(ProgramTest, TheTableNamesEveryTestSetAndMakesNoClaimWithoutABaseline) {
  const auto output = output_of(shell(command("out", "--set training.steps=20")));
  for (const char* text : {"length 4 ", "length 5 (beyond)", "exact match",
                           "BLEU: nrefs:1|case:mixed", "No claim: the study declares no baseline."})
    EXPECT_TRUE(says(output, text));
  const auto result = read_json(run("out") / "result.json");
  ASSERT_EQ(result.at("tests").size(), 2U);
  const auto& scores = result.at("tests").at(0);
  EXPECT_GT(scores.at("decode_seconds").get<double>(), 0);
  EXPECT_EQ(scores.at("tokens_per_pass").get<double>(), 1);
  for (const char* name : {"rouge_1", "rouge_2", "rouge_l", "word_error_rate", "length_ratio"})
    EXPECT_GE(scores.at(name).get<double>(), 0) << name;
  EXPECT_EQ(result.at("steps"), 20);
}

TEST_F(ProgramTest, EvalScoreAndMetricsAgreeWithTheRun) {
  ASSERT_EQ(shell(command("out", "--set training.steps=30")).code, 0);
  const auto eval = program("eval", run("out"), "--json 2>/dev/null");
  ASSERT_EQ(eval.code, 0);
  EXPECT_EQ(scores_in(eval.output), scores_in(read_file(run("out") / "result.json")));
  const auto scored = scores_in(eval.output).at(0);
  const auto metrics =
      nlohmann::json::parse(program("metrics --hypotheses", run("out") / "output-length-4.txt",
                                    "--references", run("out") / "reference-length-4.txt", "--json")
                                .output);
  EXPECT_EQ(metrics.at("bleu").at("score"), scored.at("bleu"));
  for (const char* name : {"rouge_1", "rouge_2", "rouge_l", "word_error_rate"})
    EXPECT_EQ(metrics.at(name), scored.at(name)) << name;
  EXPECT_DOUBLE_EQ(scored.at("length_ratio").get<double>(),
                   metrics.at("bleu").at("hypothesis_length").get<double>() /
                       metrics.at("bleu").at("reference_length").get<double>());
  EXPECT_TRUE(program("eval", run("out"), "2>/dev/null | sed 1d")
                  .output.starts_with("length 4: exact match "));
  write_file(folder_ / "s", "a b\nc\n");
  write_file(folder_ / "t", "a b\nc\n");
  const auto score = program("score", run("out"), "--source", folder_ / "s", "--target",
                             folder_ / "t", "2>/dev/null");
  EXPECT_EQ(score.code, 0);
  double first = 0, second = 0;
  ASSERT_EQ(sscanf(score.output.c_str(), "%lf\n%lf", &first, &second), 2) << score.output;
  EXPECT_LT(first, 0);
  EXPECT_LT(second, 0);
}

TEST_F(ProgramTest, ARunIsNotScoredOnOtherDataThanItsOwn) {
  write_file(folder_ / "a", "one two three\nfour five\nsix seven\n");
  const auto run = trained(
      "text",
      "  data: { task: text, train: [a, a], validation: [a, a], "
      "test: [a, a] }\n  tokenizer: { kind: character }\n  model: { d_model: 16, layers: 1, "
      "attention: { heads: 2 } }\n  training: { steps: 2 }\n");
  const auto eval = kProgram + " eval " + run.string();
  EXPECT_EQ(shell(eval + " 2>&1").code, 0);
  write_file(folder_ / "a", "one two three\nfour five\nsix eight\n");
  EXPECT_TRUE(ends(shell(eval + " 2>&1"), 3, "was trained and tested on other data than these"));
}

/// A started study may be finished, and its data may be gone.
TEST_F(ProgramTest, AStartedStudyNeedsNoneOfItsFiles) {
  const auto file = folder_ / "text.yaml";
  write_file(file,
             "name: t\nseeds: [1]\nbase:\n  data: { task: language, train: a.txt }\n  model: { "
             "family: decoder_only, d_model: 16 }\n  training: { steps: 1 }\n");
  write_file(folder_ / "a.txt", "one two\nthree four\nfive six\n");
  const auto code = [&] { return program("run", file, "--output", folder_ / "out", "2>&1"); };
  ASSERT_TRUE(ends(code(), 0));
  std::filesystem::remove(folder_ / "a.txt");
  EXPECT_TRUE(ends(code(), 0));
}

TEST_F(ProgramTest, APerplexityBeyondAllNumbersIsKept) {
  const auto wild =
      command("out",
              "--set 'training.schedule={kind: constant, peak: 1}' "
              "--set 'training.lr_multipliers={embeddings: 100, matrices: 100, output: 100, "
              "vectors: 100}' "
              "--set training.steps=100 --set model.norm.placement=pre");
  ASSERT_EQ(shell(wild).code, 0);
  EXPECT_TRUE(says(read_file(run("out") / "result.json"), "Infinity"));
}

TEST_F(ProgramTest, AFullDiskLeavesThePreviousCheckpoint) {
  const auto small = "ulimit -f 40; " + command("out", "--set model.d_model=64");
  EXPECT_TRUE(ends(shell("bash -c '" + small + "'"), 7, "File too large"));
  EXPECT_EQ(shell(command("out", "--set model.d_model=64")).code, 0);
}

}  // namespace
}  // namespace ablate::commands
