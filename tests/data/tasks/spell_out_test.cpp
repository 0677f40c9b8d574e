#include "data/tasks/spell_out.h"

#include <gtest/gtest.h>

#include <fstream>

#include "data/corpus.h"

namespace ablate::data {
namespace {

TEST(SpellOut, WritesNumbersInTheWordsOfALanguage) {
  EXPECT_EQ(SpellOut("en")(402), "four hundred two");
  EXPECT_EQ(SpellOut("de")(402), "vierhundertzwei") << "without soft hyphens";
}

/// golden/spelled_numbers.py has them from num2words, which is not ICU.
TEST(SpellOut, AgreesWithAnotherLibrary) {
  std::ifstream file(std::string(ABLATE_SOURCE) + "/tests/data/tasks/golden/spelled_numbers.tsv");
  const SpellOut english("en"), german("de");
  int rows = 0;
  for (std::string number, in_english, in_german;
       std::getline(file, number, '\t') && std::getline(file, in_english, '\t') &&
       std::getline(file, in_german);
       ++rows) {
    EXPECT_EQ(english(std::stoll(number)), in_english);
    EXPECT_EQ(german(std::stoll(number)), in_german);
  }
  EXPECT_EQ(rows, 50);
}

TEST(SpellOut, RefusesWhatNamesNoLanguageThatIcuSpells) {
  for (const std::string locale : {"", "root", "klingon"}) try {
      SpellOut words(locale);
      FAIL() << locale;
    } catch (const DataError& error) {
      EXPECT_EQ(error.what(), "ICU does not spell out numbers in '" + locale +
                                  "'; use the name of a language such as en, de or fr");
    }
}

}  // namespace
}  // namespace ablate::data
