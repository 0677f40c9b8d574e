#include "models/stack/ngram_memory.h"

#include <gtest/gtest.h>

#include <cmath>

#include "tests/models/models.h"
#include "tests/models/variants.h"

namespace ablate::models {
namespace {

NgramMemory memory_of(const HashedNgrams& options,
                      const ParametrizationOptions& parametrization = {}) {
  auto model = tiny("family: decoder_only");
  model.parametrization = parametrization;
  NgramMemory memory(options, stack_of(model, Side::decoder));
  initialize(*memory, 1);
  return memory;
}

/// What is read of whole sequences.
torch::Tensor read_of(const NgramMemory& memory, const torch::Tensor& x, const torch::Tensor& ids,
                      const torch::Tensor& documents = {}) {
  auto cache = memory->empty_cache(x);
  return memory->forward(x, ids, documents, cache);
}

/// What is read at the last position if the residual stream is 1 everywhere.
torch::Tensor last_read(const NgramMemory& memory, const std::vector<int64_t>& tokens) {
  const torch::NoGradGuard no_grad;
  const auto row = ids({tokens});
  return read_of(memory, torch::ones({1, row.size(1), 16}), row).select(1, -1);
}

TEST(NgramMemory, ReadsTheLastTokensInTheirOrderAndNoEarlierOnes) {
  const auto bigrams = memory_of({.longest = 2, .buckets = 1009});
  EXPECT_TRUE(torch::equal(last_read(bigrams, {4, 5, 6}), last_read(bigrams, {9, 5, 6})));
  EXPECT_GT(largest_difference(last_read(bigrams, {4, 5, 6}), last_read(bigrams, {4, 6, 5})), 1e-3);
  EXPECT_GT(largest_difference(last_read(bigrams, {4, 5, 6}), last_read(bigrams, {4, 7, 6})), 1e-3);
  const auto trigrams = memory_of({.longest = 3, .buckets = 1009});
  EXPECT_GT(largest_difference(last_read(trigrams, {4, 5, 6}), last_read(trigrams, {9, 5, 6})),
            1e-3);
  EXPECT_TRUE(torch::equal(last_read(trigrams, {1, 4, 5, 6}), last_read(trigrams, {2, 4, 5, 6})));
}

TEST(NgramMemory, OnAWiderModelScoresAreDividedByTheWidthInsteadOfItsRoot) {
  const torch::NoGradGuard no_grad;
  const auto score = [](const ParametrizationOptions& parametrization) {
    const auto memory = memory_of({.longest = 2, .buckets = 1}, parametrization);
    const auto parts = memory->named_parameters();
    parts["key.weight"].fill_(1);  // keys are parallel to the stream
    const auto value = parts["value.weight"].mv(parts["hashed_2"][0]);
    const auto gate = (last_read(memory, {4, 5})[0] / value).mean().item<double>();
    return std::abs(std::log(gate / (1 - gate)));
  };
  EXPECT_NEAR(score(Standard{}), 4, 1e-2);                      // 16 / sqrt(16)
  EXPECT_NEAR(score(MaximalUpdate{.base_width = 4}), 2, 1e-2);  // 16 sqrt(4) / 16
}

TEST(NgramMemory, HasNoTokensBeforeADocument) {
  const torch::NoGradGuard no_grad;
  const auto memory = memory_of({.longest = 3, .buckets = 1009});
  const auto row = ids({{4, 5, 1, 7}});
  const auto documents = torch::tensor({{0, 0, 1, 1}});
  const auto read = read_of(memory, torch::ones({1, 4, 16}), row, documents);
  const auto alone = read_of(memory, torch::ones({1, 2, 16}), ids({{1, 7}}));
  EXPECT_LT(largest_difference(read.slice(1, 2), alone), 1e-6);  // of products of other heights
}

/// How many rows of a table the n-grams of all pairs of `tokens` ids read, each after one token.
int64_t rows_of_all_pairs(int64_t tokens, int64_t buckets, int64_t longest) {
  const auto memory = memory_of({.longest = longest, .buckets = buckets});
  const auto id = torch::arange(tokens);
  const auto pairs = torch::cartesian_prod({id, id});
  const auto rows = torch::constant_pad_nd(pairs, {1, 0}, 3);  // [tokens^2, 3]
  read_of(memory, torch::ones({rows.size(0), 3, 16}), rows).select(1, 2).sum().backward();
  const auto table = memory->named_parameters()["hashed_" + std::to_string(longest)];
  return table.grad().ne(0).any(1).sum().item<int64_t>();
}

TEST(NgramMemory, SpreadsFrequentNgramsOverAsManyRowsAsAHashThatIsDrawn) {
  for (const int64_t longest : {2, 3})
    for (const int64_t tokens : {20, 30, 60})
      for (const int64_t buckets : {64, 512, 1000, 1021, 1024, 2048, 4096, 8192}) {
        const auto rows = static_cast<double>(buckets);
        const double missed = std::pow(1 - 1 / rows, static_cast<double>(tokens * tokens));
        const double deviation = std::sqrt(rows * missed * (1 - missed));  // at most
        EXPECT_NEAR(static_cast<double>(rows_of_all_pairs(tokens, buckets, longest)),
                    rows * (1 - missed), 3 * deviation + 1)
            << tokens << " ids, " << buckets << " rows, n-grams of " << longest;
      }
}

TEST(NgramMemory, OfEqualHashesIsTheSameAndAGateWeighsItByTheStream) {
  const torch::NoGradGuard no_grad;
  const auto memory = memory_of({.longest = 2, .buckets = 1});
  EXPECT_TRUE(torch::equal(last_read(memory, {4, 5}), last_read(memory, {6, 7})));
  auto parts = memory->named_parameters();
  const auto row = parts["hashed_2"];  // [1, D]
  const auto key = torch::linear(row, parts["key.weight"]);
  const auto value = torch::linear(row, parts["value.weight"]);
  const double length = std::sqrt(key.square().mean().item<double>());
  for (const double sign : {1.0, -1.0}) {
    const auto read = read_of(memory, sign * key.unsqueeze(0), ids({{4}}));
    const double gate = 1 / (1 + std::exp(-sign * std::sqrt(16.0)));
    EXPECT_LT(largest_difference(read.squeeze(0), gate * value), 1e-4) << length;
  }
}

}  // namespace
}  // namespace ablate::models
