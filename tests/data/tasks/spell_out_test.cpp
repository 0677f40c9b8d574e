#include <gtest/gtest.h>

#include <fstream>

#include "data/tasks/digit_tasks.h"

namespace ablate::data {
namespace {

TEST(SpellOut, WritesNumbersInTheWordsOfALanguage) {
  EXPECT_EQ(spell_out(402, NumberLanguage::en), "four hundred two");
  EXPECT_EQ(spell_out(402, NumberLanguage::de), "vierhundertzwei");
}

/// golden/spelled_numbers.py has them from num2words.
TEST(SpellOut, AgreesWithAnotherLibrary) {
  std::ifstream file(std::string(ABLATE_SOURCE) + "/tests/data/tasks/golden/spelled_numbers.tsv");
  int rows = 0;
  for (std::string number, in_english, in_german;
       std::getline(file, number, '\t') && std::getline(file, in_english, '\t') &&
       std::getline(file, in_german);
       ++rows) {
    EXPECT_EQ(spell_out(std::stoll(number), NumberLanguage::en), in_english);
    EXPECT_EQ(spell_out(std::stoll(number), NumberLanguage::de), in_german);
  }
  EXPECT_EQ(rows, 50);
}

/// As ICU 72 spells them.
TEST(SpellOut, LargeNumbersAreSpelledToo) {
  const auto expect = [](int64_t number, const char* english, const char* german) {
    EXPECT_EQ(spell_out(number, NumberLanguage::en), english);
    EXPECT_EQ(spell_out(number, NumberLanguage::de), german);
  };
  expect(1'000'001, "one million one", "eine Million eins");
  expect(21'001'101, "twenty-one million one thousand one hundred one",
         "einundzwanzig Millionen eintausendeinhunderteins");
  expect(101'000'000, "one hundred one million", "einhunderteine Millionen");
  expect(1'002'000'000'000, "one trillion two billion", "eine Billion zwei Milliarden");
  expect(999'999'999'999'999,
         "nine hundred ninety-nine trillion nine hundred ninety-nine billion nine hundred "
         "ninety-nine million nine hundred ninety-nine thousand nine hundred ninety-nine",
         "neunhundertneunundneunzig Billionen neunhundertneunundneunzig Milliarden "
         "neunhundertneunundneunzig Millionen "
         "neunhundertneunundneunzigtausendneunhundertneunundneunzig");
}

}  // namespace
}  // namespace ablate::data
