#include <gtest/gtest.h>

#include "models/position/position.h"
#include "tests/models/models.h"
#include "tests/models/variants.h"

namespace ablate::models {
namespace {

constexpr double kTolerance = 1e-5;

/// Whether the order of a source changes the encoder's outputs beyond their order. If it does not,
/// permuted sources give permuted outputs, equal up to rounding.
bool tells_orders_apart(Transformer& model) {
  const auto straight = model->encode(ids({{5, 6, 7}})).output;
  const auto permuted = model->encode(ids({{7, 5, 6}})).output;
  const auto difference =
      largest_difference(straight.index_select(1, torch::tensor({2, 0, 1})), permuted);
  EXPECT_TRUE(difference < kTolerance || difference > 1e-3) << difference;
  return difference > 1e-3;
}

bool is_causal(Transformer& model) {
  const auto first = model->forward(ids({{5, 6}}), ids({{1, 8, 9, 10}}));
  const auto second = model->forward(ids({{5, 6}}), ids({{1, 8, 11, 12}}));
  return largest_difference(first.slice(1, 0, 2), second.slice(1, 0, 2)) == 0.0;
}

bool is_cached(TransformerOptions options, Family family) {
  options.family = family;
  auto model = moved(options, 0.1);
  const auto source = ids({{5, 6, 7, 2}, {9, 2, 0, 0}});
  const auto target = ids({{1, 8, 9, 10, 11}, {1, 4, 5, 6, 7}});
  const bool pair = family == Family::encoder_decoder;
  const auto full = model->forward(source, target);
  auto cache = model->prefill(pair ? source : ids({{}, {}}));
  bool same = true;
  for (int64_t t = 0; t < target.size(1); ++t)
    same = same && largest_difference(model->step(target.select(1, t), cache), full.select(1, t)) <
                       kTolerance;
  return same;
}

bool is_shift_free(Transformer& model) {
  return largest_difference(model->encode(ids({{5, 6, 7}})).output,
                            model->encode(ids({{0, 0, 5, 6, 7}})).output.slice(1, 2)) < kTolerance;
}

TEST(Compatibility, EveryCellOfTheTableIsWhatTheModelDoes) {
  torch::NoGradGuard no_grad;
  for (const auto& [name, options] : variants("positions")) {
    const auto& stated = traits_of(options.layer.position);
    auto model = moved(options, 0.1);
    EXPECT_EQ(tells_orders_apart(model), stated.tells_order) << name;
    EXPECT_TRUE(is_causal(model)) << name;
    for (const auto family : {Family::encoder_decoder, Family::decoder_only})
      EXPECT_TRUE(is_cached(options, family)) << name;
    EXPECT_EQ(is_shift_free(model), stated.shift_free) << name;
  }
}

}  // namespace
}  // namespace ablate::models
