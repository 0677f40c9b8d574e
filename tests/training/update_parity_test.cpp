#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "models/ops/linear_cross_entropy.h"
#include "tests/models/golden.h"
#include "tests/models/variants.h"
#include "training/update.h"

namespace ablate::training {
namespace {

/// Values of an independent PyTorch implementation; golden/parity.py documents the layout.
const nlohmann::json& golden() { return recorded("training/golden/parity.json"); }

models::TransformerOptions options_of(const nlohmann::json& o) {
  std::string keys;
  const auto give = [&](const std::string& section, std::initializer_list<const char*> names) {
    for (const std::string name : names) keys += section + name + ": " + o.at(name).dump() + ", ";
  };
  give("", {"d_model", "layers"});
  give("attention.", {"heads", "d_k", "d_v", "key_value_heads"});
  give("feed_forward.", {"d_hidden", "gated"});
  give("norm.", {"placement"});
  keys += "norm.kind: " + o.at("norm").dump() + ", position.kind: " + o.at("position").dump();
  if (o.at("gated")) keys += ", feed_forward.activation: silu";
  if (o.at("position") == "learned") keys += ", position.max_length: " + o.at("max_length").dump();
  return models::tiny(keys);
}

data::Batch golden_batch() {
  data::Batch result;
  const auto& json = golden().at("batch");
  const auto flat = [&](const char* side, std::vector<int64_t>& into, int64_t& length) {
    for (const auto& row : json.at(side)) {
      length = static_cast<int64_t>(row.size());
      for (const auto& id : row) into.push_back(id);
    }
  };
  result.rows = static_cast<int64_t>(json.at("source").size());
  flat("source", result.source, result.source_length);
  flat("target_in", result.target_in, result.target_length);
  flat("target_out", result.target_out, result.target_length);
  for (const int64_t id : result.target_out) result.tokens += id == 0 ? 0 : 1;
  return result;
}

/// Largest difference, as a share of the largest expected magnitude.
double relative_error(const torch::Tensor& actual, const nlohmann::json& expected) {
  const auto wanted = torch::tensor(expected.get<std::vector<double>>(), torch::kDouble);
  const auto got = actual.detach().to(torch::kDouble).flatten();
  return ((got - wanted).abs().max() / wanted.abs().max().clamp_min(1e-30)).item<double>();
}

class Parity : public testing::TestWithParam<std::tuple<size_t, torch::ScalarType>> {
 protected:
  const nlohmann::json& variant() const { return golden().at("variants")[std::get<0>(GetParam())]; }
  torch::ScalarType type() const { return std::get<1>(GetParam()); }
  const nlohmann::json& expected() const {
    return variant().at(type() == torch::kDouble ? "fp64" : "fp32");
  }
  double tolerance() const { return type() == torch::kDouble ? 1e-10 : 1e-5; }

  models::Transformer model() const {
    const int64_t size = golden().at("vocabulary");
    models::Transformer made(options_of(variant().at("options")),
                             models::Vocabulary{size, size, golden().at("pad")});
    made->to(type());
    models::fill(made, variant().at("parameters"));
    return made;
  }
};

TEST_P(Parity, LogitsLossAndEveryGradientAreThoseOfPyTorch) {
  auto model = this->model();
  const auto tensors = to_tensors(golden_batch(), torch::kCPU);
  EXPECT_LT(
      relative_error(model->forward(tensors.source, tensors.target_in), expected().at("logits")),
      tolerance());
  const auto hidden = model->hidden(tensors.source, tensors.target_in).hidden;
  const auto loss =
      models::ops::linear_cross_entropy(hidden, model->output_weight(), tensors.target_out,
                                        {.ignored = 0, .smoothing = golden().at("label_smoothing")})
          .loss;
  const double sum = expected().at("loss_sum"), tokens = expected().at("tokens");
  EXPECT_NEAR(loss.item<double>() / sum, 1.0, tolerance());
  (loss / tokens).backward();
  const auto parameters = model->named_parameters();
  for (size_t i = 0; i < parameters.size(); ++i) {
    ASSERT_TRUE(parameters[i].value().grad().defined()) << parameters[i].key();
    const auto& wanted = expected().at("gradients")[i];
    // Zero in exact arithmetic, such as a bias of keys: what is left is rounding.
    double largest = 0;
    for (const double value : wanted) largest = std::max(largest, std::abs(value));
    if (largest < (type() == torch::kDouble ? 1e-14 : 1e-7)) continue;
    EXPECT_LT(relative_error(parameters[i].value().grad(), wanted), tolerance())
        << parameters[i].key();
  }
}

TEST_P(Parity, TheLossOverTenUpdatesIsThatOfPyTorch) {
  auto model = this->model();
  const auto& o = golden().at("optimizer");
  AdamW adamw;
  adamw.beta1 = o.at("beta1");
  adamw.beta2 = o.at("beta2");
  adamw.epsilon = o.at("epsilon");
  adamw.weight_decay = o.at("weight_decay");
  const auto optimizer = make_optimizer(adamw, *model);
  const auto one = golden_batch();
  for (const double wanted : expected().at("losses")) {
    const auto record = update(model, *optimizer, {&one, 1},
                               {.learning_rate = o.at("learning_rate"),
                                .loss = {.smoothing = golden().at("label_smoothing")},
                                .dropout = 0,
                                .dropout_seed = 0,
                                .precision = Precision::fp32});
    EXPECT_NEAR(record.loss / wanted, 1.0, tolerance());
  }
}

INSTANTIATE_TEST_SUITE_P(Variants, Parity,
                         testing::Combine(testing::Range(size_t{0}, size_t{8}),
                                          testing::Values(torch::kDouble, torch::kFloat)));

}  // namespace
}  // namespace ablate::training
