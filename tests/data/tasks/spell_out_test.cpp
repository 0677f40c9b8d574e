#include "data/tasks/spell_out.h"

#include <gtest/gtest.h>

#include "data/corpus.h"

namespace ablate::data {
namespace {

TEST(SpellOut, WritesNumbersInTheWordsOfALanguage) {
  EXPECT_EQ(SpellOut("en")(402), "four hundred two");
  EXPECT_EQ(SpellOut("de")(402), "vierhundertzwei") << "without soft hyphens";
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
