#include "tokenizer/text/unicode.h"

#include <gtest/gtest.h>
#include <utf8proc.h>

namespace ablate::tokenizer {
namespace {

using namespace std::string_view_literals;

TEST(Utf8, AcceptsExactlyWellFormedText) {
  for (const char* good : {"", "a", "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x99\x82",
                           "\xf4\x8f\xbf\xbf", "\xef\xbf\xbd"})
    EXPECT_TRUE(valid_utf8(good)) << good;
  for (const char* bad : {"\x80", "\xc3", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80",
                          "\xf4\x90\x80\x80", "\xf8\x88\x80\x80\x80", "a\xff"})
    EXPECT_FALSE(valid_utf8(bad)) << bad;
}

TEST(Utf8, EveryCodePointComesBack) {
  for (char32_t point = 0; point < 0x110000; ++point) {
    if (point >= 0xd800 && point < 0xe000) continue;
    std::string text;
    append_utf8(text, point);
    ASSERT_EQ(code_points(text), std::u32string(1, point));
  }
}

/// Unicode 15, table 3-11.
TEST(Utf8, MalformedTextHasAReplacementForEachMaximalPart) {
  EXPECT_EQ(code_points("a\xf1\x80\x80\xe1\x80\xc2"
                        "b\x80"
                        "c\x80\xbf"
                        "d"),
            U"a\ufffd\ufffd\ufffdb\ufffdc\ufffd\ufffdd");
  EXPECT_EQ(code_points("\xc0\xaf\xe0\x80\xbf\xf0\x81\x82"
                        "A"),
            std::u32string(8, U'\ufffd') + U'A');
}

TEST(LowerCase, ASigmaIsFinalAtTheEndOfAWordAlone) {
  EXPECT_EQ(lower_case("ΟΔΥΣΣΕΥΣ ΣΟΦΟΣ."), "οδυσσευς σοφος.");
  EXPECT_EQ(lower_case("Σ"), "σ") << "no letter before it";
  EXPECT_EQ(lower_case("Α.Σ'Α ΑΣ'"), "α.σ'α ας'") << "points and apostrophes do not count";
  EXPECT_EQ(lower_characters("ΟΣ"), "οσ") << "a character by itself has no place in a word";
}

TEST(LowerCase, ACapitalIWithADotKeepsTheDot) { EXPECT_EQ(lower_case("İ"), "i\u0307"); }

TEST(Composed, LettersAndTheirMarksAreOneCharacter) {
  const auto composed = [](std::string_view text) { return in_normal_form(text, NormalForm::c); };
  EXPECT_EQ(composed("u\u0308 \u1100\u1161 \u212b"), "ü \uac00 Å");
  EXPECT_EQ(composed("ﬁ \u00ad"), "ﬁ \u00ad") << "what is only compatible stays";
  EXPECT_EQ(composed("a\xff"), "a\ufffd");
}

/// Counts of the tables of Unicode 15.0; 15.1 has 622 more ideographs.
TEST(Unicode, ClassesHaveTheStandardsSizes) {
  int spaces = 0, digits = 0, letters = 0, controls = 0, ignorable = 0;
  for (char32_t point = 0; point < 0x110000; ++point) {
    spaces += is_white_space(point) ? 1 : 0;
    digits += is_digit(point) ? 1 : 0;
    letters += is_letter(point) ? 1 : 0;
    controls += is_control(point) ? 1 : 0;
    ignorable += is_default_ignorable(point) ? 1 : 0;
  }
  EXPECT_EQ(spaces, 25);
  EXPECT_EQ(digits, 680);
  const bool newer = std::string_view(utf8proc_unicode_version()) == "15.1.0";
  EXPECT_EQ(letters, newer ? 136'726 : 136'104);
  EXPECT_EQ(controls, 65);
  EXPECT_EQ(ignorable, 4'174);
}

TEST(Unicode, WordsHaveMarksDigitsAndJoiners) {
  for (const char32_t part : U"aé_9\u0301\u200dⓐⅣ\u203f"sv)
    EXPECT_TRUE(is_word_part(part)) << static_cast<unsigned>(part);
  for (const char32_t other : U" -'&~.€\u00ad½"sv)
    EXPECT_FALSE(is_word_part(other)) << static_cast<unsigned>(other);
}

TEST(NormalForms, DifferAsTheStandardSays) {
  const auto* const text = "\u00e9\ufb01";  // an e with an accent, and the ligature fi
  EXPECT_EQ(in_normal_form(text, NormalForm::c), text);
  EXPECT_EQ(in_normal_form(text, NormalForm::d), "e\u0301\ufb01");
  EXPECT_EQ(in_normal_form(text, NormalForm::kc), "\u00e9fi");
  EXPECT_EQ(in_normal_form(text, NormalForm::kd), "e\u0301fi");
}

TEST(Graphemes, EndWhereTheStandardSays) {
  EXPECT_EQ(grapheme_ends(""), std::vector<size_t>{});
  EXPECT_EQ(grapheme_ends("ae\u0301\r\nb"), (std::vector<size_t>{1, 4, 6, 7}));
  EXPECT_EQ(grapheme_ends("\U0001f469\u200d\U0001f467"), std::vector<size_t>{11});
}

TEST(Characters, AreVisitedWithTheirPlaces) {
  std::string seen;
  for_each_character("a\u00e4\xff", [&](char32_t point, size_t begin, size_t end) {
    seen += std::to_string(point) + "@" + std::to_string(begin) + "-" + std::to_string(end) + " ";
  });
  EXPECT_EQ(seen, "97@0-1 228@1-3 65533@3-4 ");
}

}  // namespace
}  // namespace ablate::tokenizer
