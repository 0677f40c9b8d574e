#include <gtest/gtest.h>

#include "models/inference/hypothesis.h"
#include "tests/models/inference/small_model.h"

namespace ablate::models {
namespace {

/// Columns of one row that are forbidden.
std::vector<int64_t> forbidden(const torch::Tensor& row) {
  std::vector<int64_t> ids;
  for (int64_t id = 0; id < row.size(0); ++id)
    if (row[id].item<double>() == kForbidden) ids.push_back(id);
  return ids;
}

using Ids = std::vector<int64_t>;

TEST(LogitsProcessor, AMinimumForbidsTheEndOfShorterOutputs) {
  const Ids two{3, 4}, three{3, 4, 5};
  auto scores = torch::zeros({2, kVocabulary});
  MinLength{3, kTokens.eos}(scores, std::vector<RowContext>{{two, {}}, {three, {}}});
  EXPECT_EQ(forbidden(scores[0]), Ids{2});
  EXPECT_EQ(forbidden(scores[1]), Ids{});
}

TEST(LogitsProcessor, APrefixLeavesItsTokenAloneWhateverElseIsForbidden) {
  const Ids ids{3, 3}, prefix{3, 3, 3};
  const std::vector<RowContext> rows{{ids, prefix}, {prefix, prefix}};
  const LogitsProcessors processors({.min_length = 5}, kTokens, true);
  const auto logits = torch::randn({2, kVocabulary});
  const auto scores = processors.apply(logits, rows);
  EXPECT_EQ(forbidden(scores[0]), (Ids{0, 1, 2, 4, 5}));
  EXPECT_EQ(scores[0][3].item<float>(), logits[0].log_softmax(0)[3].item<float>());
  EXPECT_EQ(forbidden(scores[1]), (Ids{0, 1, 2}));
}

TEST(LogitsProcessor, ScoresStayThoseOfTheModel) {
  const Ids ids{3};
  const auto logits = torch::randn({1, kVocabulary});
  const LogitsProcessors processors({.min_length = 2}, kTokens, false);
  const auto scores = processors.apply(logits, std::vector<RowContext>{{ids, {}}});
  EXPECT_EQ(forbidden(scores[0]), (Ids{0, 1, 2}));
  EXPECT_TRUE(torch::equal(scores[0].slice(0, 3), logits.log_softmax(-1)[0].slice(0, 3)));
}

TEST(LogitsProcessor, AnUnwrittenTokenIsForbiddenAndKeepsItsShare) {
  const std::vector<int64_t> unwritten{4};
  const auto logits = torch::randn({1, kVocabulary});
  const LogitsProcessors processors({}, kTokens, false, unwritten);
  EXPECT_FALSE(processors.empty());
  const auto scores = processors.apply(logits, {});
  EXPECT_EQ(forbidden(scores[0]), (Ids{0, 1, 4}));
  EXPECT_EQ(scores[0][3].item<float>(), logits.log_softmax(-1)[0][3].item<float>());
}

TEST(LogitsProcessor, TheListIsEmptyWhereTheModelAloneDecides) {
  const auto is_empty = [](const SearchOptions& options, bool with_prefixes = false) {
    return LogitsProcessors(options, kTokens, with_prefixes).empty();
  };
  EXPECT_TRUE(is_empty({}));
  EXPECT_TRUE(is_empty({.beam = 5, .length_penalty = 0.5}));
  EXPECT_FALSE(is_empty({.min_length = 1}));
  EXPECT_FALSE(is_empty({}, true));
}

}  // namespace
}  // namespace ablate::models
