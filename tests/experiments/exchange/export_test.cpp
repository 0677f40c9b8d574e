#include <cmath>
#include <nlohmann/json.hpp>

#include "experiments/exchange/exchange.h"
#include "models/torchscript/torchscript.h"
#include "tests/experiments/program.h"
#include "tokenizer/special_tokens.h"
#include "tokenizer/text/digest.h"
#include "training/checkpoint/checkpoint.h"

namespace ablate::exchange {
namespace {

const std::string kSource = ABLATE_SOURCE;
const std::string kPython = kSource + "/.venv/bin/python";

bool python_has(const std::string& package) {
  return shell(kPython + " -c 'import " + package + "' 2>&1").code == 0;
}

class ExportTest : public ProgramTest {
 protected:
  ExportTest() {
    const auto trained = shell(command("runs"));
    EXPECT_EQ(trained.code, 0) << trained.output;
    write_file(folder_ / "lines", "a b c\nb\n\na a d c b a\nc d\n");
  }
  std::string file() const { return (folder_ / "model.pt").string(); }
  Outcome exported(const std::string& more = "") {
    return shell(kProgram + " export " + run("runs").string() + " --to " + file() + " " + more +
                 " 2>&1");
  }
  std::string lines() const { return (folder_ / "lines").string(); }
  std::string translated(int beams) {
    return shell(kProgram + " translate " + run("runs").string() + " --beam " +
                 std::to_string(beams) + " < " + lines())
        .output;
  }
  Outcome verified(const std::string& how = "--trust") {
    return shell(kProgram + " verify " + file() + " " + how + " 2>&1");
  }
  bool left_behind() const {
    for (const auto& entry : std::filesystem::directory_iterator(folder_))
      if (entry.path().filename().string().find("model.pt") != std::string::npos) return true;
    return false;
  }
};

TEST_F(ExportTest, IsCheckedWhenItIsWrittenAndLater) {
  const auto outcome = exported();
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_NE(outcome.output.find("12 inputs: largest difference of a logit 0.0e+00"),
            std::string::npos)
      << outcome.output;
  EXPECT_NE(outcome.output.find("18 greedy and beam searches, 0 with other ids"), std::string::npos)
      << outcome.output;
  const auto later = verified();
  EXPECT_EQ(later.code, 0);
  EXPECT_NE(later.output.find("18 greedy and beam searches, 0 with other ids"), std::string::npos);
  const auto again = exported();
  EXPECT_EQ(again.code, 2);
  EXPECT_NE(again.output.find("exists; choose another --to or remove it"), std::string::npos);
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
  EXPECT_NE(to_text(odd).find(" logits are not finite"), std::string::npos) << to_text(odd);
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
    write_file(
        folder_ / "language.yaml",
        "name: language\nseeds: [1]\nbase:\n"
        "  data: { task: language, train: text, block: 8 }\n"
        "  tokenizer: { kind: character }\n"
        "  model: { family: decoder_only, d_model: 16, layers: 1, dropout: 0.0, attention: { "
        "heads: 2 }, position: { kind: rotary }, feed_forward: { kind: dense, d_hidden: 32 } "
        "}\n  training: { steps: 15, tokens_per_batch: 80, max_length: 32, threads: 1, "
        "schedule: { kind: constant, peak: 1.0e-2 } }\n");
    const auto trained = shell(kProgram + " run " + (folder_ / "language.yaml").string() +
                               " --output " + (folder_ / "runs").string() + " 2>&1");
    EXPECT_EQ(trained.code, 0) << trained.output;
  }
  std::string run() const { return (folder_ / "runs/language/language/base/seed-1").string(); }
};

TEST_F(ExportedLanguageModel, ContinuesAPromptAsGenerateDoes) {
  const auto file = folder_ / "model.pt";
  const auto exported = shell(kProgram + " export " + run() + " --to " + file.string() + " 2>&1");
  ASSERT_EQ(exported.code, 0) << exported.output;
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
    EXPECT_EQ(shell(kProgram + " generate " + run() + " --one-line --max-length 20 --prompt '" +
                    prompt + "'")
                  .output,
              prompt + text + "\n");
  }
}

TEST_F(ExportedLanguageModel, ThatStartsFromAnotherTokenThanInTrainingIsNoticed) {
  auto run = run::load_run(this->run(), "");
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
    EXPECT_EQ(agreement.different == 0, start == tokenizer::kBos) << to_text(agreement);
  }
}

TEST_F(ExportTest, InBfloat16IsSmallerAndAgrees) {
  ASSERT_EQ(exported().code, 0);
  const auto size = [&] { return std::filesystem::file_size(file()); };
  const auto whole = size();
  std::filesystem::remove(file());
  const auto outcome = exported("--dtype bf16");
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_LT(size(), whole);
  EXPECT_EQ(verified().code, 0);
}

