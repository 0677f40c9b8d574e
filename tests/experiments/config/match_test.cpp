#include "experiments/config/study/match.h"

#include <gtest/gtest.h>

#include "tests/experiments/config/study_text.h"

namespace ablate::config {
namespace {

TEST(Match, CountsWithTheVocabularyThatAKeyDeclares) {
  const auto declared = [](const std::string& base) {
    const auto study = study_of(kBase + base);
    return declared_vocabulary(study.runs.front().experiment);
  };
  EXPECT_EQ(declared("  tokenizer: {kind: unigram, vocabulary: 2000}\n")->tokens, 2000);
  EXPECT_EQ(declared("  tokenizer: {kind: byte}\n")->tokens, 260);
  EXPECT_EQ(declared("  tokenizer: {kind: byte, mask: true}\n")->tokens, 261);
  EXPECT_FALSE(declared("  tokenizer: {kind: word}\n")) << "the text decides";
  EXPECT_FALSE(declared("  tokenizer: {file: some.model}\n"));
}

}  // namespace
}  // namespace ablate::config
