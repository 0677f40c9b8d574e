#include <gtest/gtest.h>

#include <filesystem>
#include <fstream>

#include "tests/says.h"
#include "tests/tokenizer/golden_files.h"
#include "tokenizer/bpe_sampler.h"
#include "tokenizer/special_tokens.h"
#include "tokenizer/tokenizer.h"

namespace ablate::tokenizer {
namespace {

std::vector<int32_t> in_file(const Tokenizer& tokenizer, const std::vector<int32_t>& ids) {
  std::vector<int32_t> theirs;
  for (const auto id : ids) theirs.push_back(tokenizer.ids().theirs(id).value_or(-1));
  return theirs;
}

TEST(IdMap, PutsTheSpecialTokensFirstAndKeepsTheOrderOfTheOthers) {
  const IdMap map(6, {.bos = 4, .eos = 2, .unk = 0});
  EXPECT_EQ(map.size(), 7);  // padding has an id, which the file lacks
  EXPECT_EQ(map.theirs(kPad), std::nullopt);
  EXPECT_EQ(map.theirs(kBos), 4);
  EXPECT_EQ(map.theirs(kEos), 2);
  EXPECT_EQ(map.theirs(kUnk), 0);
  EXPECT_EQ(map.theirs(4), 1);
  EXPECT_EQ(map.theirs(5), 3);
  EXPECT_EQ(map.theirs(6), 5);
  for (int32_t id = 0; id < 6; ++id) EXPECT_EQ(map.theirs(map.ours(id)), id);
}

TEST(IdMap, OneTokenMayBeSeveralSpecialOnes) {
  const IdMap map(3, {.pad = 2, .bos = 2, .eos = 2, .unk = 2});  // as in GPT-2
  EXPECT_EQ(map.size(), 6);
  for (const auto id : {kPad, kBos, kEos, kUnk}) EXPECT_EQ(map.theirs(id), 2);
  EXPECT_EQ(map.ours(2), kEos);
  EXPECT_EQ(map.ours(0), 4);
  EXPECT_THROW(IdMap(3, {.eos = 3}), TokenizerError);
  EXPECT_THROW(IdMap(3, {.eos = -1}), TokenizerError);
}

TEST(IdMap, OfATokenizerTrainedHereChangesNothing) {
  const std::vector<std::string> lines{"the cat sat on the mat", "the dog sat on the log"};
  const auto tokenizer = Tokenizer::train({.vocabulary = 30, .mask = true}, lines);
  for (int32_t id = 0; id < tokenizer.vocabulary_size(); ++id)
    EXPECT_EQ(tokenizer.ids().theirs(id), id);
}

/// Each is a model that PyPI's `sentencepiece` trained (foreign/build_models.py).
class ForeignModel : public testing::TestWithParam<const char*> {};

TEST_P(ForeignModel, EncodesAndDecodesAsSentencePiece) {
  const auto name = "foreign/golden/" + std::string(GetParam());
  const auto tokenizer = Tokenizer::from_bytes(content(name + ".model"));
  EXPECT_EQ(tokenizer.bytes(), content(name + ".model"));
  const auto cases = json_lines(name + ".jsonl");
  EXPECT_EQ(cases.size(), 18U);
  for (const auto& expected : cases) {
    const auto text = from_latin1(expected[0]);
    const auto ids = tokenizer.encode(text);
    EXPECT_EQ(nlohmann::json(in_file(tokenizer, ids)), expected[1]) << text;
    EXPECT_EQ(tokenizer.decode(ids), from_latin1(expected[2])) << text;
    for (const auto id : ids) EXPECT_GE(id, kUnk);
    if (!tokenizer.merges()) continue;
    EXPECT_EQ(BpeSampler(tokenizer).encode(text, [] { return false; }), ids) << text;
  }
}

INSTANTIATE_TEST_SUITE_P(Layouts, ForeignModel,
                         testing::Values("llama", "t5", "gemma", "suffix", "word"),
                         [](const auto& layout) { return std::string(layout.param); });

TEST(ForeignModels, NameTheirSpecialTokens) {
  const auto specials = [](const char* name) {
    const auto tokenizer =
        Tokenizer::from_bytes(content("foreign/golden/" + std::string(name) + ".model"));
    return in_file(tokenizer, {kPad, kBos, kEos, kUnk, kMask});
  };
  EXPECT_EQ(specials("llama"), (std::vector<int32_t>{-1, 1, 2, 0, 3}));
  EXPECT_EQ(specials("t5"), (std::vector<int32_t>{0, -1, 1, 2, 3}));
  EXPECT_EQ(specials("gemma"), (std::vector<int32_t>{0, 2, 1, 3, 4}));
  EXPECT_EQ(specials("suffix"), (std::vector<int32_t>{7, 6, 4, 5, 0}));
}

TEST(ForeignModels, TokensHaveTheirNamesHere) {
  const auto tokenizer = Tokenizer::from_bytes(content("foreign/golden/gemma.model"));
  EXPECT_EQ(tokenizer.token(kBos), "<s>");
  EXPECT_EQ(tokenizer.token(kEos), "</s>");
  EXPECT_EQ(tokenizer.token(kMask), "<mask>");
  EXPECT_EQ(tokenizer.token(5), "<2mass>");
}

std::string said(const auto& read) {
  return refusal_of<TokenizerError>([&] { read(); });
}

/// A kind of huggingface/golden with the special tokens that a configuration names.
Tokenizer from_json(const std::string& kind, const std::string& config) {
  const auto file = content("huggingface/golden/" + kind + ".json");
  return Tokenizer::foreign(file, {.specials = named_specials(config, token_ids(file))});
}

const std::string kGpt2 = R"({"bos_token": "<|endoftext|>", "eos_token": "<|endoftext|>"})";
const std::string kGpt2End = R"({"eos_token": "<|endoftext|>"})";
const std::string kBert = R"({"pad_token": {"content": "[PAD]"}, "cls_token": "[CLS]",
    "sep_token": "[SEP]", "unk_token": "[UNK]", "mask_token": "[MASK]"})";

