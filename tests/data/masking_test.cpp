#include "data/masking.h"

#include <gtest/gtest.h>

#include "data/corpus.h"
#include "tokenizer/special_ids.h"

namespace ablate::data {
namespace {

constexpr int64_t kVocabulary = 9;  // the five special tokens and four ordinary ones

/// A batch of one row that predicts `tokens` ordinary tokens behind the start token.
Batch unmasked(int64_t tokens) {
  EncodedExample one{.target = {kStartToken}, .prompt_length = 1};
  for (int64_t i = 0; i < tokens; ++i)
    one.target.push_back(static_cast<int32_t>(tokenizer::kMask + 1 + i % 4));
  one.source = one.target;
  return collate(std::vector{one}, std::vector<int64_t>{0});
}

TEST(Mask, ShowsTheMaskForMostOfTheChosenTokens) {
  const auto before = unmasked(6400);
  auto batch = before;
  Random random(1, "mask");
  mask(batch, {.share = 0.15, .vocabulary = kVocabulary}, random);
  int64_t chosen = 0, masked = 0, kept = 0, real = 0;
  for (size_t i = 0; i < batch.source.size(); ++i) {
    real += before.target_out[i] == tokenizer::kPad ? 0 : 1;
    if (batch.target_out[i] == tokenizer::kPad) {
      EXPECT_EQ(batch.source[i], before.source[i]);
      continue;
    }
    EXPECT_EQ(batch.target_out[i], before.target_out[i]);
    ++chosen;
    masked += batch.source[i] == tokenizer::kMask ? 1 : 0;
    kept += batch.source[i] == before.source[i] ? 1 : 0;
  }
  const auto share = [](int64_t part, int64_t of) {
    return static_cast<double>(part) / static_cast<double>(of);
  };
  EXPECT_EQ(batch.tokens, chosen);
  EXPECT_NEAR(share(chosen, real), 0.15, 0.02);
  EXPECT_NEAR(share(masked, chosen), 0.8, 0.05);
  EXPECT_NEAR(share(kept, chosen), 0.1 + 0.1 / 4, 0.04);  // a random token may be the token itself
}

TEST(Mask, ChoosesAtLeastOneToken) {
  auto batch = unmasked(1);
  Random random(1, "mask");
  mask(batch, {.share = 1e-6, .vocabulary = kVocabulary}, random);
  EXPECT_EQ(batch.tokens, 1);
}

TEST(Mask, RefusesAVocabularyOfSpecialTokensAlone) {
  auto batch = unmasked(4);
  Random random(1, "mask");
  EXPECT_THROW(mask(batch, {.share = 0.5, .vocabulary = tokenizer::kMask + 1}, random), DataError);
}

}  // namespace
}  // namespace ablate::data
