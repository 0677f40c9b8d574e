#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "data/batch.h"
#include "data/corpus.h"
#include "data/masking.h"
#include "tokenizer/special_ids.h"

namespace ablate::data {
namespace {

using Ids = std::vector<int64_t>;

TEST(AsSequences, TheSourceStandsBeforeTheTargetAndIsNotPredicted) {
  EncodedSet pairs;
  pairs.examples = {{{7, 8, 2}, {5, 2}}, {{9, 2}, {6, 4, 2}}};
  const auto sequences = as_sequences(pairs);
  const auto batch = collate(sequences.examples, std::vector<int64_t>{0, 1});
  EXPECT_EQ(batch.source_length, 0);
  EXPECT_EQ(batch.target_in, (Ids{1, 7, 8, 2, 5, 1, 9, 2, 6, 4}));
  EXPECT_EQ(batch.target_out, (Ids{0, 0, 0, 5, 2, 0, 0, 6, 4, 2}));
  EXPECT_EQ(batch.tokens, 5);
}

class Packed : public testing::Test {
 protected:
  const std::vector<Example> texts_ = {{{}, "abc"}, {{}, ""}, {{}, "cab"}};
  const tokenizer::Tokenizer tokenizer_ =
      tokenizer::Tokenizer::train({.kind = tokenizer::Kind::character,
                                   .normalization = tokenizer::Normalization::identity,
                                   .spaces = tokenizer::Spaces::exact,
                                   .mask = true},
                                  std::vector<std::string>{"abc", "cab"});
};

TEST_F(Packed, BlocksPredictEveryPieceButTheFirstOnce) {
  const auto set = pack(texts_, tokenizer_, 3);
  const auto all = pack(texts_, tokenizer_, 100);
  ASSERT_EQ(all.examples.size(), 1U);
  const auto& whole = all.examples[0].target;
  ASSERT_EQ(whole.size(), 9U);  // a b c end end c a b end
  EXPECT_EQ(whole[3], tokenizer::kEos);
  EXPECT_EQ(whole[4], tokenizer::kEos);
  std::vector<int32_t> predicted;
  for (const auto& block : set.examples) {
    EXPECT_EQ(block.given, 1);
    predicted.insert(predicted.end(), block.target.begin() + 1, block.target.end());
  }
  EXPECT_EQ(predicted, (std::vector<int32_t>{whole.begin() + 1, whole.end()}));
}

TEST_F(Packed, ACharacterModelWithExactSpacesKeepsEveryCharacter) {
  const std::string line = "  ab  c ";
  const auto model =
      tokenizer::Tokenizer::train({.kind = tokenizer::Kind::character,
                                   .normalization = tokenizer::Normalization::identity,
                                   .spaces = tokenizer::Spaces::exact},
                                  std::vector<std::string>{line});
  EXPECT_EQ(model.encode(line).size(), line.size());
  EXPECT_EQ(model.decode(model.encode(line)), line);
}

TEST_F(Packed, MaskedBlocksShowTheMaskForMostOfTheChosenPieces) {
  std::vector<Example> texts(400, {{}, "abcabcabcabcabc"});
  const auto set = pack_for_masking(texts, tokenizer_, 16);
  std::vector<int64_t> rows(set.examples.size());
  for (size_t i = 0; i < rows.size(); ++i) rows[i] = static_cast<int64_t>(i);
  const auto before = collate(set.examples, rows);
  auto batch = before;
  Random random(1, "mask");
  mask(batch, {.share = 0.15, .vocabulary = tokenizer_.vocabulary_size()}, random);
  int64_t chosen = 0, masked = 0, kept = 0, real = 0;
  for (size_t i = 0; i < batch.source.size(); ++i) {
    real += before.target_out[i] == tokenizer::kPad ? 0 : 1;
    if (batch.target_out[i] == tokenizer::kPad) {
      EXPECT_EQ(batch.source[i], before.source[i]);
      continue;
    }
    EXPECT_EQ(batch.target_out[i], before.target_out[i]);
    ++chosen;
    masked += batch.source[i] == tokenizer::kMask ? 1 : 0;
    kept += batch.source[i] == before.source[i] ? 1 : 0;
  }
  const auto share = [](int64_t part, int64_t of) {
    return static_cast<double>(part) / static_cast<double>(of);
  };
  EXPECT_EQ(batch.tokens, chosen);
  EXPECT_NEAR(share(chosen, real), 0.15, 0.02);
  EXPECT_NEAR(share(masked, chosen), 0.8, 0.05);
  EXPECT_NEAR(share(kept, chosen), 0.1 + 0.1 / 4, 0.04);  // a random piece may be the piece itself
}

TEST_F(Packed, AtLeastOnePieceIsChosen) {
  const auto set = pack_for_masking(std::vector<Example>{{{}, "a"}}, tokenizer_, 4);
  auto batch = collate(set.examples, std::vector<int64_t>{0});
  Random random(1, "mask");
  mask(batch, {.share = 1e-6, .vocabulary = tokenizer_.vocabulary_size()}, random);
  EXPECT_EQ(batch.tokens, 1);
}

class Files : public testing::Test {
 protected:
  Files() {
    std::string pattern = testing::TempDir() + "ablate-XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  ~Files() override { std::filesystem::remove_all(folder_); }
  void write(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name) << text;
  }
  std::string message(const DataOptions& options) {
    try {
      load(options, folder_, 1);
    } catch (const DataError& error) {
      return error.what();
    }
    return "no error";
  }
  std::filesystem::path folder_;
};

TEST_F(Files, RunningTextIsHeldOutAtItsEnd) {
  write("input.txt", "one\n\ntwo\nthree\nfour\n");
  const auto corpus = load(Language{.train = "input.txt", .held_out = 0.3}, folder_, 1);
  ASSERT_EQ(corpus.train.size(), 4U);
  EXPECT_EQ(corpus.train[1].target, "");
  ASSERT_EQ(corpus.validation.size(), 1U);
  EXPECT_EQ(corpus.validation[0].target, "four");
  EXPECT_EQ(corpus.tests.front().examples, corpus.validation);
}

TEST_F(Files, OneLineIsTooLittleToHoldSomeOut) {
  write("input.txt", "one\n");
  EXPECT_EQ(message(Language{.train = "input.txt"}),
            (folder_ / "input.txt").string() +
                " has a single line, too few to hold some out; name a validation file");
}

TEST_F(Files, ClassesAreTheTargetsOfTheirTexts) {
  write("train.tsv", "a film\tgood\nno film\tbad\n");
  write("test.tsv", "film\tgood\n");
  const auto corpus = load(
      Labelled{.train = "train.tsv", .validation = "test.tsv", .test = "test.tsv"}, folder_, 1);
  EXPECT_EQ(corpus.train[1], (Example{"no film", "bad"}));
  const Tokenizers tokenizers{
      train_tokenizers({.kind = tokenizer::Kind::word}, corpus.train).source,
      train_label_tokenizer(corpus.train)};
  const auto encoded = encode_labelled(corpus.train, tokenizers, 10).examples;
  EXPECT_EQ(encoded[0].source.front(), tokenizer::kBos);
  EXPECT_EQ(encoded[0].source.back(), tokenizer::kEos);
  ASSERT_EQ(encoded[0].target.size(), 1U);
  EXPECT_NE(encoded[0].target, encoded[1].target);
  EXPECT_EQ(tokenizers.target.decode(encoded[1].target), "bad");
}

TEST_F(Files, AnUnknownClassIsNamed) {
  write("train.tsv", "a film\tgood\nno film\tbad\n");
  write("test.tsv", "film\tfine\n");
  EXPECT_EQ(message(Labelled{.train = "train.tsv", .validation = "test.tsv", .test = "test.tsv"}),
            "test.tsv: the class 'fine' does not occur in the training file");
  write("train.tsv", "a film\tvery good\n");
  EXPECT_EQ(message(Labelled{.train = "train.tsv", .validation = "test.tsv", .test = "test.tsv"}),
            "train.tsv: the class 'very good' has a space; every line is a text, a tab and a class "
            "of one word");
}

}  // namespace
}  // namespace ablate::data
