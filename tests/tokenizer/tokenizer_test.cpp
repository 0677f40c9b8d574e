#include "tokenizer/tokenizer.h"

#include <gtest/gtest.h>
#include <sentencepiece_processor.h>

#include <filesystem>
#include <fstream>
#include <random>

#include "tests/says.h"
#include "tokenizer/special_tokens.h"

namespace ablate::tokenizer {
namespace {

std::vector<std::string> lines() {
  return {"the cat sat on the mat", "the dog sat on the log", "a cat and a dog",
          "the mat and the log"};
}

Tokenizer trained(Kind kind, std::optional<int64_t> vocabulary = {}) {
  return Tokenizer::train({.kind = kind, .vocabulary = vocabulary}, lines());
}

TEST(Tokenizer, EveryKindDecodesWhatItEncodes) {
  for (const auto kind : {Kind::bpe, Kind::unigram, Kind::character, Kind::word, Kind::byte}) {
    const auto model = trained(kind);
    for (const auto& line : lines()) EXPECT_EQ(model.decode(model.encode(line)), line);
  }
}

TEST(Tokenizer, OfCharactersWithExactSpacesKeepsEveryCharacter) {
  const std::string line = "  ab  c ";
  const auto model = Tokenizer::train(
      {.kind = Kind::character, .normalization = Normalization::identity, .spaces = Spaces::exact},
      std::vector<std::string>{line});
  EXPECT_EQ(model.encode(line).size(), line.size());
  EXPECT_EQ(model.decode(model.encode(line)), line);
}

TEST(Tokenizer, SpecialIdsAreWhereTheyBelong) {
  const auto model = trained(Kind::bpe);
  const auto ids = model.encode("the cat \xe2\x98\x83");
  EXPECT_EQ(std::count(ids.begin(), ids.end(), kUnk), 1);
  for (const int32_t id : ids) EXPECT_GE(id, kUnk);
  EXPECT_EQ(model.decode(std::vector<int32_t>{kBos, kPad, kEos, kPad}), "");
}

TEST(Tokenizer, TextThatSpellsASpecialTokenIsNotThatToken) {
  const auto words = Tokenizer::train({.kind = Kind::word, .spaces = Spaces::exact, .mask = true},
                                      std::vector<std::string>{"a b"});
  const auto known = words.encode(" b");
  ASSERT_EQ(known.size(), 1U);
  for (const std::string name : {"<pad>", "<s>", "</s>", "<unk>", "<mask>"}) {
    EXPECT_EQ(words.encode(name + " b"), (std::vector<int32_t>{kUnk, known[0]})) << name;
    for (const auto kind : {Kind::bpe, Kind::unigram, Kind::character, Kind::word, Kind::byte})
      for (const int32_t id : trained(kind).encode(name)) EXPECT_GE(id, kUnk) << name;
  }
  EXPECT_EQ(words.token(kBos), "<s>");
  EXPECT_EQ(words.token(kMask), "<mask>");
}

TEST(Tokenizer, TextThatSpellsASpecialTokenIsLearnedAsAnyOther) {
  const std::vector<std::string> text{"<s> a </s> b<pad>", "the <unk> <mask> of x<s>y"};
  for (const auto kind : {Kind::bpe, Kind::unigram, Kind::character, Kind::word}) {
    for (const auto spaces : {Spaces::tidy, Spaces::exact}) {
      const auto model = Tokenizer::train({.kind = kind, .spaces = spaces, .mask = true}, text);
      for (const auto& line : text) EXPECT_EQ(model.decode(model.encode(line)), line);
      sentencepiece::SentencePieceProcessor plain;
      ASSERT_TRUE(plain.LoadFromSerializedProto(model.bytes()).ok());
      EXPECT_EQ(plain.pad_id(), kPad);
      EXPECT_EQ(plain.bos_id(), kBos);
      EXPECT_EQ(plain.eos_id(), kEos);
      EXPECT_EQ(plain.unk_id(), kUnk);
      EXPECT_EQ(plain.IdToPiece(kMask), kMaskToken);
    }
  }
}

TEST(Tokenizer, AWordModelHasOnePieceForEveryWord) {
  const auto model = trained(Kind::word);
  EXPECT_EQ(model.vocabulary_size(), 4 + 9);  // the cat sat on mat dog log a and
  EXPECT_EQ(model.encode("the cat sat").size(), 3U);
}

TEST(Tokenizer, TheSameLinesGiveTheSameModel) {
  EXPECT_EQ(trained(Kind::bpe).sha256(), trained(Kind::bpe).sha256());
  EXPECT_NE(trained(Kind::bpe).sha256(), trained(Kind::character).sha256());
}

TEST(Tokenizer, ALimitKeepsTheLeftPart) {
  const auto model = trained(Kind::word);
  const auto whole = model.encode("the cat sat on the mat");
  const auto cut = model.encode("the cat sat on the mat", 4);
  EXPECT_TRUE(cut.cut);
  EXPECT_EQ(cut.ids, std::vector<int32_t>(whole.begin(), whole.begin() + 4));
  EXPECT_FALSE(model.encode("the cat sat on the mat", 6).cut);
}

TEST(Tokenizer, AnyLineIsEncoded) {
  const auto model = trained(Kind::bpe);
  for (const std::string& line :
       {std::string(), std::string("\0a\0", 3), std::string("\xff\xfe"), std::string(100'000, 'x'),
        std::string("\xe2\x96\x81\xe2\x96\x81"), std::string("a\tb\r"), std::string(" \n ")})
    model.decode(model.encode(line));
}

TEST(Tokenizer, ALoadedModelTakesTheRoomOfItsFile) {
  const auto model = trained(Kind::word);
  const auto file = std::filesystem::path(testing::TempDir()) / "room.model";
  std::ofstream(file, std::ios::binary) << model.bytes();
  const auto loaded = Tokenizer::load(file);
  EXPECT_EQ(loaded.bytes(), model.bytes());
  EXPECT_LE(loaded.bytes().capacity(), 2 * std::max<size_t>(model.bytes().size(), 65'536));
  std::filesystem::remove(file);
}

TEST(Tokenizer, NothingCanBeLearnedFromNothing) {
  EXPECT_THROW(Tokenizer::train({}, std::vector<std::string>{}), TokenizerError);
  EXPECT_THROW(Tokenizer::train({}, std::vector<std::string>{"", ""}), TokenizerError);
}

TEST(PieceModel, ADamagedModelIsRefusedOrHarmless) {
  const auto bytes = trained(Kind::bpe).bytes();
  std::mt19937 random(3);
  int refused = 0;
  for (int trial = 0; trial < 3000; ++trial) {
    auto damaged = bytes;
    if (trial % 3 == 0) damaged.resize(random() % damaged.size());
    for (uint32_t i = 0; i <= random() % 4 && !damaged.empty(); ++i)
      damaged[random() % damaged.size()] = static_cast<char>(random());
    try {
      const auto model = Tokenizer::from_bytes(damaged);
      model.decode(model.encode("the cat \xe2\x98\x83 sat"));
    } catch (const TokenizerError&) {
      ++refused;
    }
  }
  EXPECT_GT(refused, 1500);
}

std::string message_of(const std::string& bytes) {
  return refusal_of<TokenizerError>([&] { read_piece_model(bytes); }, "accepted");
}

/// A protobuf field of type "bytes".
std::string field(int number, const std::string& bytes) {
  std::string out(1, static_cast<char>(number << 3 | 2));
  for (size_t size = bytes.size();; size >>= 7U) {
    out += static_cast<char>((size & 0x7fU) | (size > 0x7fU ? 0x80U : 0U));
    if (size <= 0x7fU) break;
  }
  return out + bytes;
}

TEST(PieceModel, ReasonsAreNamed) {
  EXPECT_EQ(message_of(""), "not a usable tokenizer model: the file is empty");
  EXPECT_EQ(message_of("hello world"),
            "not a usable tokenizer model: the file is cut off or no SentencePiece model");
  EXPECT_EQ(message_of(field(1, field(1, "<unk>"))),
            "not a usable tokenizer model: it has 0 pieces for unknown text instead of one");
  const auto model = trained(Kind::bpe).bytes();
  EXPECT_EQ(message_of(model), "accepted");
  EXPECT_TRUE(says(message_of(model + field(1, field(1, std::string(1 << 20U, 'x')))),
                   "has 1048576 bytes; the limit is 4096"));
  EXPECT_TRUE(says(message_of(model + field(3, field(2, "\x04\x05\x06\x07 crafted trie"))),
                   "normalisation table is damaged"));
  // A trie of one unit whose children would stand far behind it.
  const std::string outside(
      "\x04\0\0\0\0\xfc\xff\xff"
      "a\0",
      10);
  EXPECT_TRUE(
      says(message_of(model + field(3, field(2, outside))), "normalisation table is damaged"));
}

}  // namespace
}  // namespace ablate::tokenizer