TEST_F(ExportTest, DamagedCutAndForeignFilesAreRefused) {
  ASSERT_EQ(exported().code, 0);
  const auto bytes = read_file(file());
  const auto refused = [&](const std::string& changed) {
    write_file(file(), changed);
    const auto outcome = verified();
    EXPECT_EQ(outcome.code, 4) << outcome.output;
    return outcome.output;
  };
  auto flipped = bytes;
  flipped[bytes.size() / 2] ^= 1;
  EXPECT_NE(refused(flipped).find("is damaged"), std::string::npos);
  EXPECT_NE(refused(bytes.substr(0, bytes.size() / 2)).find("its end is missing"),
            std::string::npos);
  EXPECT_NE(refused("").find("is no TorchScript file"), std::string::npos);
  EXPECT_NE(refused("a text").find("is no TorchScript file"), std::string::npos);
  EXPECT_EQ(shell(kProgram + " verify " + (folder_ / "absent").string() + " 2>&1").code, 7);
  write_file(file(), flipped);
  EXPECT_EQ(verified("").code, 4) << "damage is seen without loading anything";
}

TEST_F(ExportTest, AFileWhoseWeightsAreNotFiniteNamesThem) {
  ASSERT_EQ(exported().code, 0);
  auto archive = from_archive(read_file(file()), file());
  const torch::NoGradGuard no_grad;
  for (const auto& parameter : archive.module.named_parameters())
    if (parameter.name == "embedding") parameter.value[1][2].fill_(std::nan(""));
  write_file(file(), to_archive(archive.module, archive.contents));
  const auto outcome = verified();
  EXPECT_EQ(outcome.code, 4) << outcome.output;
  EXPECT_NE(outcome.output.find("model.pt: the weight 'embedding' holds 1 number of "),
            std::string::npos)
      << outcome.output;
}

TEST_F(ExportTest, IsLoadedOnlyByItsDigestOrOnTrust) {
  const auto printed = exported();
  ASSERT_EQ(printed.code, 0);
  const auto digest = tokenizer::sha256(read_file(file()));
  EXPECT_NE(printed.output.find("SHA-256: " + digest), std::string::npos) << printed.output;
  EXPECT_EQ(verified("--sha256 " + digest).code, 0);
  const auto unknown = verified("");
  EXPECT_EQ(unknown.code, 2);
  EXPECT_NE(unknown.output.find("a TorchScript file is a program"), std::string::npos)
      << unknown.output;
  const auto other = verified("--sha256 " + tokenizer::sha256("other"));
  EXPECT_EQ(other.code, 4);
  EXPECT_NE(other.output.find("it was not loaded"), std::string::npos) << other.output;
}

TEST_F(ExportTest, AModelOfFewPositionsIsCheckedAsFarAsTheyReach) {
  const auto trained =
      shell(command("few",
                    "--set model.position.kind=learned --set model.position.max_length=10 "
                    "--set decoding.max_length=9"));
  ASSERT_EQ(trained.code, 0) << trained.output;
  const auto outcome =
      shell(kProgram + " export " + run("few").string() + " --to " + file() + " 2>&1");
  EXPECT_EQ(outcome.code, 0) << outcome.output;
}

TEST_F(ExportTest, NothingIsLeftWhereTheExportFails) {
  const auto outcome = exported("--checkpoint 999");
  EXPECT_EQ(outcome.code, 4) << outcome.output;
  EXPECT_FALSE(left_behind());
  EXPECT_EQ(exported("--dtype fp8").code, 2);
}

TEST_F(ExportTest, RandomTokensStandInForDataThatIsGone) {
  const auto text = folder_ / "text.yaml";
  write_file(folder_ / "a.txt", "a b c\nb c\nc a b\n");
  write_file(text,
             "name: text\nseeds: [1]\nbase:\n  data: { task: text, train: [a.txt, a.txt], "
             "validation: [a.txt, a.txt], test: [a.txt, a.txt] }\n"
             "  tokenizer: { kind: word }\n"
             "  model: { d_model: 16, layers: 1, attention: { heads: 2 } }\n"
             "  training: { steps: 2, tokens_per_batch: 80, max_length: 32, threads: 1 }\n");
  const auto trained = shell(kProgram + " run " + text.string() + " --output " +
                             (folder_ / "gone").string() + " 2>&1");
  ASSERT_EQ(trained.code, 0) << trained.output;
  std::filesystem::remove(folder_ / "a.txt");
  const auto outcome =
      shell(kProgram + " export " + (folder_ / "gone/text/text/base/seed-1").string() + " --to " +
            file() + " 2>&1");
  EXPECT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_NE(outcome.output.find("checking with random tokens instead of the run's data"),
            std::string::npos);
}