TEST(TokenizerJsonModel, EncodesAsItsFileUnderOurIds) {
  const auto tokenizer = from_json("bert", kBert);
  EXPECT_EQ(in_file(tokenizer, {kPad, kBos, kEos, kUnk, kMask}),
            (std::vector<int32_t>{0, 2, 3, 1, 4}));
  const auto cases = json_lines("huggingface/golden/bert.jsonl"),
             texts = json_lines("huggingface/golden/texts.jsonl");
  ASSERT_EQ(cases.size(), 50U);
  ASSERT_EQ(texts.size(), 50U);
  for (size_t i = 0; i < texts.size(); ++i) {
    const auto text = from_latin1(texts[i]);
    if (text.find('[') != std::string::npos) continue;  // spells a special token
    EXPECT_EQ(nlohmann::json(in_file(tokenizer, tokenizer.encode(text))), cases[i][0]) << text;
  }
}

TEST(TokenizerJsonModel, KeepsItsFileAndItsNames) {
  const auto json = content("huggingface/golden/gpt2.json");
  const auto tokenizer = from_json("gpt2", kGpt2);
  EXPECT_TRUE(tokenizer.bytes().ends_with(json));
  const auto again = Tokenizer::from_bytes(tokenizer.bytes());
  EXPECT_EQ(again.bytes(), tokenizer.bytes());
  EXPECT_EQ(again.ids().theirs(kBos), 0);
  EXPECT_EQ(again.encode("the cat 中"), tokenizer.encode("the cat 中"));
  EXPECT_EQ(again.decode(again.encode("the cat 中")), "the cat 中");
}

TEST(TokenizerJsonModel, TextCannotSpellItsSpecialTokens) {
  const auto tokenizer = from_json("gpt2", kGpt2End);
  const auto ids = tokenizer.encode("the<|endoftext|>");
  for (const auto id : ids) EXPECT_GT(id, kUnk);
  EXPECT_EQ(tokenizer.decode(ids), "the<|endoftext|>");
}

TEST(TokenizerJsonModel, SpellsItsTokensWithSpacesAsSentencePieceDoes) {
  const auto tokenizer = from_json("gpt2", kGpt2End);
  EXPECT_EQ(tokenizer.tokens("the the"), (std::vector<std::string>{"the", "\u2581the"}));
  EXPECT_EQ(tokenizer.token(kEos), "</s>");
  EXPECT_EQ(normal_form(tokenizer, "the the"), "the the");
  const auto faithful = fidelity(tokenizer, "a ☃  b");
  EXPECT_EQ(faithful.unknown_tokens, 0);
  EXPECT_FALSE(faithful.altered);
}

TEST(TokenizerJsonModel, IsLoadedFromItsFolderWithTheNamesBesideIt) {
  const auto folder = std::filesystem::path(testing::TempDir()) / "tokenizer_json_model";
  std::filesystem::remove_all(folder);
  std::filesystem::create_directory(folder);
  std::ofstream(folder / "tokenizer.json") << content("huggingface/golden/bert.json");
  EXPECT_TRUE(says(said([&] { Tokenizer::load(folder / "tokenizer.json"); }),
                   "tokenizer_config.json: cannot read"));
  std::ofstream(folder / "tokenizer_config.json") << kBert;
  const auto tokenizer = Tokenizer::load(folder / "tokenizer.json");
  EXPECT_EQ(in_file(tokenizer, {kPad, kBos, kEos, kUnk}), (std::vector<int32_t>{0, 2, 3, 1}));
  std::ofstream(folder / "tokenizer_config.json") << R"({"do_lower_case": true})";
  const auto unnamed = Tokenizer::load(folder / "tokenizer.json");
  EXPECT_EQ(in_file(unnamed, {kUnk}), std::vector<int32_t>{1})
      << "the model's own, or unknown text would count as known";
  EXPECT_EQ(fidelity(unnamed, "\u2603").unknown_tokens, 1);
  std::ofstream(folder / "run.model") << tokenizer.bytes();
  EXPECT_EQ(Tokenizer::load(folder / "run.model").bytes(), tokenizer.bytes());
}

