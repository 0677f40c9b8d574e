#include <algorithm>

#include "models/inference/search_options.h"
#include "tests/experiments/program.h"
#include "tests/says.h"

namespace ablate::commands {
namespace {

class DecodingTest : public ProgramTest {
 protected:
  DecodingTest() { given_runs("runs"); }
  Outcome translated(const std::string& input, const std::string& flags,
                     const std::string& output = "runs") {
    write_file(folder_ / "in", input);
    return program("translate", run(output), flags, "<", folder_ / "in", "2>&1");
  }
  /// A run whose tokenizer leaves no byte of a line out.
  void train_on_bytes() { given_runs("bytes", "--set tokenizer.kind=byte"); }
};

TEST_F(DecodingTest, NBestScoresAreThoseOfScore) {
  const auto found = lines_of(translated("a b c\n", "--beam 6 --n-best 4").output);
  ASSERT_EQ(found.size(), 4U);
  std::string sources, targets;
  std::vector<double> expected;
  for (const auto& line : found) {
    const auto text = line.find(" ||| "), score = line.find(" ||| ", text + 5);
    const auto log_probability = line.rfind(" ||| ");
    EXPECT_EQ(line.substr(0, text), "0");
    sources += "a b c\n";
    targets += line.substr(text + 5, score - text - 5) + "\n";
    expected.push_back(std::stod(line.substr(log_probability + 5)));
  }
  write_file(folder_ / "s", sources);
  write_file(folder_ / "t", targets);
  const auto scores = lines_of(
      program("score", run("runs"), "--source", folder_ / "s", "--target", folder_ / "t").output);
  ASSERT_EQ(scores.size(), 4U);
  for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(std::stod(scores[i]), expected[i], 1e-4);
}

TEST_F(DecodingTest, NBestHasOneFormAndABeamThatKeepsAsMany) {
  const auto one = lines_of(translated("a b\n", "--n-best 1").output);
  ASSERT_EQ(one.size(), 1U);
  EXPECT_TRUE(one[0].starts_with("0 ||| ")) << one[0];
  EXPECT_EQ(lines_of(translated("a b\n", "--n-best 2").output).size(), 2U);
}

TEST_F(DecodingTest, ADraftWritesTheSameAndSaysInHowManyPasses) {
  given_runs("ahead", "--set model.output.ahead=2");
  const std::string input = "a b c\nb a\n";
  const auto plain = lines_of(translated(input, "--batch 1", "ahead").output);
  auto drafted = lines_of(translated(input, "--batch 1 --draft 2", "ahead").output);
  ASSERT_EQ(drafted.size(), 3U);
  EXPECT_TRUE(says(drafted.back(), " tokens in "));
  drafted.pop_back();
  EXPECT_EQ(drafted, plain);
  // The export leaves the further heads out, and fails if the logits are not the model's.
  EXPECT_TRUE(ends(
      program("export", run("ahead"), "--format huggingface --to", folder_ / "hub", "2>&1"), 0));
  EXPECT_EQ(
      translated(input, "--draft 1"),
      (Outcome{2,
               "ablate: --draft: decoding.draft must be at most model.output.ahead, the heads that "
               "guess\n"}));
}

TEST_F(DecodingTest, EveryLineGivesOneLineWhateverItHolds) {
  const std::string hostile =
      std::string("a b\n\n   \n\t\nunknown words \xf0\x9f\x99\x82\n\xff\xfe broken\nb\0c\na\tb\r\n",
                  49) +
      std::string(20'000, 'x') + "\nlast without end";
  for (const std::string flags : {"--jobs 1", "--jobs 2", "--beam 3", "--sample --seed 3"}) {
    const auto output = output_of(translated(hostile, flags));
    EXPECT_EQ(lines_of(output).size(), 11U) << output;
    EXPECT_TRUE(says(output, "note: standard input:6: the line is not valid UTF-8, and is read"));
  }
}

TEST_F(DecodingTest, LinesAreReadAlikeWhateverEndsThemAndBlankOnesStayBlank) {
  train_on_bytes();
  const std::string plain = "a b\n\nc d a\n";
  const std::string odd =
      "\xef\xbb\xbf"
      "a b\r\n\xc2\xa0\xe2\x80\x8b\r\nc d a";
  for (const std::string output : {"runs", "bytes"}) {
    EXPECT_EQ(translated(odd, "--scores", output).output,
              translated(plain, "--scores", output).output);
    const auto lines = lines_of(translated(odd, "", output).output);
    ASSERT_EQ(lines.size(), 3U);
    EXPECT_EQ(lines[1], "");
    EXPECT_FALSE(lines[0].empty());
  }
}

TEST_F(DecodingTest, FilesOfLinesAreReadAlikeWhateverEndsThem) {
  train_on_bytes();
  write_file(folder_ / "s", "a b\nc\n");
  write_file(folder_ / "t",
             "\xef\xbb\xbf"
             "a b\r\nc");
  const auto score = [&](const std::string& source, const std::string& target) {
    return program("score", run("bytes"), "--source", folder_ / source, "--target",
                   folder_ / target, "2>&1");
  };
  EXPECT_EQ(score("t", "t").output, score("s", "s").output);
  EXPECT_EQ(translated("a\nb\n", "--prefixes " + (folder_ / "t").string(), "bytes").output,
            translated("a\nb\n", "--prefixes " + (folder_ / "s").string(), "bytes").output);
  const auto metrics =
      program("metrics --hypotheses", folder_ / "s", "--references", folder_ / "t", "2>&1");
  EXPECT_TRUE(says(metrics.output, "WER    0.0000"));
  const auto encode = kProgram + " tokenizer encode --model " +
                      (run("bytes") / "joint.model").string() + " < " + folder_.string();
  EXPECT_EQ(shell(encode + "/t").output, shell(encode + "/s").output);
  write_file(folder_ / "bad", "a\rb\nc\n");
  const auto bad = score("bad", "s");
  EXPECT_TRUE(ends(bad, 3, "bad:1: the line holds a carriage return"));
}

TEST_F(DecodingTest, ACoProcessIsAnsweredBeforeItWritesOn) {
  // The second line of each is the answer to the first, which must have come before.
  for (const std::string& verb :
       {" translate " + run("runs").string(),
        " tokenizer encode --model " + (run("runs") / "joint.model").string()}) {
    const auto talk =
        shell("bash -c 'coproc " + kProgram + verb +
              "; echo a b >&${COPROC[1]}; read -r -t 60 one <&${COPROC[0]} || exit 9; "
              "echo c d a >&${COPROC[1]}; read -r -t 60 two <&${COPROC[0]} || exit 9; "
              "echo \"$one\"; echo \"$two\"' 2>&1");
    EXPECT_EQ(talk.code, 0) << verb;
    EXPECT_EQ(talk.output, shell("printf 'a b\\nc d a\\n' | " + kProgram + verb).output);
  }
}

TEST_F(DecodingTest, EndsQuietlyWhereNoOneReadsOn) {
  const auto first = lines_of(translated("a b\n", "").output).at(0);
  const auto ended = shell("bash -c 'yes a b | timeout 120 " + kProgram + " translate " +
                           run("runs").string() + " 2>&1 | head -1; echo ${PIPESTATUS[1]}'");
  EXPECT_EQ(ended.output, first + "\n141\n");
}

TEST_F(DecodingTest, JobsAndBatchesChangeNothing) {
  std::string input;
  for (int i = 0; i < 90; ++i)
    input += std::string(i % 3 ? "a b" : "c d a") + (i % 2 ? " c\n" : "\n");
  for (const std::string how : {"--beam 3", "--sample --temperature 1.3"}) {
    const auto one = translated(input, how + " --jobs 1 --batch 64").output;
    EXPECT_EQ(translated(input, how + " --jobs 2 --batch 7").output, one) << how;
  }
  EXPECT_NE(translated(input, "--sample --seed 1").output,
            translated(input, "--sample --seed 2 --temperature 5").output);
}

TEST_F(DecodingTest, PrefixesAndRisks) {
  write_file(folder_ / "prefixes", "c c\n\n");
  const auto found =
      lines_of(translated("a b\na b\n", "--prefixes " + (folder_ / "prefixes").string()).output);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_TRUE(found[0].starts_with("c c")) << found[0];
  EXPECT_FALSE(found[1].starts_with("c c")) << found[1];
  EXPECT_EQ(lines_of(translated("a b\nc\n", "--sample --mbr 8").output).size(), 2U);
}

TEST_F(DecodingTest, EveryOptionIsAFlag) {
  const auto help = program("translate --help").output;
  models::SearchOptions options;
  models::SearchOptions::fields(options, [&](std::string name, const auto& slot, auto&&...) {
    std::ranges::replace(name, '_', '-');
    if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(slot)>>) {
      EXPECT_TRUE(says(help, "--" + name + " ")) << name;
    }
  });
  for (const std::string flag : {"--temperature", "--top-k", "--top-p", "--seed"})
    EXPECT_TRUE(says(help, flag + " ")) << flag;
}

TEST_F(DecodingTest, EveryPrecisionWritesLines) {
  const std::string input = "a b\nc d a\n";
  for (const std::string precision : {"fp32", "bf16"})
    EXPECT_EQ(lines_of(translated(input, "--precision " + precision).output).size(), 2U);
}

TEST_F(DecodingTest, AttentionIsDrawnWithEveryTextEscaped) {
  const auto page = folder_ / "attention.html";
  const auto inspect =
      kProgram + " inspect attention " + run("runs").string() + " --to " + page.string();
  ASSERT_TRUE(ends(shell(inspect + " --text 'a b <i>c' 2>&1"), 0));
  const auto text = read_file(page);
  for (const std::string group :
       {"Encoder, self-attention", "Decoder, self-attention", "Decoder, over the source"})
    EXPECT_TRUE(says(text, group));
  EXPECT_FALSE(says(text, "<i>"));
}

TEST_F(DecodingTest, ALanguageModelGoesOnOverLines) {
  std::string text;
  for (int i = 0; i < 200; ++i) text += "ab\ncd\n";
  write_file(folder_ / "text", text);
  const auto run = trained(
      "language",
      "  data: { task: language, train: text, held_out: 0.1, block: 15 }\n"
      "  tokenizer: { kind: character }\n"
      "  model: { family: decoder_only, d_model: 32, layers: 1, dropout: 0.0, attention: { "
      "heads: 2 }, position: { kind: rotary }, feed_forward: { kind: dense, d_hidden: 64 } }\n"
      "  training: { steps: 400, tokens_per_batch: 272, max_length: 32, threads: 1, "
      "label_smoothing: 0.0, schedule: { kind: cosine, peak: 1.0e-2, warmup: 10 } }\n");
  // Each line is three tokens, for a word begins with a mark of its own, and an end mark.
  EXPECT_EQ(program("generate", run, "--prompt ab --max-length 8").output, "ab\ncd\nab\n");
  EXPECT_TRUE(ends(program("generate", run, "--prompt ab --min-length 2 --length-penalty 0 2>&1"),
                   2, "--length-penalty, --min-length have no effect where outputs have no end"));
  EXPECT_EQ(
      shell("printf 'a\\nc\\n' | " + kProgram + " generate " + run.string() + " --one-line").output,
      "ab\ncd\n");
}

}  // namespace
}  // namespace ablate::commands
