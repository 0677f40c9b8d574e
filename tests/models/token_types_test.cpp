#include <gtest/gtest.h>

#include "tests/models/models.h"
#include "tests/models/variants.h"

namespace ablate::models {
namespace {

constexpr int64_t kEnd = 2;

TransformerOptions reader(int64_t types) {
  auto options = tiny("family: encoder_only, d_model: 8, layers: 1, tying: none");
  options.token_types = types;
  return options;
}

Transformer with_types(const TransformerOptions& options, std::optional<int64_t> separator) {
  Vocabulary vocabulary{20, 20, kPad};
  vocabulary.separator = separator;
  Transformer model(options, vocabulary);
  initialize(*model, 1);
  model->eval();
  return model;
}

/// The logits of a model after this change of the vectors of its types. // [types, D]
torch::Tensor logits_after(const torch::Tensor& change, const torch::Tensor& texts,
                           std::optional<int64_t> separator) {
  const torch::NoGradGuard no_grad;
  auto model = with_types(reader(change.size(0)), separator);
  model->named_parameters()["token_type_embedding"].add_(change);
  return model->forward(texts, {});
}

/// Which types a text has: those whose vector changes what the model computes.
std::vector<bool> types_in(const torch::Tensor& texts, std::optional<int64_t> separator) {
  std::vector<bool> found;
  const auto before = logits_after(torch::zeros({3, 8}), texts, separator);
  for (int64_t type = 0; type < 3; ++type) {
    auto change = torch::zeros({3, 8});
    change[type].copy_(torch::linspace(-1, 1, 8));
    found.push_back(largest_difference(logits_after(change, texts, separator), before) > 1e-3);
  }
  return found;
}

TEST(TokenTypes, CountTheEndsOfTextsBeforeATokenAndGoNoFurtherThanTheLast) {
  using Found = std::vector<bool>;
  EXPECT_EQ(types_in(ids({{1, 5, 6, kEnd}}), kEnd), (Found{true, false, false}));
  EXPECT_EQ(types_in(ids({{1, 5, kEnd, 6, kEnd}}), kEnd), (Found{true, true, false}));
  EXPECT_EQ(types_in(ids({{kEnd, kEnd, kEnd, kEnd, 5}}), kEnd), (Found{true, true, true}));
  EXPECT_EQ(types_in(ids({{1, 5, kEnd, 6, kEnd}}), {}), (Found{true, false, false}));
}

TEST(TokenTypes, OfAPairDoNotDependOnThePaddingBehindIt) {
  const torch::NoGradGuard no_grad;
  auto model = with_types(reader(2), kEnd);
  const auto whole = model->forward(ids({{1, 5, kEnd, 6, kEnd}}), {});
  const auto padded = model->forward(ids({{1, 5, kEnd, 6, kEnd, kPad, kPad}}), {});
  EXPECT_LT(largest_difference(padded.slice(1, 0, 5), whole), 1e-6);
}

TEST(TokenTypes, AreAVectorForEveryTextAlsoWithoutPairs) {
  auto model = with_types(reader(2), {});
  EXPECT_EQ(parameter_count(*model) - parameter_count(*with_types(reader(0), {})), 2 * 8);
  model->forward(ids({{1, 5, kEnd}}), {}).pow(2).sum().backward();
  const auto gradient = model->named_parameters()["token_type_embedding"].grad();
  EXPECT_GT(gradient[0].abs().max().item<double>(), 0);
  EXPECT_EQ(gradient[1].abs().max().item<double>(), 0);
}

}  // namespace
}  // namespace ablate::models
