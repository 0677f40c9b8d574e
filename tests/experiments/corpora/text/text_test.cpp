#include "experiments/corpora/text/text.h"

#include <gtest/gtest.h>

namespace ablate::corpora {
namespace {

using Texts = std::vector<std::string>;

TEST(Text, IsNormalizedToOneFormAndSingleSpaces) {
  EXPECT_EQ(normalized("  a\t\n b  "), "a b");
  EXPECT_EQ(normalized("a\u00A0b"), "a b");
  EXPECT_EQ(normalized("Wort\u00ADgrenze"), "Wortgrenze");
  EXPECT_EQ(normalized("u\u0308ber"), "über");
  EXPECT_EQ(normalized(" \n"), "");
}

TEST(Text, WordsAreWhatStandsBetweenSpaces) {
  EXPECT_EQ(words_of("one two, three."), (Texts{"one", "two,", "three."}));
  EXPECT_EQ(count_words(""), 0U);
}

TEST(Text, ASentenceEndsWhereAnotherBegins) {
  EXPECT_EQ(sentences("It works. Does it? \"Yes!\" 3 times."),
            (Texts{"It works.", "Does it?", "\"Yes!\" 3 times."}));
  EXPECT_EQ(sentences("Es geht. Übrigens: „Ja.“"), (Texts{"Es geht.", "Übrigens: „Ja.“"}));
  EXPECT_EQ(sentences("Files, e.g. those of Debian."), (Texts{"Files, e.g. those of Debian."}));
  EXPECT_EQ(sentences("Note: Yes.", ".:"), (Texts{"Note:", "Yes."}));
  EXPECT_TRUE(sentences("").empty());
}

}  // namespace
}  // namespace ablate::corpora
