#include "experiments/corpora/split.h"

#include <gtest/gtest.h>

#include <map>
#include <sstream>

namespace ablate::corpora {
namespace {

TEST(Split, ADocumentIsInOnePartWhateverElseThereIs) {
  std::vector<Pair> pairs;
  for (int i = 0; i < 3000; ++i)
    pairs.push_back({"document " + std::to_string(i / 3), std::to_string(i), "x"});
  const auto made = in_two_files(pairs, {"en", "de"}, {.validation = 100, .test = 200});
  std::map<std::string, int> documents;
  for (const auto* part : {"train", "validation", "test"}) {
    std::map<std::string, int> here;
    std::istringstream lines(made.files.at(std::string(part) + ".en"));
    for (int number = 0; lines >> number;) ++here["document " + std::to_string(number / 3)];
    for (const auto& [document, count] : here) {
      EXPECT_EQ(count, 3) << document;
      ++documents[document];
    }
  }
  EXPECT_EQ(documents.size(), 1000U);
  for (const auto& [document, parts] : documents) EXPECT_EQ(parts, 1) << document;
  // Of binomial distributions of 1,000 documents, four standard deviations.
  EXPECT_NEAR(static_cast<double>(made.counts[1].number), 300, 3 * 38);
  EXPECT_NEAR(static_cast<double>(made.counts[2].number), 600, 3 * 51);
}

TEST(Split, IsDrawnFromTheFirstDigitsOfTheSha256) {
  // echo -n a | sha256sum: ca978112, 3398926610 in decimal.
  EXPECT_EQ(part_of("a", {.validation = 0, .test = 611}), Part::test);
  EXPECT_EQ(part_of("a", {.validation = 1, .test = 610}), Part::validation);
  EXPECT_EQ(part_of("a", {.validation = 0, .test = 610}), Part::train);
}

TEST(Split, LinesAreParallel) {
  const auto made = in_two_files({{"a", "one", "eins"}, {"a", "two", "zwei"}}, {"en", "de"},
                                 {.validation = 0, .test = 1000});
  EXPECT_EQ(made.files, (Files{{"test.en", "one\ntwo\n"}, {"test.de", "eins\nzwei\n"}}));
  EXPECT_EQ(in_one_file({{"a", "one", "eins"}}, {.validation = 1000, .test = 0}).files,
            (Files{{"validation.tsv", "one\teins\n"}}));
}

}  // namespace
}  // namespace ablate::corpora
