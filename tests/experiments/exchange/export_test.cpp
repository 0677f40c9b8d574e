#include <cmath>

#include "experiments/exchange/exchange.h"
#include "models/initialization.h"
#include "models/torchscript/torchscript.h"
#include "tests/experiments/exchange/export_test_case.h"
#include "tests/says.h"
#include "tokenizer/special_tokens.h"
#include "training/checkpoint/checkpoint.h"

namespace ablate::exchange {
namespace {

TEST_F(ExportTest, IsCheckedWhenItIsWrittenAndLater) {
  const auto output = output_of(exported());
  EXPECT_TRUE(says(output, "12 inputs: largest difference of a logit 0.0e+00"));
  EXPECT_TRUE(says(output, "18 greedy and beam searches, 0 with other ids"));
  EXPECT_TRUE(ends(verified(), 0, "18 greedy and beam searches, 0 with other ids"));
}

TEST_F(ExportTest, NamesTheKeysOfDecodingThatItsMethodsDoNotKnow) {
  const auto run = trained(
      "copy",
      "  data: { task: copy, symbols: 4, train_length: [1, 4], test_length: [4], examples: { "
      "train: 40, validation: 4, test: 4 } }\n  tokenizer: { kind: word }\n  model: { d_model: "
      "8, layers: 1, attention: { heads: 2 }, feed_forward: { d_hidden: 8 } }\n"
      "  training: { steps: 2, threads: 1 }\n"
      "  decoding: { max_length: 3, min_length: 1, batch: 3 }\n");
  EXPECT_TRUE(says(program("export", run, "--to", folder_ / "copy.pt", "2>&1").output,
                   "note: the run writes its outputs with decoding.min_length: 1, "
                   "decoding.max_length: 3, of which"));
  EXPECT_FALSE(says(exported().output, "note: the run writes"));
}

TEST_F(ExportTest, AModuleThatDiffersIsNotCalledAlike) {
  ASSERT_EQ(exported().code, 0);
  auto archive = from_archive(read_file(file()), file());
  auto model = run::load_run(run("runs"), "").model;
  EXPECT_TRUE(agrees(compare(model, archive.module, archive.contents), torch::kFloat));
  torch::NoGradGuard no_grad;
  for (auto parameter : archive.module.parameters()) parameter.add_(torch::randn_like(parameter));
  const auto far = compare(model, archive.module, archive.contents);
  EXPECT_GT(far.logits, 1e-2);
  EXPECT_GT(far.different, 0);
  EXPECT_FALSE(agrees(far, torch::kFloat));
  EXPECT_FALSE(agrees({.logits = 0, .different = 1}, torch::kFloat)) << "ids alone";
  for (auto parameter : archive.module.parameters()) parameter.fill_(std::nan(""));
  const auto odd = compare(model, archive.module, archive.contents);
  EXPECT_GT(odd.not_finite, 0);
  EXPECT_EQ(odd.different, odd.searched) << "a score that is not finite is like no other";
  EXPECT_TRUE(says(to_text(odd), " logits are not finite"));
  for (const auto type : {torch::kFloat, torch::kBFloat16})
    EXPECT_FALSE(agrees({.not_finite = 1}, type)) << "whatever the others are";
  EXPECT_FALSE(agrees({.logits = 2e-4, .scale = 1}, torch::kFloat)) << "logits alone";
}

class ExportedLanguageModel : public ProgramTest {
 protected:
  ExportedLanguageModel() {
    std::string text;
    for (int i = 0; i < 300; ++i) text += (i % 3 == 0 ? "abc\n" : i % 3 == 1 ? "cad\n" : "dbb\n");
    write_file(folder_ / "text", text);
    run_ = trained(
        "language",
        "  data: { task: language, train: text, block: 8 }\n"
        "  tokenizer: { kind: character }\n"
        "  model: { family: decoder_only, d_model: 16, layers: 1, dropout: 0.0, attention: { "
        "heads: 2 }, position: { kind: rotary }, feed_forward: { kind: dense, d_hidden: 32 } "
        "}\n  training: { steps: 15, tokens_per_batch: 80, max_length: 32, threads: 1, "
        "schedule: { kind: constant, peak: 1.0e-2 } }\n");
  }
  std::filesystem::path run_;
};

TEST_F(ExportedLanguageModel, ContinuesAPromptAsGenerateDoes) {
  const auto file = folder_ / "model.pt";
  ASSERT_TRUE(ends(program("export", run_, "--to", file, "2>&1"), 0));
  auto archive = from_archive(read_file(file), file);
  const auto format = config::format_of(archive.contents.experiment);
  const auto& tokenizers = archive.contents.tokenizers;
  const torch::NoGradGuard no_grad;
  for (const std::string prompt : {"", "a", "ab", "dbb\nc"}) {
    const auto source = torch::tensor(format.encode_source(prompt, tokenizers)->ids, torch::kLong);
    const auto found = archive.module.get_method("greedy")({source.unsqueeze(0), 20});
    const auto ids = found.toTupleRef().elements()[0].toTensor()[0].to(torch::kInt).contiguous();
    const auto* begin = ids.const_data_ptr<int32_t>();
    const auto text = format.decode({begin, static_cast<size_t>(ids.size(0))}, tokenizers);
    EXPECT_EQ(shell(kProgram + " generate " + run_.string() +
                    " --one-line --max-length 20 --prompt '" + prompt + "'")
                  .output,
              prompt + text + "\n");
  }
}

TEST_F(ExportedLanguageModel, ThatStartsFromAnotherTokenThanInTrainingIsNoticed) {
  auto run = run::load_run(run_, "");
  const std::vector<data::Example> texts{{{}, "abc"}, {{}, "cad"}, {{}, "dbb"}};
  const ExportContents contents{.experiment = run.experiment,
                                .tokenizers = run.tokenizers,
                                .examples = run.format.encode(texts, run.tokenizers).examples};
  for (const int64_t start : {tokenizer::kBos, tokenizer::kEos}) {
    auto module = models::to_torchscript(
        run.model,
        {.pad = tokenizer::kPad, .bos = tokenizer::kBos, .eos = tokenizer::kEos, .start = start});
    const auto agreement = compare(run.model, module, contents);
    EXPECT_EQ(agrees(agreement, torch::kFloat), start == tokenizer::kBos) << to_text(agreement);
  }
}

TEST_F(ExportedLanguageModel, WhatIsNeverWrittenHidesNoDifference) {
  auto run = run::load_run(run_, "");
  std::get<models::LmHead>(run.experiment.model.output).bias = true;
  const std::vector<data::Example> texts{{{}, "abc"}, {{}, "cad"}};
  const ExportContents contents{.experiment = run.experiment,
                                .tokenizers = run.tokenizers,
                                .examples = run.format.encode(texts, run.tokenizers).examples};
  auto model = run::make_model(run.experiment, run.tokenizers);
  models::initialize(*model, 1);
  model->eval();
  const torch::NoGradGuard no_grad;
  training::weights_of(*model).at("output_bias")[tokenizer::kUnk] = -1e4;
  auto module = models::to_torchscript(model, {.pad = tokenizer::kPad,
                                               .bos = tokenizer::kBos,
                                               .eos = tokenizer::kEos,
                                               .start = tokenizer::kBos});
  const auto same = compare(model, module, contents);
  EXPECT_TRUE(agrees(same, torch::kFloat)) << to_text(same);
  EXPECT_LT(same.scale, 100);
  module = module.deepcopy();  // whose parameters are no longer the model's
  for (const auto& parameter : module.named_parameters())
    if (parameter.name == "output_bias") parameter.value[tokenizer::kUnk + 1].add_(0.5);
  const auto other = compare(model, module, contents);
  EXPECT_NEAR(other.logits, 0.5, 1e-4);
  EXPECT_FALSE(agrees(other, torch::kFloat));
}

TEST_F(ExportTest, InBfloat16IsSmallerAndAgrees) {
  ASSERT_EQ(exported().code, 0);
  const auto size = [&] { return std::filesystem::file_size(file()); };
  const auto whole = size();
  std::filesystem::remove(file());
  ASSERT_TRUE(ends(exported("--dtype bf16"), 0));
  EXPECT_LT(size(), whole);
  EXPECT_EQ(verified().code, 0);
}

TEST_F(ExportTest, AFileWhoseWeightsAreNotFiniteNamesThem) {
  ASSERT_EQ(exported().code, 0);
  auto archive = from_archive(read_file(file()), file());
  const torch::NoGradGuard no_grad;
  for (const auto& parameter : archive.module.named_parameters())
    if (parameter.name == "embedding") parameter.value[1][2].fill_(std::nan(""));
  write_file(file(), to_archive(archive.module, archive.contents));
  EXPECT_TRUE(ends(verified(), 4, "model.pt: the weight 'embedding' holds 1 number of "));
}

TEST_F(ExportTest, AModelOfFewPositionsIsCheckedAsFarAsTheyReach) {
  ASSERT_TRUE(
      ends(shell(command("few",
                         "--set model.position.kind=learned --set model.position.max_length=10 "
                         "--set decoding.max_length=9")),
           0));
  EXPECT_TRUE(ends(program("export", run("few"), "--to", file(), "2>&1"), 0));
}

TEST_F(ExportTest, RandomTokensStandInForDataThatIsGone) {
  write_file(folder_ / "a.txt", "a b c\nb c\nc a b\n");
  const auto text =
      trained("text",
              "  data: { task: text, train: [a.txt, a.txt], "
              "validation: [a.txt, a.txt], test: [a.txt, a.txt] }\n"
              "  tokenizer: { kind: word }\n"
              "  model: { d_model: 16, layers: 1, attention: { heads: 2 } }\n"
              "  training: { steps: 2, tokens_per_batch: 80, max_length: 32, threads: 1 }\n");
  std::filesystem::remove(folder_ / "a.txt");
  EXPECT_TRUE(ends(program("export", text, "--to", file(), "2>&1"), 0,
                   "checking with random tokens instead of the run's data"));
}

TEST_F(ExportTest, TheConsumersGiveWhatTheProgramGives) {
  if (!python_has("sentencepiece, torch")) GTEST_SKIP() << "no PyTorch and SentencePiece in .venv";
  const std::string program = ABLATE_BUILD "/consumer/translate";
  if (!std::filesystem::exists(program)) GTEST_SKIP() << "no consumer beside a LibTorch with CUDA";
  ASSERT_EQ(exported().code, 0);
  write_file(lines(), read_file(lines()) + "a\u2028b\n");
  for (const int beams : {1, 3}) {
    const auto expected = translated(beams);
    const auto count = std::to_string(beams);
    EXPECT_EQ(shell(kPython + " " + kSource + "/bench/consumer/translate.py " + file() +
                    " --beams " + count + " < " + lines())
                  .output,
              expected);
    EXPECT_EQ(shell(program + " " + file() + " " + count + " < " + lines()).output, expected);
  }
}

TEST_F(ExportTest, ARunWhoseWeightsAreNotFiniteIsUsedForNothing) {
  const auto checkpoints = run("runs") / "checkpoints";
  auto last = training::load_checkpoint(training::list_checkpoints(checkpoints).back().path);
  last.model.at("embedding")[1][2] = std::nan("");
  training::save_checkpoint(checkpoints, last);
  for (const std::string verb : {"export", "eval"}) {
    const auto more = verb == "export" ? " --to " + file() : "";
    EXPECT_TRUE(ends(shell(kProgram + " " + verb + " " + run("runs").string() + more + " 2>&1"), 4,
                     "checkpoints (last): the weight 'embedding' holds 1 number of "));
  }
  EXPECT_FALSE(left_behind());
}

}  // namespace
}  // namespace ablate::exchange
