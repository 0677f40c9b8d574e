#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>

#include "data/augmentation.h"
#include "data/corpus.h"
#include "tokenizer/special_tokens.h"

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

/// Twelve examples of 3 to 14 tokens.
std::vector<EncodedExample> hidden_examples() {
  std::vector<EncodedExample> all;
  for (int32_t i = 0; i < 12; ++i) {
    EncodedExample one{.target = {kStartToken}, .prompt_length = 1};
    for (int32_t n = 0; n < 3 + i; ++n) one.target.push_back(tokenizer::kMask + 1 + (i + n) % 4);
    one.source = one.target;
    all.push_back(one);
  }
  return all;
}

/// What each example shows and asks for, where they are masked in batches of `rows`.
std::vector<std::pair<std::vector<int64_t>, std::vector<int64_t>>> masked_in_batches(int64_t rows,
                                                                                     double share) {
  const auto all = hidden_examples();
  std::vector<std::pair<std::vector<int64_t>, std::vector<int64_t>>> found;
  for (int64_t begin = 0; begin < std::ssize(all); begin += rows) {
    std::vector<int64_t> indices;
    for (int64_t i = begin; i < std::min(begin + rows, std::ssize(all)); ++i) indices.push_back(i);
    auto batch = collate(all, indices);
    mask_by_place(batch, indices, {.share = share, .vocabulary = kVocabulary}, 7);
    int64_t tokens = 0;
    for (size_t i = 0; i < indices.size(); ++i) {
      const auto length = std::ssize(all[static_cast<size_t>(indices[i])].target);
      const auto at = static_cast<std::ptrdiff_t>(i) * batch.target_length;
      found.push_back({{batch.source.begin() + at, batch.source.begin() + at + length},
                       {batch.target_out.begin() + at, batch.target_out.begin() + at + length}});
      tokens += length - std::ranges::count(found.back().second, tokenizer::kPad);
    }
    EXPECT_EQ(batch.tokens, tokens);
  }
  return found;
}

TEST(MaskByPlace, HidesTheSameTokensHoweverExamplesAreBatched) {
  const auto alone = masked_in_batches(1, 0.3);
  EXPECT_EQ(masked_in_batches(5, 0.3), alone);
  EXPECT_EQ(masked_in_batches(12, 0.3), alone);
}

TEST(MaskByPlace, HidesMoreWithALargerShareAndNothingElse) {
  const auto few = masked_in_batches(4, 0.2), many = masked_in_batches(4, 0.6);
  int64_t hidden_few = 0, hidden_many = 0;
  for (size_t i = 0; i < few.size(); ++i)
    for (size_t place = 0; place < few[i].second.size(); ++place) {
      const auto wanted = few[i].second[place];
      hidden_many += many[i].second[place] == tokenizer::kPad ? 0 : 1;
      if (wanted == tokenizer::kPad) continue;
      ++hidden_few;
      EXPECT_EQ(many[i].second[place], wanted);
      EXPECT_EQ(many[i].first[place], few[i].first[place]);
    }
  EXPECT_NEAR(static_cast<double>(hidden_few), 0.2 * 102, 12);  // of 102 tokens
  EXPECT_NEAR(static_cast<double>(hidden_many), 0.6 * 102, 15);
}

TEST(MaskByPlace, HidesAtLeastOneTokenOfTheFirstExampleAlone) {
  const auto found = masked_in_batches(3, 1e-6);
  for (size_t i = 0; i < found.size(); ++i)
    EXPECT_EQ(std::ssize(found[i].second) - std::ranges::count(found[i].second, tokenizer::kPad),
              i == 0 ? 1 : 0);
}

