#include <gtest/gtest.h>

#include "models/inference/search.h"
#include "models/kernel/packed_product.h"
#include "models/packed_weight.h"
#include "tests/models/inference/small_model.h"
#include "tests/models/models.h"
#include "tests/models/variants.h"

namespace ablate::models {
namespace {

TEST(PackedWeight, MultipliesAsTheMatrixDoes) {
  torch::NoGradGuard no_grad;
  torch::manual_seed(1);
  for (const int64_t outputs : {1, 31, 32, 70})
    for (const int64_t width : {1, 16, 37})
      for (const int64_t rows : {1, 3, 4, 12, 29}) {
        const auto x = torch::randn({rows, width}), weight = torch::randn({outputs, width});
        for (const auto& bias : {torch::randn({outputs}), torch::Tensor()}) {
          const auto expected = torch::linear(x, weight, bias);
          const auto error = [&](ProductType type) {
            return largest_difference(PackedWeight(weight, type).multiply(x, bias), expected);
          };
          EXPECT_LT(error(ProductType::float32), 1e-5) << outputs << " " << width << " " << rows;
          // Both factors of every term are rounded to 8 bits.
          EXPECT_LT(error(ProductType::bfloat16),
                    0.01 * torch::linear(x.abs(), weight.abs()).max().item<double>());
          // Each term is off by half a step of either factor at most.
          const auto step = [](const torch::Tensor& of) {
            return std::get<0>(of.abs().max(1, true)) / 254;  // [*, 1]
          };
          const auto bound =
              step(x) * weight.abs().sum(1) + (x.abs() + step(x)).sum(1, true) * step(weight).t();
          const auto rounded = PackedWeight(weight, ProductType::int8).multiply(x, bias);
          EXPECT_TRUE(((rounded - expected).abs() <= bound + 1e-4).all().item<bool>());
        }
      }
}

/// Whole numbers up to 127 have no rounding to lose.
TEST(PackedWeight, IsExactInEightBitsWhereEveryNumberFitsThem) {
  torch::NoGradGuard no_grad;
  torch::manual_seed(3);
  auto x = torch::randint(-127, 128, {17, 50}).to(torch::kFloat);
  auto weight = torch::randint(-127, 128, {40, 50}).to(torch::kFloat);
  x.select(1, 0).fill_(127);
  weight.select(1, 0).fill_(-127);
  const auto y = PackedWeight(weight, ProductType::int8).multiply(x, {});
  EXPECT_LT(largest_difference(y, torch::linear(x, weight)), 0.1);  // of up to 800,000
}

TEST(PackedWeight, KeepsTheShapeOfItsInput) {
  torch::NoGradGuard no_grad;
  const auto x = torch::randn({2, 3, 5}), weight = torch::randn({7, 5});
  const auto y = PackedWeight(weight, ProductType::float32).multiply(x, {});
  EXPECT_EQ(y.sizes(), (std::vector<int64_t>{2, 3, 7}));
  EXPECT_LT(largest_difference(y, torch::linear(x, weight)), 1e-5);
}

TEST(BestOfRow, AreTheLargestAndTheLogarithmOfAllExponentials) {
  torch::manual_seed(2);
  for (const int64_t width : {4, 16, 17, 100, 1000}) {
    auto scores = torch::randn({width}) * 5;
    scores[width / 2] = scores[width - 1];  // a tie
    float value[4];
    int64_t index[4];
    const float all = kernel::best_of_row(scores.const_data_ptr<float>(), width, {value, index, 4});
    EXPECT_NEAR(all, scores.logsumexp(0).item<float>(), 1e-4);
    const auto best = std::get<0>(scores.topk(4));
    for (int64_t i = 0; i < 4; ++i) {
      EXPECT_EQ(value[i], best[i].item<float>());
      EXPECT_EQ(scores[index[i]].item<float>(), value[i]);
    }
  }
}

/// Steps use kernels that whole sequences do not.
TEST(Decoding, PreparedModelsWriteTheSame) {
  torch::NoGradGuard no_grad;
  for (const auto& [name, options] : variants()) {
    auto model = make(options);
    for (auto& parameter : model->parameters()) parameter.add_(torch::randn_like(parameter) * 0.3);
    const auto source = ids({{5, 6, 7, 8, 2}, {9, 4, 2, 0, 0}, {3, 2, 0, 0, 0}});
    const auto target = ids({{1, 4, 5}, {1, 6, 7}, {1, 8, 9}});
    const auto logits = model->forward(source, target);
    const auto before = search(model, source, {.beam = 3, .max_length = 9});
    model->prepare_for_decoding(ProductType::float32);
    EXPECT_LT(largest_difference(model->forward(source, target), logits),
              1e-5 * std::max(1.0, logits.abs().max().item<double>()))
        << name;
    const auto after = search(model, source, {.beam = 3, .max_length = 9});
    for (size_t row = 0; row < before.size(); ++row) {
      EXPECT_EQ(after[row].ids, before[row].ids) << name;
      EXPECT_NEAR(after[row].score, before[row].score, 1e-4 + 1e-5 * std::abs(before[row].score))
          << name;
    }
  }
}

TEST(Attention, RecordsWhatEachQueryReadsWithoutChangingAnything) {
  torch::NoGradGuard no_grad;
  int64_t seen = 0;
  for (const auto& [name, options] : variants()) {
    auto model = make(options);
    const auto source = ids({{5, 6, 7, 8, 2}, {9, 4, 2, 0, 0}});
    const auto target = ids({{1, 4, 5}, {1, 6, 7}});
    Dropout none;
    Recorded recorded{.routings = {}, .inputs = {}, .attentions_wanted = true};
    const auto plain = model->hidden(source, target, none);
    EXPECT_LT(largest_difference(model->hidden(source, target, none, &recorded), plain), 1e-4)
        << name;
    for (const auto& heads : recorded.attentions) {
      // Padding may find nothing to read.
      for (const auto& rows : {heads[0], heads[1].narrow(-2, 0, 3)})
        EXPECT_LT(largest_difference(rows.sum(-1), torch::ones({1})), 1e-5) << name;
      if (heads.size(-1) == 5)  // the second source has two pieces of padding
        EXPECT_EQ(heads[1].narrow(-1, 3, 2).abs().max().item<float>(), 0) << name;
      else  // a target, of which nothing later is read
        EXPECT_EQ(heads.triu(1).abs().max().item<float>(), 0) << name;
      ++seen;
    }
  }
  EXPECT_GT(seen, 20);
}

}  // namespace
}  // namespace ablate::models
