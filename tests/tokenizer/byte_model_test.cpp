#include <gtest/gtest.h>

#include <numeric>

#include "tokenizer/model_trainer.h"
#include "tokenizer/special_tokens.h"
#include "tokenizer/tokenizer.h"

namespace ablate::tokenizer {
namespace {

using Ids = std::vector<int32_t>;

const std::string kReplacement = "\xef\xbf\xbd";

Tokenizer bytes(bool mask = false) {
  return Tokenizer::train({.kind = Kind::byte, .mask = mask}, std::vector<std::string>{});
}

TEST(ByteModel, WritesEveryTextByItsBytesAndReadsItBack) {
  const auto model = bytes();
  EXPECT_EQ(model.vocabulary_size(), 4 + 256);
  const std::vector<std::string> texts{"",
                                       "a",
                                       "  two  spaces ",
                                       "tab\tand \x01 control",
                                       "na\xc3\xafve \xe2\x98\x83 \xf4\x8f\xbf\xbf",
                                       "\xe2\x96\x81SentencePiece's own mark",
                                       "ﬁ is not fi, <s> is no token, <0x41> no byte"};
  for (const auto& text : texts) {
    Ids expected;
    for (const char byte : text) expected.push_back(4 + static_cast<unsigned char>(byte));
    EXPECT_EQ(model.encode(text), expected) << text;
    EXPECT_EQ(model.decode(expected), text);
  }
}

TEST(ByteModel, WhatIsNoUtf8IsReadAsTheReplacementCharacter) {
  const auto model = bytes();
  EXPECT_EQ(model.decode(Ids{4 + 0xff, 4 + 'a'}), kReplacement + "a");
  EXPECT_EQ(model.decode(Ids{4 + 0xc3, 4 + 'a'}), kReplacement + "a");
  EXPECT_EQ(model.decode(Ids{4 + 'a', 4 + 0xc3}), "a" + kReplacement);
  EXPECT_EQ(model.decode(Ids{kBos, 4 + 'a', kPad, 4 + 'b', kEos}), "ab");
}

TEST(ByteModel, AMaskTokenStandsBeforeTheBytes) {
  const auto model = bytes(/*mask=*/true);
  EXPECT_EQ(model.token(kMask), kMaskToken);
  EXPECT_EQ(model.vocabulary_size(), 5 + 256);
  EXPECT_EQ(model.encode("A"), Ids{5 + 'A'});
}

TEST(ByteModel, IsTheSameForEveryText) {
  const auto other =
      Tokenizer::train({.kind = Kind::byte}, std::vector<std::string>{"some", "text"});
  EXPECT_EQ(bytes().sha256(), other.sha256());
  EXPECT_EQ(Tokenizer::from_bytes(byte_model(false)).sha256(), other.sha256());
  EXPECT_NE(bytes(/*mask=*/true).sha256(), other.sha256());
}

}  // namespace
}  // namespace ablate::tokenizer
