#include "data/corpus.h"

#include <gtest/gtest.h>

#include "tokenizer/text/digest.h"

namespace ablate::data {
namespace {

TEST(Corpus, GeneratedDataDependsOnOptionsAndSeedAlone) {
  const auto digest = [](uint64_t seed) { return load(Reverse{}, ".", seed).sha256; };
  EXPECT_EQ(digest(1), digest(1));
  EXPECT_NE(digest(1), digest(2));
}

TEST(Corpus, TheDigestIsOfAllExamplesInTheirOrder) {
  const auto corpus = load(Facts{.symbols = 2, .key = 1}, ".", 1);
  std::string set;
  for (const auto& fact : corpus.train) set += fact.source + "\t" + fact.target + "\n";
  set += "\f";
  EXPECT_EQ(corpus.sha256, tokenizer::sha256(set + set + set));
}

}  // namespace
}  // namespace ablate::data
