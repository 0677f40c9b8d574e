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

TEST_F(ProgramTest, NumbersThatAreNoIdsAreNotDecoded) {
  ASSERT_EQ(shell(command("out", "--set training.steps=1")).code, 0);
  const auto decode =
      " | " + kProgram + " tokenizer decode --model " + (run("out") / "joint.model").string();
  EXPECT_EQ(shell("echo 4" + decode).code, 0);
  for (const char* id : {"-1", "9999", "4294967300"}) {
    const auto outcome = shell(std::string("echo ") + id + decode + " 2>&1");
    EXPECT_EQ(outcome.code, 3) << id << outcome.output;
    EXPECT_TRUE(says(outcome.output, "is not the id of a token"));
  }
}

TEST_F(ProgramTest, MetricsOfTwoFilesAreInTheUnitsOfTheRuns) {
  write_file(folder_ / "s", "a b x c\nd\n");
  write_file(folder_ / "t", "b, A-C!\nD\n");
  const auto command = kProgram + " metrics --hypotheses " + (folder_ / "s").string() +
                       " --references " + (folder_ / "t").string();
  const auto scores = nlohmann::json::parse(shell(command + " --json").output);
  EXPECT_DOUBLE_EQ(scores.at("rouge_1").get<double>(), (6.0 / 7 + 1) / 2);
  EXPECT_DOUBLE_EQ(scores.at("rouge_2").get<double>(), 0);
  EXPECT_DOUBLE_EQ(scores.at("rouge_l").get<double>(), (4.0 / 7 + 1) / 2);
  EXPECT_TRUE(says(shell(command).output, "ROUGE  0.929 (1), 0.000 (2), 0.786 (L)\n"));
}

TEST_F(ProgramTest, MetricsSayWhatReferencesLeaveUndefined) {
  write_file(folder_ / "s", "a b\nc\n");
  write_file(folder_ / "t", "a b\nc\n");
  write_file(folder_ / "empty", "\n\n");
  const auto metrics = [&](const std::string& references, const std::string& more = "") {
    return shell(kProgram + " metrics --hypotheses " + (folder_ / "s").string() + " --references " +
                 (folder_ / references).string() + more)
        .output;
  };
  EXPECT_TRUE(says(metrics("t"), "BLEU   not defined: it counts up to four words in a row"));
  EXPECT_TRUE(nlohmann::json::parse(metrics("t", " --json")).at("bleu").at("score").is_null());
  for (const char* name : {"BLEU   not", "chrF2  not", "ROUGE  not", "WER    not"})
    EXPECT_TRUE(says(metrics("empty"), name));
  const auto json = nlohmann::json::parse(metrics("empty", " --json"));
  EXPECT_TRUE(json.at("chrf").at("score").is_null());
  EXPECT_TRUE(json.at("rouge_l").is_null());
  EXPECT_TRUE(json.at("word_error_rate").is_null());
}

TEST_F(ProgramTest, MistakesHaveTheirExitCodes) {
  const auto code = [](const std::string& arguments) {
    return program(arguments, ">/dev/null 2>&1").code;
  };
  EXPECT_EQ(code("--help"), 0);
  EXPECT_EQ(code("run --help"), 0);
  EXPECT_EQ(code("fly"), 2);
  EXPECT_EQ(code("run " + (folder_ / "missing.yaml").string()), 2);
  EXPECT_EQ(code("run " + study().string() + " --set training.stepz=3"), 2);
  EXPECT_EQ(code("metrics --hypotheses - --references -"), 2);
  EXPECT_EQ(code("translate " + folder_.string()), 4);
  EXPECT_EQ(code("run " + study().string() + " --output /proc/none"), 7);
  write_file(folder_ / "text.yaml",
             "name: t\nseeds: [1]\nbase:\n  data: { task: text, train: [a, b], "
             "validation: [a, b], test: [a, b] }\n");
  EXPECT_EQ(
      code("run " + (folder_ / "text.yaml").string() + " --output " + (folder_ / "o").string()), 3);
}

TEST_F(ProgramTest, ArgumentsThatAreOfAnotherKindLeadOn) {
  const auto answer = [](const std::string& words) { return program(words, "2>&1").output; };
  EXPECT_EQ(answer("translate 'A man'"),
            "ablate: there is no run folder 'A man'; translate reads text from standard input, "
            "generate after --prompt\n");
  EXPECT_EQ(answer("run study.zip"),
            "ablate: study.zip is a packed study, which is without checkpoints; ablate report "
            "reads it\n");
}