TEST_F(ExportTest, TheConsumersGiveWhatTheProgramGives) {
  if (!python_has("sentencepiece, torch")) GTEST_SKIP() << "no PyTorch and SentencePiece in .venv";
  const std::string program = ABLATE_BUILD "/consumer/translate";
  if (!std::filesystem::exists(program)) GTEST_SKIP() << "no consumer beside a LibTorch with CUDA";
  ASSERT_EQ(exported().code, 0);
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

class SafetensorsTest : public ExportTest {
 protected:
  std::filesystem::path weights() const { return folder_ / "weights"; }
  std::filesystem::path imported() const { return folder_ / "imported"; }
  Outcome import(const std::string& arguments) {
    return shell(kProgram + " import " + arguments + " --to " + imported().string() + " 2>&1");
  }
  void export_weights() {
    const auto outcome = shell(kProgram + " export " + run("runs").string() +
                               " --format safetensors --to " + weights().string() + " 2>&1");
    ASSERT_EQ(outcome.code, 0) << outcome.output;
  }
  std::string scores(const std::filesystem::path& folder) {
    return shell(kProgram + " eval " + folder.string() + " --json").output;
  }
};

TEST_F(SafetensorsTest, ComeBackAsARunWithTheSameScores) {
  export_weights();
  const auto outcome = import(weights().string());
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_EQ(scores_in(scores(imported())), scores_in(scores(run("runs"))));
  EXPECT_EQ(import(weights().string()).code, 2) << "the folder exists";
}

TEST_F(SafetensorsTest, WithNumbersThatAreNotFiniteAreRefusedByName) {
  export_weights();
  const auto file = weights() / "model.safetensors";
  auto tensors = training::read_safetensors(file);
  for (const double odd : {std::nan(""), 1e300}) {  // which float cannot hold
    auto& embedding = tensors.at("embedding");
    embedding = embedding.to(torch::kDouble);
    embedding[1][2] = odd;
    write_file(file, training::to_safetensors(tensors));
    const auto outcome = import(weights().string());
    EXPECT_EQ(outcome.code, 4) << outcome.output;
    EXPECT_NE(outcome.output.find("the weight 'embedding' holds 1 number of "), std::string::npos)
        << outcome.output;
    EXPECT_FALSE(std::filesystem::exists(imported()));
  }
}

TEST_F(SafetensorsTest, OfShapesThatDoNotFitAreRefusedByName) {
  export_weights();
  const auto file = weights() / "model.safetensors";
  auto tensors = training::read_safetensors(file);
  const auto embedding = tensors.at("embedding");
  tensors["cube"] = embedding.unsqueeze(0).clone();
  tensors["row"] = embedding[0].clone();
  tensors["narrow"] = embedding.narrow(1, 0, 3).clone();
  write_file(file, training::to_safetensors(tensors));
  const auto names = folder_ / "names.yaml";
  for (const std::string origin :
       {"row", "{name: embedding, transpose: true}", "{name: cube, transpose: true}",
        "{name: row, transpose: true}", "[embedding, row]", "[embedding, narrow]"}) {
    write_file(names, "embedding: " + origin + "\n");
    const auto outcome = import(weights().string() + " --names " + names.string());
    EXPECT_EQ(outcome.code, 4) << outcome.output;
    EXPECT_NE(outcome.output.find("cannot make 'embedding', whose shape in this configuration is "),
              std::string::npos)
        << origin << ": " << outcome.output;
    EXPECT_FALSE(std::filesystem::exists(imported()));
    std::filesystem::remove_all(imported());
  }
}

TEST_F(SafetensorsTest, WithWholeNumbersForRealOnesAreRefusedByName) {
  export_weights();
  const auto file = weights() / "model.safetensors";
  auto tensors = training::read_safetensors(file);
  tensors.at("embedding") = tensors.at("embedding").to(torch::kLong);
  write_file(file, training::to_safetensors(tensors));
  const auto outcome = import(weights().string());
  EXPECT_EQ(outcome.code, 4) << outcome.output;
  EXPECT_NE(outcome.output.find("'embedding' holds numbers of the type Long, and 'embedding' needs "
                                "Float"),
            std::string::npos)
      << outcome.output;
  EXPECT_FALSE(std::filesystem::exists(imported()));
}

TEST_F(SafetensorsTest, OfFilesWithoutTheirDigestsSayHowToMakeThem) {
  const auto checkpoints = run("runs") / "checkpoints";
  const auto checkpoint = training::list_checkpoints(checkpoints).back().path.string();
  const auto arguments = checkpoint + "/model.safetensors --config " + checkpoint +
                         "/config.yaml --tokenizers " + checkpoint;
  const auto bare = import(arguments);
  EXPECT_EQ(bare.code, 3) << bare.output;
  for (const std::string side : {"source", "target"}) {
    const auto file = checkpoint + "/" + side + ".model";
    const auto make = "sha256sum < " + file + " | cut -c1-64 > " + file + ".sha256";
    const auto outcome = import(arguments);
    EXPECT_NE(outcome.output.find(make), std::string::npos) << outcome.output;
    ASSERT_EQ(shell(make).code, 0);
  }
  const auto outcome = import(arguments);
  EXPECT_EQ(outcome.code, 0) << outcome.output;
}

TEST_F(ExportTest, ARunWhoseWeightsAreNotFiniteIsUsedForNothing) {
  const auto checkpoints = run("runs") / "checkpoints";
  auto last = training::load_checkpoint(training::list_checkpoints(checkpoints).back().path);
  last.model.at("embedding")[1][2] = std::nan("");
  training::save_checkpoint(checkpoints, last);
  for (const std::string verb : {"export", "eval"}) {
    const auto more = verb == "export" ? " --to " + file() : "";
    const auto outcome = shell(kProgram + " " + verb + " " + run("runs").string() + more + " 2>&1");
    EXPECT_EQ(outcome.code, 4) << outcome.output;
    EXPECT_NE(outcome.output.find("checkpoints (last): the weight 'embedding' holds 1 number of "),
              std::string::npos)
        << outcome.output;
  }
  EXPECT_FALSE(left_behind());
}

/// Splits packed projections, turns the feed-forward's matrices round and renames everything.
constexpr const char* kForeignWriter = R"(
import json, sys
from safetensors.torch import load_file, save_file
folder = sys.argv[1]
ours, foreign, names = load_file(folder + "/weights/model.safetensors"), {"left.over": None}, {}
for name, tensor in ours.items():
    if "qkv" in name:
        parts = tensor.chunk(3)
        for letter, part in zip("qkv", parts):
            foreign[name + "." + letter] = part.contiguous()
        names[name] = [name + "." + letter for letter in "qkv"]
    elif name.endswith("up.weight"):
        foreign["turned." + name] = tensor.t().contiguous()
        names[name] = {"name": "turned." + name, "transpose": True}
    else:
        foreign["x." + name] = tensor
        names[name] = "x." + name
foreign["left.over"] = tensor.clone()
save_file(foreign, folder + "/foreign.safetensors")
json.dump(names, open(folder + "/names.yaml", "w"))
)";

