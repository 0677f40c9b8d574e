#include "experiments/corpora/text/alignment.h"

#include <gtest/gtest.h>

namespace ablate::corpora {
namespace {

Pair pair(const std::string& source, const std::string& target) { return {"page", source, target}; }

std::string times(int count, const std::string& text) {
  std::string all;
  for (int i = 0; i < count; ++i) all += text;
  return all;
}

TEST(Alignment, ParagraphsOfAsManySentencesAreDivided) {
  std::vector<Pair> pairs;
  add_sentences(pairs, pair("One is here. Two follows.", "Eins ist hier. Zwei folgt."));
  EXPECT_EQ(pairs, (std::vector<Pair>{pair("One is here.", "Eins ist hier."),
                                      pair("Two follows.", "Zwei folgt.")}));
}

TEST(Alignment, OthersStayWholeAndEqualOnesAreLeftOut) {
  std::vector<Pair> pairs;
  add_sentences(pairs, pair("One. Two.", "Eins und zwei."));
  add_sentences(pairs, pair("Debian. Is free.", "Debian. Ist frei."));
  add_sentences(pairs, pair("Debian", "Debian"));
  EXPECT_EQ(pairs, (std::vector<Pair>{pair("One. Two.", "Eins und zwei."),
                                      pair("Is free.", "Ist frei.")}));
}

TEST(Alignment, ASentenceAndItsTranslationAreClean) {
  EXPECT_TRUE(is_clean(pair("This is a test.", "Dies ist eine Probe."), german()));
  EXPECT_TRUE(is_clean(pair("This is a test.", "C'est un essai."), french()));
  EXPECT_TRUE(is_clean(pair("This is a test.", "Questa è una prova."), italian()));
}

TEST(Alignment, EachMarkOfABadPairIsEnough) {
  const std::vector<std::pair<std::string, Pair>> bad{
      {"two words", pair("Two words", "Zwei Wörter")},
      {"81 words", pair(times(81, "word "), times(40, "wort "))},
      {"no translation", pair("Three more words", "")},
      {"too short", pair("a sentence of thirty letters.", "elf Zeichen")},
      {"too long", pair("three short words", times(5, "neun Buchstaben "))},
      {"no letters", pair("127 + 45 = 172 okay", "hundert ist eine Zahl")},
      {"no letters in the translation", pair("a hundred is a number", "100 = 4 * 25 oder ja")},
      {"English twice", pair("Press the key to continue now.", "Press any key to end the work.")},
      {"copied",
       pair("Firefox Thunderbird Chromium browser", "Firefox Thunderbird Chromium Werkzeug")}};
  for (const auto& [why, one] : bad) EXPECT_FALSE(is_clean(one, german())) << why;
}

TEST(Alignment, TheFirstOfEverySourceIsKept) {
  const auto language = german();
  CleanPairs clean(language);
  const auto first = pair("This is a test.", "Dies ist eine Probe.");
  EXPECT_EQ(clean.add({first, pair("this IS a test.", "Das ist ein Test."),
                       pair("Too short", "Zu kurz")}),
            1);
  EXPECT_EQ(clean.add({first, pair("This is another test.", "Das ist noch eine Probe.")}), 1);
  ASSERT_EQ(clean.pairs().size(), 2U);
  EXPECT_EQ(clean.pairs()[0], first);
}

}  // namespace
}  // namespace ablate::corpora
