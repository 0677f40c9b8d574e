#include "tokenizer/bpe_sampler.h"

#include <gtest/gtest.h>
#include <sentencepiece_processor.h>
#include <sentencepiece_trainer.h>

#include <cmath>
#include <map>
#include <protozero/pbf_reader.hpp>
#include <protozero/pbf_writer.hpp>
#include <random>

#include "tokenizer/piece_model.h"
#include "tokenizer/special_tokens.h"

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

/// A model that SentencePiece learned from text() with these settings besides.
std::string foreign(const std::string& settings) {
  const auto lines = text();
  std::string model;
  const auto status = sentencepiece::SentencePieceTrainer::Train(
      "--model_type=bpe --pad_id=0 --bos_id=1 --eos_id=2 --unk_id=3 --hard_vocab_limit=false "
      "--num_threads=1 --minloglevel=3 " +
          settings,
      lines, &model);
  EXPECT_TRUE(status.ok()) << status.ToString();
  return model;
}

/// The model with every second of its merges as another type of piece.
std::string with_merges_as(PieceType type, const std::string& model) {
  const auto tokenizer = Tokenizer::from_bytes(model);
  std::string bytes;
  protozero::pbf_writer changed(bytes);
  int32_t id = 0;
  for (protozero::pbf_reader sections(model); sections.next();) {
    const auto tag = sections.tag();
    if (tag != kPieces) {
      changed.add_bytes(tag, sections.get_view());
      continue;
    }
    auto piece = std::string(sections.get_view());
    protozero::pbf_writer fields(piece);
    const bool merge = id > kUnk && tokenizer.token(id).size() > 3;
    if (merge && id % 2 == 0) fields.add_enum(kPieceType, static_cast<int>(type));
    changed.add_bytes(kPieces, piece);
    ++id;
  }
  return bytes;
}

TEST(BpeSampler, IsSentencePieceWithAModelOfAnyKind) {
  auto lines = text();
  lines.insert(lines.end(),
               {"", " ", "  the   kind ", "naïve café 猫 🐈",
                "<sep>kind@@@words <s> </s> <unk> <pad>", "@the@ @@of@@", "12345 kind",
                "\u200bkind\u200d", "kind\u00a0words", "e\u0301", "<en> kind<de>", "\u2585",
                "\u2581kind \u2581", std::string(200, 'x'), "\xff kind", "<0x41> A", "KIND Words"});
  const std::string users = "--user_defined_symbols=<sep>,@,@@,kind";
  const std::map<std::string, std::string> models{
      {"plain", foreign("--vocab_size=80")},
      {"bytes", foreign("--vocab_size=340 --byte_fallback=true")},
      {"users", foreign("--vocab_size=84 " + users)},
      {"users and bytes", foreign("--vocab_size=340 --byte_fallback=true " + users)},
      {"suffix", foreign("--vocab_size=80 --treat_whitespace_as_suffix=true " + users)},
      {"no prefix", foreign("--vocab_size=80 --add_dummy_prefix=false")},
      {"controls", foreign("--vocab_size=84 --control_symbols=<en>,<de>")},
      {"folded", foreign("--vocab_size=80 --normalization_rule_name=nmt_nfkc_cf")},
      {"digits", foreign("--vocab_size=80 --split_digits=true")},
      {"spaces", foreign("--vocab_size=80 --remove_extra_whitespaces=false")},
      {"identity", foreign("--vocab_size=80 --normalization_rule_name=identity")},
      {"unused", with_merges_as(PieceType::unused, foreign("--vocab_size=80"))},
      {"whole", with_merges_as(PieceType::user_defined, foreign("--vocab_size=80"))}};
  for (const auto& [name, model] : models) {
    sentencepiece::SentencePieceProcessor theirs;
    ASSERT_TRUE(theirs.LoadFromSerializedProto(model).ok()) << name;
    const auto tokenizer = Tokenizer::from_bytes(model);
    const BpeSampler sampler(tokenizer);
    for (const auto& line : lines) {
      EXPECT_EQ(sampler.encode(line, never), theirs.EncodeAsIds(line)) << name << ": " << line;
      EXPECT_EQ(tokenizer.encode(line), theirs.EncodeAsIds(line)) << name << ": " << line;
      EXPECT_EQ(sampler.encode(line, always), theirs.SampleEncodeAsIds(line, -1, 1))
          << name << ": " << line;
    }
  }
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
