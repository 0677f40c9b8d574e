#include "experiments/corpora/recipes/recipes.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "experiments/corpora/recipes/cmudict.h"
#include "experiments/corpora/recipes/debian.h"

namespace ablate::corpora {
namespace {

TEST(Recipes, HaveNamesLicencesAndPinnedSources) {
  std::set<std::string> names;
  for (const auto& recipe : recipes()) {
    EXPECT_TRUE(names.insert(recipe.name).second) << recipe.name;
    EXPECT_TRUE(recipe.licence.ends_with('.')) << recipe.name;
    EXPECT_TRUE(recipe.comparable.ends_with('.')) << recipe.name;
    EXPECT_EQ(recipe.sha256.size(), 64U) << recipe.name;
    ASSERT_FALSE(recipe.roots.empty());
    for (const auto& root : recipe.roots) EXPECT_TRUE(root.starts_with("https://")) << root;
    std::set<std::string> files;
    for (const auto& source : recipe.sources) {
      EXPECT_TRUE(files.insert(source.file_name()).second) << source.path;
      EXPECT_GT(source.bytes, 0U) << source.path;
      EXPECT_EQ(source.sha256.size(), 64U) << source.path;
      EXPECT_EQ(source.sha256.find_first_not_of("0123456789abcdef"), std::string::npos);
    }
  }
}

TEST(Cmudict, AWordIsItsLettersAndTheFirstOfItsPronunciations) {
  EXPECT_EQ(
      pronunciations("'em AH0 M\n"
                     "aalborg AO1 L B AO0 R G # place, danish\n"
                     "aalborg(2) AA1 L\n"
                     "a.m. EY2 EH1 M\n"
                     "3d TH R IY1\n"),
      (std::vector<Pair>{{"'em", "' e m", "AH M"}, {"aalborg", "a a l b o r g", "AO L B AO R G"}}));
}

Description description(const std::string& package, const std::string& title,
                        const std::vector<std::string>& paragraphs) {
  return {.package = package, .digest = title, .title = title, .paragraphs = paragraphs};
}

std::string words(int count, const std::string& word = "word") {
  std::string text = word;
  for (int i = 1; i < count; ++i) text += " " + word;
  return text;
}

TEST(DebianTitles, AreOfTextsOfUsualLengthAndBySourcePackage) {
  const Packages packages{{"libfoo1", {"foo", "libs"}}};
  const auto found = titles({description("libfoo1", "a fine library", {words(8), words(7)}),
                             description("bar", "a fine bar", {words(200, "long")}),
                             description("same", "the same text", {words(15)}),
                             description("short", "a short text", {words(14)}),
                             description("endless", "an endless text", {words(201)}),
                             description("terse", "two words", {words(16)}),
                             description("librust-x-dev", "a rust crate", {words(20)})},
                            packages);
  EXPECT_EQ(found, (std::vector<Pair>{{"foo", words(15), "a fine library"},
                                      {"bar", words(200, "long"), "a fine bar"}}));
}

TEST(DebianSections, AreOfTitlesAndTheBeginningOfTexts) {
  const Packages packages{{"libfoo1", {"foo", "libs"}}, {"foo-tools", {"foo", "admin"}}};
  const auto found = sections({description("libfoo1", "a library", {words(100)}),
                               description("foo-tools", "some tools", {"They help."}),
                               description("gone", "not in the index", {"It is gone."})},
                              packages);
  EXPECT_EQ(found, (std::vector<Pair>{{"foo", "a library. " + words(58), "libs"},
                                      {"foo", "some tools. They help.", "admin"}}));
}

TEST(DebianTranslations, AreFoundByTheDigestOfTheEnglishText) {
  const auto found =
      translated({description("foo", "a tool", {"It helps. It works.", "More: text."})},
                 {{.package = "foo",
                   .digest = "a tool",
                   .title = "ein Werkzeug",
                   .paragraphs = {"Es hilft. Es geht.", "Mehr: Text."}},
                  {.package = "bar", .digest = "other", .title = "anderes"}},
                 {{"foo", {"foo-source", "utils"}}});
  EXPECT_EQ(found, (std::vector<Pair>{{"package/foo-source", "a tool", "ein Werkzeug"},
                                      {"package/foo-source", "It helps.", "Es hilft."},
                                      {"package/foo-source", "It works.", "Es geht."},
                                      {"package/foo-source", "More: text.", "Mehr: Text."}}));
}

TEST(DebianTranslations, OfOtherParagraphsHaveTitlesAlone) {
  const auto found =
      translated({description("foo", "a tool", {"It helps.", "It works."})},
                 {{.digest = "a tool", .title = "ein Werkzeug", .paragraphs = {"Es."}}}, {});
  EXPECT_EQ(found, (std::vector<Pair>{{"package/foo", "a tool", "ein Werkzeug"}}));
}

}  // namespace
}  // namespace ablate::corpora