TEST_F(ProgramTest, AMissingArgumentLeadsToTheHelpOfItsVerb) {
  EXPECT_EQ(program("config diff a.yaml", "2>&1").output,
            "ablate: sides is required; see ablate config diff --help\n");
}

TEST_F(ProgramTest, TheCheckOfAStudyFindsFilesOfAnotherForm) {
  const auto file = folder_ / "text.yaml";
  write_file(file,
             "name: t\nseeds: [1, 2]\nbase:\n  data: { task: text, train: [a.csv], "
             "validation: [b.tsv], test: [b.tsv] }\n");
  write_file(folder_ / "b.tsv", "one\teins\n");
  const auto check = [&](const std::string& train) {
    write_file(folder_ / "a.csv", train);
    return program("config check", file, "2>&1");
  };
  const auto csv = check("one,eins\n");
  EXPECT_TRUE(ends(csv, 3,
                   "a.csv:1: the line needs exactly one tab between source and target; "
                   "by its name the file has another form: give data.format: csv"));
  EXPECT_EQ(check("one\teins\n").code, 0);
}

TEST_F(ProgramTest, AStudyThatNamesUnusableFilesStartsNothing) {
  const auto file = folder_ / "text.yaml";
  write_file(file,
             "name: t\nseeds: [1]\nbase:\n  data: { task: text, train: [a.csv], "
             "validation: [b.tsv], test: [b.tsv] }\n");
  write_file(folder_ / "a.csv", "one,eins\n");
  const auto report = [&](const std::string& words) {
    return program(words, "--output", folder_ / "out", "2>&1");
  };
  for (const std::string verb : {"run", "run --dry-run"}) {
    const auto outcome = report(verb + " " + file.string());
    EXPECT_EQ(outcome, (Outcome{3, program("config check", file, "2>&1").output}));
    EXPECT_TRUE(says(outcome.output, "text.yaml:4:30: data.train: "));
    EXPECT_TRUE(says(outcome.output, "text.yaml:4:51: data.validation: there is no "));
    EXPECT_FALSE(says(outcome.output, "data.test"));
    EXPECT_EQ(report(verb + " --set model.dropout=2 " + file.string()).code, 2);
  }
  EXPECT_FALSE(std::filesystem::exists(folder_ / "out"));
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

TEST_F(ProgramTest, TheCheckOfAStudyCountsTheRunsOfTheControl) {
  append(
      "arms: { a: {}, b: { model.d_model: 24 }, c: { model.layers: 2 } }\n"
      "compare: { baseline: a, metric: loss }\n");
  EXPECT_TRUE(ends(program("config check", study(), "2>&1"), 0,
                   "4 arms, 1 seeds: 4 runs, 1 of them the control's (compare.control: false "
                   "leaves them out)"));
}

TEST_F(ProgramTest, ADamagedTokenizerIsRefusedWithTheReason) {
  ASSERT_EQ(shell(command("out", "--set training.steps=10")).code, 0);
  auto bytes = read_file(run("out") / "joint.model");
  bytes[bytes.size() / 2] = static_cast<char>(bytes[bytes.size() / 2] ^ 1);
  write_file(run("out") / "joint.model", bytes);
  EXPECT_TRUE(
      ends(shell("echo a | " + kProgram + " translate " + run("out").string() + " 2>&1"), 3));
}

TEST_F(ProgramTest, APerplexityBeyondAllNumbersIsKept) {
  const auto wild =
      command("out",
              "--set 'training.schedule={kind: constant, peak: 1}' "
              "--set 'training.lr_multipliers={embeddings: 100, matrices: 100, output: 100, "
              "vectors: 100}' "
              "--set training.steps=100 --set model.norm.placement=pre");
  ASSERT_EQ(shell(wild).code, 0);
  EXPECT_TRUE(ends(shell(wild), 0, "inf"));
}

TEST_F(ProgramTest, AFullDiskLeavesThePreviousCheckpoint) {
  const auto small = "ulimit -f 40; " + command("out", "--set model.d_model=64");
  EXPECT_TRUE(ends(shell("bash -c '" + small + "'"), 7, "File too large"));
  EXPECT_EQ(shell(command("out", "--set model.d_model=64")).code, 0);
}

}  // namespace
}  // namespace ablate::commands
