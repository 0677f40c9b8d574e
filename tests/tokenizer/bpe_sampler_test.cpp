#include "tokenizer/bpe_sampler.h"

#include <gtest/gtest.h>
#include <sentencepiece_processor.h>

#include <cmath>
#include <random>

#include "tokenizer/special_ids.h"

namespace ablate::tokenizer {
namespace {

std::vector<std::string> text() {
  return {"the unhappiest of the unhappy", "happier and happiest", "a kinder, gentler kindness",
          "kind and unkind words", "the gentlest word of all words"};
}

Tokenizer bpe() { return Tokenizer::train({.kind = Kind::bpe, .vocabulary = 80}, text()); }

const auto never = [] { return false; };
const auto always = [] { return true; };

TEST(BpeSampler, WithoutDroppingWritesWhatTheTokenizerWrites) {
  const auto model = bpe();
  const BpeSampler sampler(model);
  auto lines = text();
  lines.insert(lines.end(), {"", " ", "unkindest  words ", "xyz\xe2\x98\x83\xe2\x98\x83 kind",
                             "<s> and </s>", "\xef\xac\x81 word", "\xe2\x96\x81the"});
  for (const auto& line : lines) EXPECT_EQ(sampler.encode(line, never), model.encode(line)) << line;
}

TEST(BpeSampler, WhereEveryMergeIsDroppedWritesCharacters) {
  const auto model = bpe();
  const auto ids = BpeSampler(model).encode("unkind", always);
  EXPECT_EQ(ids.size(), 7U);  // with the space in front
  for (const int32_t id : ids) EXPECT_NE(id, kUnk);
  EXPECT_EQ(model.decode(ids), "unkind");
}

TEST(BpeSampler, WhateverItDropsTheTextStaysTheSame) {
  const auto model = bpe();
  const BpeSampler sampler(model);
  std::mt19937 random(1);
  for (int i = 0; i < 200; ++i) {
    const std::string line = text()[static_cast<size_t>(i) % text().size()];
    EXPECT_EQ(model.decode(sampler.encode(line, [&] { return random() % 3 == 0; })), line);
  }
}

TEST(BpeSampler, DropsAsOftenAsSentencePiece) {
  constexpr int kDraws = 4000;
  const auto model = bpe();
  const BpeSampler sampler(model);
  sentencepiece::SetRandomGeneratorSeed(1);
  sentencepiece::SentencePieceProcessor theirs;
  ASSERT_TRUE(theirs.LoadFromSerializedProto(model.bytes()).ok());
  std::mt19937 random(1);
  std::uniform_real_distribution<double> uniform;
  double sum = 0, squares = 0, expected = 0;
  for (int i = 0; i < kDraws; ++i) {
    const std::string line = text()[0];
    const auto size =
        static_cast<double>(sampler.encode(line, [&] { return uniform(random) < 0.3; }).size());
    sum += size;
    squares += size * size;
    expected += static_cast<double>(theirs.SampleEncodeAsIds(line, -1, 0.3F).size());
  }
  const double mean = sum / kDraws, deviation = std::sqrt(squares / kDraws - mean * mean);
  EXPECT_GT(mean, static_cast<double>(model.encode(text()[0]).size()));
  EXPECT_NEAR(mean, expected / kDraws, 5 * deviation * std::sqrt(2.0 / kDraws));
}

TEST(BpeSampler, RefusesATokenizerWithoutMerges) {
  for (const auto kind : {Kind::unigram, Kind::character, Kind::word, Kind::byte})
    EXPECT_THROW(BpeSampler(Tokenizer::train({.kind = kind}, text())), TokenizerError);
}

}  // namespace
}  // namespace ablate::tokenizer