/// Batches of `rows` rows of eight tokens, masked for diffusion in training or in evaluation, one
/// after another.
std::vector<Batch> diffused(int64_t rows, int64_t batches, bool training) {
  EncodedExample example{.target = {kStartToken}, .prompt_length = 1};
  for (int32_t i = 0; i < 8; ++i) example.target.push_back(tokenizer::kMask + 1 + i % 4);
  example.source = example.target;
  const Masking masking{.vocabulary = kVocabulary, .diffusion = true};
  std::vector<Batch> all;
  for (int64_t b = 0; b < batches; ++b) {
    const std::vector examples(static_cast<size_t>(rows), example);
    std::vector<int64_t> indices, numbers;
    for (int64_t i = 0; i < rows; ++i) {
      indices.push_back(i);
      numbers.push_back(b * rows + i);
    }
    all.push_back(collate(examples, indices));
    Random random(3, "mask", static_cast<uint64_t>(b));
    if (training)
      mask(all.back(), masking, random);
    else
      mask_by_place(all.back(), numbers, masking, 7);
  }
  return all;
}

/// The hidden tokens of each row.
std::vector<int64_t> hidden(const std::vector<Batch>& batches) {
  std::vector<int64_t> counts;
  for (const auto& batch : batches)
    for (int64_t row = 0; row < batch.rows; ++row) {
      const auto begin = batch.target_out.begin() + row * batch.target_length;
      counts.push_back(batch.target_length -
                       std::count(begin, begin + batch.target_length, tokenizer::kPad));
    }
  return counts;
}

TEST(Diffusion, HidesKOfTheTokensByAProbabilityInInverseProportionToK) {
  for (const bool training : {true, false}) {
    const auto counts = hidden(diffused(50, 40, training));
    for (int64_t k = 1; k <= 8; ++k) {
      const double share = static_cast<double>(std::ranges::count(counts, k)) / 2000;
      EXPECT_NEAR(share, 1 / (2.717857 * static_cast<double>(k)), 0.01) << k << training;
    }
  }
}

/// With a loss c of every token if k are hidden, the bound of a token is the mean of c over all k.
TEST(Diffusion, MakesTheMeanLossOfAHiddenTokenTheBound) {
  const auto loss = [](int64_t k) { return std::sqrt(static_cast<double>(k)); };
  double bound = 0;
  for (int64_t k = 1; k <= 8; ++k) bound += loss(k) / 8;
  for (const bool training : {true, false}) {
    double sum = 0, tokens = 0;
    for (const auto k : hidden(diffused(50, 40, training))) {
      sum += static_cast<double>(k) * loss(k);
      tokens += static_cast<double>(k);
    }
    EXPECT_NEAR(sum / tokens, bound, 0.02) << training;
  }
}

TEST(Diffusion, ShowsTheMaskForEveryHiddenTokenAndAllOthersAsTheyAre) {
  const auto before = unmasked(8);
  std::vector<int64_t> places(9, 0);
  for (const auto& batch : diffused(50, 40, true)) {
    EXPECT_EQ(batch.tokens,
              std::ssize(batch.target_out) - std::ranges::count(batch.target_out, tokenizer::kPad));
    for (size_t i = 0; i < batch.source.size(); ++i) {
      const bool is_hidden = batch.target_out[i] != tokenizer::kPad;
      EXPECT_EQ(batch.source[i], is_hidden ? tokenizer::kMask : before.source[i % 9]);
      if (is_hidden) {
        EXPECT_EQ(batch.target_out[i], before.target_out[i % 9]);
        ++places[i % 9];
      }
    }
  }
  EXPECT_EQ(places[0], 0) << "the start token is never hidden";
  for (size_t i = 1; i < 9; ++i) EXPECT_NEAR(static_cast<double>(places[i]), 736, 80) << i;
}

TEST(Diffusion, HidesTheSameTokensHoweverExamplesAreBatched) {
  const auto flat = [](const std::vector<Batch>& batches) {
    std::vector<int64_t> all;
    for (const auto& batch : batches)
      all.insert(all.end(), batch.source.begin(), batch.source.end());
    return all;
  };
  EXPECT_EQ(flat(diffused(1, 60, false)), flat(diffused(20, 3, false)));
}

}  // namespace
}  // namespace ablate::data
