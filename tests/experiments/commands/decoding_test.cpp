#include <algorithm>
#include <nlohmann/json.hpp>

#include "models/inference/search_options.h"
#include "tests/experiments/program.h"

namespace ablate::commands {
namespace {

class DecodingTest : public ProgramTest {
 protected:
  DecodingTest() { EXPECT_EQ(shell(command("runs")).code, 0); }
  Outcome translated(const std::string& input, const std::string& flags,
                     const std::string& output = "runs") {
    write_file(folder_ / "in", input);
    return shell(kProgram + " translate " + run(output).string() + " " + flags + " < " +
                 (folder_ / "in").string() + " 2>&1");
  }
  /// A run whose tokenizer leaves no byte of a line out.
  void train_on_bytes() { EXPECT_EQ(shell(command("bytes", "--set tokenizer.kind=byte")).code, 0); }
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
  const auto scores =
      lines_of(shell(kProgram + " score " + run("runs").string() + " --source " +
                     (folder_ / "s").string() + " --target " + (folder_ / "t").string())
                   .output);
  ASSERT_EQ(scores.size(), 4U);
  for (size_t i = 0; i < 4; ++i) EXPECT_NEAR(std::stod(scores[i]), expected[i], 1e-4);
}

TEST_F(DecodingTest, NBestHasOneFormAndABeamThatKeepsAsMany) {
  const auto one = lines_of(translated("a b\n", "--n-best 1").output);
  ASSERT_EQ(one.size(), 1U);
  EXPECT_TRUE(one[0].starts_with("0 ||| ")) << one[0];
  EXPECT_EQ(lines_of(translated("a b\n", "--n-best 2").output).size(), 2U);
  for (const std::string flags :
       {"--beam 1 --n-best 2", "--n-best 2 --scores", "--n-best 1 --mbr 2"})
    EXPECT_EQ(translated("a b\n", flags).code, 2) << flags;
}

TEST_F(DecodingTest, ADraftWritesTheSameAndSaysInHowManyPasses) {
  EXPECT_EQ(shell(command("ahead", "--set model.output.ahead=2")).code, 0);
  const std::string input = "a b c\nb a\n";
  const auto plain = lines_of(translated(input, "--batch 1", "ahead").output);
  auto drafted = lines_of(translated(input, "--batch 1 --draft 2", "ahead").output);
  ASSERT_EQ(drafted.size(), 3U);
  EXPECT_NE(drafted.back().find(" tokens in "), std::string::npos) << drafted.back();
  drafted.pop_back();
  EXPECT_EQ(drafted, plain);
  // The export leaves the further heads out, and fails if the logits are not the model's.
  const auto hub = shell(kProgram + " export " + run("ahead").string() +
                         " --format huggingface --to " + (folder_ / "hub").string() + " 2>&1");
  EXPECT_EQ(hub.code, 0) << hub.output;
  const auto refused = translated(input, "--draft 1");
  EXPECT_EQ(refused.code, 2);
  EXPECT_EQ(refused.output,
            "ablate: --draft: decoding.draft must be at most model.output.ahead, the heads that "
            "guess\n");
}

TEST_F(DecodingTest, EveryLineGivesOneLineWhateverItHolds) {
  const std::string hostile("a b\n\n   \n\t\nx y z\n\xff\xfe\nb\0c\na\r\n", 27);
  for (const std::string flags : {"--jobs 1", "--jobs 2", "--sample --seed 3"}) {
    const auto outcome = translated(hostile, flags);
    EXPECT_EQ(outcome.code, 0) << outcome.output;
    EXPECT_EQ(lines_of(outcome.output).size(), 8U) << outcome.output;
  }
}

TEST_F(DecodingTest, AnInputThatCannotBeReadIsNoEmptyOne) {
  const auto outcome =
      shell(kProgram + " translate " + run("runs").string() + " < " + folder_.string() + " 2>&1");
  EXPECT_EQ(outcome.code, 3) << outcome.output;
  EXPECT_EQ(outcome.output, "ablate: standard input cannot be read to its end\n");
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
    return shell(kProgram + " score " + run("bytes").string() + " --source " +
                 (folder_ / source).string() + " --target " + (folder_ / target).string() +
                 " 2>&1");
  };
  EXPECT_EQ(score("t", "t").output, score("s", "s").output);
  EXPECT_EQ(translated("a\nb\n", "--prefixes " + (folder_ / "t").string(), "bytes").output,
            translated("a\nb\n", "--prefixes " + (folder_ / "s").string(), "bytes").output);
  const auto metrics = shell(kProgram + " metrics --hypotheses " + (folder_ / "s").string() +
                             " --references " + (folder_ / "t").string() + " 2>&1");
  EXPECT_NE(metrics.output.find("WER    0.0000"), std::string::npos) << metrics.output;
  const auto encode = kProgram + " tokenizer encode --model " +
                      (run("bytes") / "joint.model").string() + " < " + folder_.string();
  EXPECT_EQ(shell(encode + "/t").output, shell(encode + "/s").output);
  write_file(folder_ / "bad", "a\rb\nc\n");
  const auto bad = score("bad", "s");
  EXPECT_EQ(bad.code, 3);
  EXPECT_NE(bad.output.find("bad:1: the line holds a carriage return"), std::string::npos)
      << bad.output;
}

TEST_F(DecodingTest, ABlankSourceHasNoScoreAsItHasNoOutput) {
  write_file(folder_ / "s", "a b\n\xc2\xa0\nc\n");
  write_file(folder_ / "t", "a b\na\nc\n");
  const auto score =
      shell(kProgram + " score " + run("runs").string() + " --source " + (folder_ / "s").string() +
            " --target " + (folder_ / "t").string() + " 2>/dev/null");
  const auto lines = lines_of(score.output);
  ASSERT_EQ(lines.size(), 3U) << score.output;
  EXPECT_LT(std::stod(lines[0]), 0);
  EXPECT_EQ(lines[1], "");
  EXPECT_LT(std::stod(lines[2]), 0);
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

TEST_F(DecodingTest, AFullDiskIsNamed) {
  const auto full =
      shell("echo a b | " + kProgram + " translate " + run("runs").string() + " 2>&1 > /dev/full");
  EXPECT_EQ(full.code, 7);
  EXPECT_EQ(full.output,
            "ablate: cannot write 'standard output': No space left on device; free some space and "
            "run the same command again\n");
}

TEST_F(DecodingTest, PackedInputIsUnpackedOrNamed) {
  const auto through = [&](const std::string& packer) {
    return shell("printf 'a b\\nc\\n' | " + packer + " | " + kProgram + " translate " +
                 run("runs").string() + " 2>&1");
  };
  EXPECT_EQ(through("gzip").output, translated("a b\nc\n", "").output);
  const auto twice = through("gzip | gzip");
  EXPECT_EQ(twice.code, 3);
  EXPECT_EQ(twice.output,
            "ablate: standard input: is a gzip archive in a gzip archive; unpack it once\n");
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

TEST_F(DecodingTest, PrefixesRisksAndContradictions) {
  write_file(folder_ / "prefixes", "c c\n\n");
  const auto found =
      lines_of(translated("a b\na b\n", "--prefixes " + (folder_ / "prefixes").string()).output);
  ASSERT_EQ(found.size(), 2U);
  EXPECT_TRUE(found[0].starts_with("c c")) << found[0];
  EXPECT_FALSE(found[1].starts_with("c c")) << found[1];
  EXPECT_EQ(lines_of(translated("a b\nc\n", "--sample --mbr 8").output).size(), 2U);
  EXPECT_EQ(translated("a\n", "--beam 3 --sample").code, 2);
  EXPECT_EQ(translated("a\nb\nc\n", "--prefixes " + (folder_ / "prefixes").string()).code, 3);
  const auto extra = translated("a\n", "--prefixes " + (folder_ / "prefixes").string());
  EXPECT_EQ(extra.code, 3);
  EXPECT_NE(extra.output.find("prefixes has 2 lines and the input 1; give each line one"),
            std::string::npos)
      << extra.output;
  EXPECT_EQ(translated("a\n", "--min-length 9 --max-length 9").code, 2);
  const auto wrong = shell(kProgram + " generate " + run("runs").string() + " --prompt a 2>&1");
  EXPECT_EQ(wrong.code, 2);
  EXPECT_NE(wrong.output.find("generate needs a language model"), std::string::npos);
}

TEST_F(DecodingTest, EveryOptionIsAFlagWhoseRangeIsThatOfTheStudy) {
  const auto help = shell(kProgram + " translate --help").output;
  models::SearchOptions options;
  models::SearchOptions::fields(options, [&](std::string name, const auto& slot, auto&&...) {
    std::ranges::replace(name, '_', '-');
    if constexpr (std::is_arithmetic_v<std::remove_cvref_t<decltype(slot)>>) {
      EXPECT_NE(help.find("--" + name + " "), std::string::npos) << name;
    }
  });
  for (const std::string flag : {"--temperature", "--top-k", "--top-p", "--seed"})
    EXPECT_NE(help.find(flag + " "), std::string::npos) << flag;
  const auto wrong = translated("a\n", "--beam 257");
  EXPECT_EQ(wrong.code, 2);
  EXPECT_EQ(wrong.output, "ablate: --beam: decoding.beam must be from 1 to 256\n");
  EXPECT_EQ(translated("a\n", "--min-length x --sample --seed -1").output,
            "ablate: --min-length: decoding.min_length 'x' is not an integer\n"
            "--seed: decoding.sampling.random_seed must be at least 0\n");
  EXPECT_EQ(translated("a\n", "--top-p 0").code, 2);
  EXPECT_EQ(
      translated("a\n", "--seed 7").output,
      "ablate: --seed has no effect without --sample, since nothing is drawn; leave it out\n");
}

TEST_F(DecodingTest, EveryPrecisionWritesLines) {
  const std::string input = "a b\nc d a\n";
  for (const std::string precision : {"fp32", "bf16"})
    EXPECT_EQ(lines_of(translated(input, "--precision " + precision).output).size(), 2U);
  const auto wrong = translated(input, "--precision int4");
  EXPECT_EQ(wrong.code, 2);
  EXPECT_NE(wrong.output.find("--precision must be fp32 or bf16"), std::string::npos);
}

TEST_F(DecodingTest, AttentionIsDrawnWithEveryTextEscaped) {
  const auto page = folder_ / "attention.html";
  const auto inspect =
      kProgram + " inspect attention " + run("runs").string() + " --to " + page.string();
  const auto drawn = shell(inspect + " --text 'a b <i>c' 2>&1");
  ASSERT_EQ(drawn.code, 0) << drawn.output;
  const auto text = read_file(page);
  for (const std::string group :
       {"Encoder, self-attention", "Decoder, self-attention", "Decoder, over the source"})
    EXPECT_NE(text.find(group), std::string::npos) << group;
  EXPECT_EQ(text.find("<i>"), std::string::npos);
  const auto blank = shell(inspect + " --text '\u3000' 2>&1");
  EXPECT_EQ(blank.code, 2);
  EXPECT_EQ(blank.output, "ablate: --text is blank; give the model something to read\n");
}

TEST_F(DecodingTest, ALanguageModelGoesOnOverLines) {
  std::string text;
  for (int i = 0; i < 200; ++i) text += "ab\ncd\n";
  write_file(folder_ / "text", text);
  const auto study = folder_ / "language.yaml";
  write_file(
      study,
      "name: language\nseeds: [1]\nbase:\n"
      "  data: { task: language, train: text, held_out: 0.1, block: 15 }\n"
      "  tokenizer: { kind: character }\n"
      "  model: { family: decoder_only, d_model: 32, layers: 1, dropout: 0.0, attention: { "
      "heads: 2 }, position: { kind: rotary }, feed_forward: { kind: dense, d_hidden: 64 } }\n"
      "  training: { steps: 400, tokens_per_batch: 272, max_length: 32, threads: 1, "
      "label_smoothing: 0.0, schedule: { kind: cosine, peak: 1.0e-2, warmup: 10 } }\n");
  const auto trained = shell(kProgram + " run " + study.string() + " --output " +
                             (folder_ / "runs").string() + " 2>&1");
  ASSERT_EQ(trained.code, 0) << trained.output;
  const auto run = (folder_ / "runs/language/language/base/seed-1").string();
  // Each line is three tokens, for a word begins with a mark of its own, and an end mark.
  EXPECT_EQ(shell(kProgram + " generate " + run + " --prompt ab --max-length 8").output,
            "ab\ncd\nab\n");
  EXPECT_EQ(shell("printf 'a\\nc\\n' | " + kProgram + " generate " + run + " --one-line").output,
            "ab\ncd\n");
}

}  // namespace
}  // namespace ablate::commands
