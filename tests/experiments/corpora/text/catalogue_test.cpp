#include "experiments/corpora/text/catalogue.h"

#include <gtest/gtest.h>

#include "data/corpus.h"

namespace ablate::corpora {
namespace {

std::string number(uint32_t value) {
  std::string bytes;
  for (int i = 0; i < 4; ++i) bytes += static_cast<char>(value >> (8 * i) & 0xFFU);
  return bytes;
}

/// A catalogue as msgfmt writes it.
std::string catalogue(const std::vector<std::pair<std::string, std::string>>& messages) {
  const auto count = static_cast<uint32_t>(messages.size());
  std::string tables, texts;
  const auto add = [&](const std::string& text) {
    tables += number(static_cast<uint32_t>(text.size())) +
              number(28 + 16 * count + static_cast<uint32_t>(texts.size()));
    texts += text + '\0';
  };
  for (const auto& [source, target] : messages) add(source);
  for (const auto& [source, target] : messages) add(target);
  return number(0x950412de) + number(0) + number(count) + number(28) + number(28 + 8 * count) +
         number(0) + number(0) + tables + texts;
}

TEST(Catalogue, HoldsMessagesAndTheirTranslations) {
  using namespace std::string_literals;
  const auto found = messages_in("cui", catalogue({{"", "header"},
                                                   {"menu\4~Save file", "Datei ~speichern"},
                                                   {"a_b key\0keys"s, "Taste\0Tasten"s},
                                                   {"Same", "Same"},
                                                   {"Untranslated", ""}}));
  EXPECT_EQ(found, (std::vector<Pair>{{"cui/Save file", "Save file", "Datei speichern"},
                                      {"cui/ab key", "ab key", "Taste"}}));
}

TEST(Catalogue, ThatIsDamagedIsRefused) {
  const auto whole = catalogue({{"One", "Eins"}});
  EXPECT_NO_THROW(messages_in("cui", whole));
  EXPECT_THROW(messages_in("cui", whole.substr(0, whole.size() - 6)), data::DataError);
  EXPECT_THROW(messages_in("cui", whole.substr(0, 20)), data::DataError);
  EXPECT_THROW(messages_in("cui", "no catalogue"), data::DataError);
  EXPECT_THROW(messages_in("cui", ""), data::DataError);
}

TEST(Dictionary, EachFormIsAPair) {
  const auto found = dictionary_entries(
      "# Ding\n"
      "Haus {n}; Heim {n} | Häuser :: house; home [Br.] | houses (many)\n"
      "eins | zwei :: one\n"
      "Taxi :: Taxi\n");
  ASSERT_EQ(found.size(), 2U);
  EXPECT_EQ(found[0].source, "house");
  EXPECT_EQ(found[0].target, "Haus");
  EXPECT_EQ(found[1].source, "houses");
  EXPECT_EQ(found[1].target, "Häuser");
  EXPECT_EQ(found[0].document, found[1].document);
}

}  // namespace
}  // namespace ablate::corpora
