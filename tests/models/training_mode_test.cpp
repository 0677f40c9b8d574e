#include <gtest/gtest.h>

#include <cmath>
#include <map>
#include <nlohmann/json.hpp>

#include "tests/models/golden.h"
#include "tests/models/models.h"
#include "tests/models/variants.h"

namespace ablate::models {
namespace {

/// Values of Hugging Face's Transformers; golden/training_mode.py documents the layout.
const nlohmann::json& transformers() { return recorded("models/golden/training_mode.json"); }

/// The generator's models.
std::map<std::string, TransformerOptions> families() {
  const std::string plain =
      "d_model: 8, feed_forward.d_hidden: 12, attention.dropout: 0.2, embedding_scale: false, "
      "dropout: 0.1";
  auto t5 = tiny(plain,
                 "attention: {d_k: 4, d_v: 4, scale.value: 1, dropout: 0.1}, feed_forward.dropout: "
                 "0.1, position: {kind: t5, buckets: 4, max_distance: 6}, bias: false, "
                 "norm: {kind: rms, placement: pre}, final_dropout: 0.1");
  t5.output = LmHead{{.scale = 1 / std::sqrt(8.0)}};
  return {{"gpt2", tiny(plain,
                        "family: decoder_only, feed_forward.activation: gelu_tanh, norm.placement: "
                        "pre, embedding_dropout: 0.3, position: {kind: learned, max_length: 10}")},
          {"bert", tiny(plain,
                        "family: encoder_only, feed_forward.activation: gelu, embedding_norm: "
                        "layer, token_types: 2, output: {bias: true, transform: gelu}, "
                        "position: {kind: learned, max_length: 10}")},
          {"marian", tiny(plain,
                          "feed_forward.dropout: 0.3, position.layout: halves, "
                          "embedding_scale: true")},
          {"t5", t5}};
}

torch::Tensor rows_of(const nlohmann::json& one, const char* side) {
  return one.contains(side) ? ids(one.at(side).get<std::vector<std::vector<int64_t>>>())
                            : torch::Tensor();
}

/// Small gradients are differences of terms of about 1, which floats round to some 1e-7.
void expect_recorded(const torch::Tensor& actual, const nlohmann::json& expected,
                     const std::string& name) {
  const auto wanted = list(expected);
  EXPECT_LT(largest_difference(actual.flatten(), wanted),
            1e-4 * std::max(0.05, wanted.abs().max().item<double>()))
      << name;
}

void expect_values_of(const std::string& name, const TransformerOptions& options) {
  const auto& one = transformers().at("families").at(name);
  Transformer model(options, Vocabulary{.source = 16, .target = 16, .pad = kPad, .separator = 2});
  fill(model, one.at("parameters"));
  const auto source = rows_of(one, "source"), target = rows_of(one, "target");
  const ForwardContext training{
      .training = true, .dropout = options.dropout, .seed = transformers().at("seed")};
  const auto logits_in = [&](const ForwardContext& context) {
    return model->project(model->hidden(source, target, context).hidden);
  };
  const auto logits = logits_in(training);
  expect_recorded(logits.detach(), one.at("logits"), name);
  {
    const torch::NoGradGuard no_grad;  // which other operations compute
    expect_recorded(logits_in(training), one.at("logits"), name + " without gradients");
    EXPECT_GT(largest_difference(logits_in({}), logits), 0.01) << name << " in evaluation";
  }
  (logits.flatten() * (torch::arange(logits.numel(), torch::kDouble) * 0.3).sin()).sum().backward();
  const auto parameters = model->named_parameters();
  for (size_t i = 0; i < parameters.size(); ++i) {
    const auto key = one.at("parameters")[i].at("name").get<std::string>();
    expect_recorded(parameters[key].grad(), one.at("gradients")[i], name + " " + key);
  }
}

TEST(TrainingMode, LogitsAndGradientsAreThoseOfTransformersWithTheSameMasks) {
  for (const auto& [name, options] : families()) expect_values_of(name, options);
}

/// The distribution of every parameter, by its name.
std::map<std::string, Initializer> initializers_of(const Transformer& model) {
  std::map<std::string, Initializer> all;
  for (const auto& item : model->named_modules())
    if (const auto* own = dynamic_cast<const Module*>(item.value().get()))
      for (const auto& parameter : own->own_parameters())
        all[(item.key().empty() ? "" : item.key() + ".") + parameter.name] = parameter.initializer;
  return all;
}

TEST(TrainingMode, DeviationsAreThoseThatTransformersGivesT5) {
  const auto& t5 = transformers().at("t5");
  const int64_t d_k = t5.at("d_k"), hidden = t5.at("d_hidden");
  const TransformerOptions options{
      .d_model = t5.at("d_model"),
      .layers = 1,
      .layer = {.attention = MultiHead{.heads = t5.at("heads"), .d_k = d_k, .d_v = d_k},
                .feed_forward = DenseFeedForward{.d_hidden = hidden, .gated = true},
                .position = T5Bias{}},
      .bias = false,
      .initialization = T5Initialization{{}, t5.at("factor")}};
  const auto initializers = initializers_of(make(options));
  for (const auto& [name, deviations] : t5.at("deviations").items()) {
    const auto& normal = std::get<Normal>(initializers.at(name));
    const bool queries = name.ends_with("qkv.weight") || name.ends_with("query.weight");
    EXPECT_EQ(normal.rows, queries ? 4 * d_k : 0) << name;
    EXPECT_NEAR(normal.deviation * normal.factor, deviations.front().get<double>(), 1e-9) << name;
    const double last = deviations.size() > 1 ? 1 : normal.factor;  // of the matrices
    EXPECT_NEAR(normal.deviation * last, deviations.back().get<double>(), 1e-9) << name;
  }
}

}  // namespace
}  // namespace ablate::models
