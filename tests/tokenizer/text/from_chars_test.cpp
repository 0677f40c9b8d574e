#include "tokenizer/text/from_chars.h"

#include <gtest/gtest.h>

#include <charconv>
#include <clocale>
#include <cmath>
#include <string>
#include <vector>

namespace ablate::tokenizer {
namespace {

const std::vector<std::string> kTexts = {"",         "0",
                                         "-0",       "1",
                                         "1.5",      "-2.25",
                                         ".5",       "5.",
                                         "1e3",      "1E-3",
                                         "1e",       "1e+",
                                         "1e400",    "-1e400",
                                         "1e-400",   "4e-320",
                                         "+1",       " 1",
                                         "1 ",       "\t1",
                                         "- 1",      "-+1",
                                         "0x10",     "-0x10",
                                         "0x",       "x",
                                         "1x",       "abc",
                                         "1,5",      "1.5.5",
                                         "inf",      "-inf",
                                         "INF",      "infinity",
                                         "nan",      "-nan",
                                         "infin",    "i",
                                         "n",        "--1",
                                         "0.1",      "1e38",
                                         "3.5e38",   "1e-46",
                                         "16777217", "9007199254740993",
                                         "0e5",      "00012",
                                         "1_000",    "e5"};

template <class Number>
void expect_what_the_library_gives() {
  for (const auto& text : kTexts) {
    Number expected = 7, found = 7;
    const char* end = text.data() + text.size();
    const auto theirs = std::from_chars(text.data(), end, expected);
    const auto ours = floating_from_chars(text.data(), end, found);
    EXPECT_EQ(ours.ptr - text.data(), theirs.ptr - text.data()) << text;
    EXPECT_EQ(ours.ec, theirs.ec) << text;
    if (std::isnan(expected))
      EXPECT_TRUE(std::isnan(found)) << text;
    else
      EXPECT_EQ(found, expected) << text;
    EXPECT_EQ(std::signbit(found), std::signbit(expected)) << text;
  }
}

#ifdef __cpp_lib_to_chars
TEST(FromChars, ReadsFloatingPointNumbersAsTheStandardLibraryDoes) {
  expect_what_the_library_gives<double>();
  expect_what_the_library_gives<float>();
}
#endif

TEST(FromChars, ReadsNumbersOfEveryKind) {
  int integer = 0;
  EXPECT_EQ(from_chars("12 ", integer).ec, std::errc());
  EXPECT_EQ(integer, 12);
  double number = 0;
  const std::string_view text = "0.1";
  EXPECT_EQ(from_chars(text, number).ptr, text.data() + text.size());
  EXPECT_EQ(number, 0.1);
}

}  // namespace
}  // namespace ablate::tokenizer