TEST(TokenizerJsonModel, RefusesNamesThatItsFileLacksOrThatAreDamaged) {
  EXPECT_EQ(said([] { from_json("gpt2", R"({"eos_token": "</s>"})"); }),
            "the tokenizer has no token '</s>', which is the eos_token of its configuration");
  EXPECT_EQ(said([] { from_json("gpt2", R"({"eos_token": 3})"); }),
            "its configuration does not name the special tokens as strings");
  EXPECT_EQ(said([] { Tokenizer::from_bytes("ablate tokenizer {"); }),
            "not a usable tokenizer: it ends within its first line");
  EXPECT_EQ(said([] { Tokenizer::from_bytes("ablate tokenizer {\n{}"); }),
            "not a usable tokenizer: its first line is damaged");
  EXPECT_EQ(said([] { Tokenizer::from_bytes("ablate tokenizer {\"eos\": \"a\"}\n{}"); }),
            "not a usable tokenizer: its first line is damaged");
  EXPECT_EQ(said([] { Tokenizer::from_bytes("ablate tokenizer {}\n{}"); }),
            "not a usable tokenizer.json: it lacks 'model'");
}

TEST(ForeignFacts, AModelMayHaveMoreTokensThanItsTokenizerButNotFewer) {
  const auto file = content("foreign/golden/t5.model");
  const auto with = [&](int64_t size) {
    return Tokenizer::foreign(file,
                              {.specials = {.pad = 0, .bos = 0, .eos = 1, .unk = 2}, .size = size});
  };
  const auto own = Tokenizer::from_bytes(file);
  const auto tokenizer = with(own.ids().file_size() + 3);
  // The start is padding once more, and three rows have no text.
  EXPECT_EQ(tokenizer.vocabulary_size(), own.ids().file_size() + 3 + 1);
  EXPECT_EQ(in_file(tokenizer, tokenizer.encode("the cat")), in_file(own, own.encode("the cat")));
  const auto last = static_cast<int32_t>(tokenizer.vocabulary_size() - 1);
  EXPECT_EQ(tokenizer.token(last), "<unused " + std::to_string(own.ids().file_size() + 2) + ">");
  EXPECT_EQ(tokenizer.decode(std::vector<int32_t>{last}), "");
  EXPECT_TRUE(said([&] { with(own.ids().file_size() - 1); }).starts_with("the model has "));
}

TEST(ForeignFacts, PiecesMayHaveTheIdsOfAnotherList) {
  const auto file = content("foreign/golden/llama.model");
  const auto plain = Tokenizer::from_bytes(file);
  const auto pieces = plain.tokens("the cat");
  std::map<std::string, int32_t> vocabulary{{"</s>", 0}, {"<unk>", 1}, {">>fra<<", 2}};
  for (const auto& piece : pieces)
    vocabulary.emplace(piece, static_cast<int32_t>(vocabulary.size()));
  vocabulary["\u2581Katze"] = static_cast<int32_t>(vocabulary.size());  // of the other language
  vocabulary["<pad>"] = static_cast<int32_t>(vocabulary.size());
  const auto with = [&](const auto& ids) {
    return Tokenizer::foreign(file,
                              {.specials = {.eos = 0, .unk = 1}, .size = {}, .vocabulary = ids});
  };
  const auto tokenizer = with(vocabulary);
  const auto in_list = [&](const std::string& line) {
    return in_file(tokenizer, tokenizer.encode(line));
  };
  for (size_t i = 0; i < pieces.size(); ++i)
    EXPECT_EQ(in_list("the cat")[i], vocabulary.at(pieces[i]));
  EXPECT_EQ(in_list(">>fra<<the cat")[0], 2);
  EXPECT_EQ(in_list(">>deu<<the cat")[0], 1);
  EXPECT_EQ(tokenizer.tokens(">>fra<<the cat << the cat").front(), ">>fra<<");
  EXPECT_EQ(tokenizer.decode(tokenizer.encode("the cat")), "the cat");
  const auto other = std::vector{tokenizer.ids().ours(vocabulary.at("\u2581Katze"))};
  EXPECT_EQ(tokenizer.decode(other), "Katze");
  auto mixed = tokenizer.encode("the cat");
  mixed.insert(mixed.begin(), other[0]);
  mixed.insert(mixed.end(), 2, other[0]);
  EXPECT_EQ(tokenizer.decode(mixed), "Katze the cat Katze Katze");
  EXPECT_EQ(Tokenizer::from_bytes(tokenizer.bytes()).encode("the cat"),
            tokenizer.encode("the cat"));
  vocabulary["<pad>"] = 0;
  EXPECT_EQ(said([&] { with(vocabulary); }), "the vocabulary gives '</s>' and '<pad>' the id 0");
  vocabulary["<pad>"] = 99;
  EXPECT_TRUE(
      said([&] { with(vocabulary); }).starts_with("the vocabulary gives '<pad>' the id 99"));
}

}  // namespace
}  // namespace ablate::tokenizer
