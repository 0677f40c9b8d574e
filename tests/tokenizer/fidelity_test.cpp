#include <gtest/gtest.h>

#include "tokenizer/tokenizer.h"

namespace ablate::tokenizer {
namespace {

Tokenizer trained(const TokenizerOptions& options) {
  return Tokenizer::train(options,
                          std::vector<std::string>{"dog tree red", "d\u00e9j\u00e0 vu..."});
}

TEST(NormalForm, IsOneForAllSpellingsThatATokenizerWritesAsOne) {
  const auto tokenizer = trained({.kind = Kind::character});
  const auto form = normal_form(tokenizer, "dog tree");
  for (const char* spelling : {"dog  tree", "dog tree ", " dog tree", "dog\u00a0tree"})
    EXPECT_EQ(normal_form(tokenizer, spelling), form) << spelling;
  EXPECT_EQ(normal_form(tokenizer, "vu\u2026"), normal_form(tokenizer, "vu..."));
  EXPECT_EQ(normal_form(tokenizer, "de\u0301ja\u0300"), normal_form(tokenizer, "d\u00e9j\u00e0"));
  EXPECT_NE(normal_form(tokenizer, "dogtree"), form);
}

TEST(NormalForm, OfBytesIsTheTextItself) {
  const auto tokenizer = trained({.kind = Kind::byte});
  for (const char* text : {"dog  tree ", "de\u0301j\u00e0\u2026"})
    EXPECT_EQ(normal_form(tokenizer, text), text);
}

TEST(Fidelity, TellsWhatIsNormalisedFromWhatIsLost) {
  const auto tokenizer = trained({.kind = Kind::character});
  const auto whole = fidelity(tokenizer, "dog tree");
  EXPECT_FALSE(whole.altered || whole.lost);
  EXPECT_EQ(whole.unknown_tokens, 0);
  const auto spaced = fidelity(tokenizer, "dog  tree");
  EXPECT_TRUE(spaced.altered);
  EXPECT_FALSE(spaced.lost);
  const auto foreign = fidelity(tokenizer, "dog \u732b\u732b");
  EXPECT_TRUE(foreign.altered && foreign.lost);
  EXPECT_EQ(foreign.unknown_tokens, 1) << "a run of unknown characters is one token";
  EXPECT_EQ(foreign.hidden_bytes, 6);
}

TEST(Fidelity, CountsTheBytesOfUnknownWordsWithTheirSpaces) {
  const auto tokenizer = trained({.kind = Kind::word});
  const auto found = fidelity(tokenizer, "dog sees cats tree");
  EXPECT_EQ(found.unknown_tokens, 1);
  EXPECT_EQ(found.hidden_bytes, 10) << "of ' sees cats'";
}

}  // namespace
}  // namespace ablate::tokenizer