TEST_F(SafetensorsTest, OfAnotherProjectAreReadByAMapOfNames) {
  if (!python_has("safetensors, torch")) GTEST_SKIP() << "no safetensors package in .venv";
  export_weights();
  write_file(folder_ / "foreign.py", kForeignWriter);

  ASSERT_EQ(shell(kPython + " " + (folder_ / "foreign.py").string() + " " + folder_.string()).code,
            0);
  const auto arguments = (folder_ / "foreign.safetensors").string() + " --config " +
                         (weights() / "config.yaml").string() + " --tokenizers " +
                         weights().string();
  const auto names = (folder_ / "names.yaml").string();
  const auto without = import(arguments);
  EXPECT_EQ(without.code, 4);
  EXPECT_NE(without.output.find("has no tensor '"), std::string::npos) << without.output;
  const auto outcome = import(arguments + " --names " + names);
  ASSERT_EQ(outcome.code, 0) << outcome.output;
  EXPECT_NE(outcome.output.find("1 tensors of the file were not asked for"), std::string::npos);
  EXPECT_EQ(shell(kProgram + " translate " + imported().string() + " < " + lines()).output,
            shell(kProgram + " translate " + run("runs").string() + " < " + lines()).output);
  std::filesystem::remove_all(imported());
  auto config = read_file(weights() / "config.yaml");
  config.replace(config.find("d_hidden: 32"), 12, "d_hidden: 48");
  write_file(folder_ / "other.yaml", config);
  const auto shape = import((folder_ / "foreign.safetensors").string() + " --config " +
                            (folder_ / "other.yaml").string() + " --tokenizers " +
                            weights().string() + " --names " + names);
  EXPECT_EQ(shape.code, 4);
  EXPECT_NE(shape.output.find("whose shape in this configuration is [16, 48]"), std::string::npos)
      << shape.output;
  EXPECT_FALSE(std::filesystem::exists(imported()));
}

}  // namespace
}  // namespace ablate::exchange
