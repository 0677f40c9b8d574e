#include <gtest/gtest.h>

#include <cmath>
#include <vector>

#include "models/transformer.h"
#include "training/update.h"

namespace ablate::training {
namespace {

constexpr double kWidest = 1024;

/// Mean absolute values of what a model computes.
struct Sizes {
  double stream, logits;
};

data::Batch next_symbols() {
  data::Batch batch{.rows = 2, .target_length = 12, .tokens = 24};
  for (int32_t i = 0; i < 24; ++i) {
    batch.target_in.push_back(4 + i * 7 % 24);
    batch.target_out.push_back(4 + (i + 1) * 7 % 24);
  }
  return batch;
}

/// After some updates of a decoder without norms, in which nothing holds activations together.
Sizes trained_sizes(int64_t width, const models::ParametrizationOptions& parametrization,
                    const OptimizerOptions& optimizer) {
  models::Transformer model(
      models::TransformerOptions{.family = models::Family::decoder_only,
                                 .d_model = width,
                                 .layers = 2,
                                 .attention = models::MultiHead{.heads = 4},
                                 .feed_forward = models::DenseFeedForward{.d_hidden = width},
                                 .norm = {.kind = models::NormKind::none},
                                 .dropout = 0,
                                 .parametrization = parametrization},
      models::Vocabulary{.source = 28, .target = 28, .pad = 0});
  models::initialize(*model, 1);
  const auto steps = make_optimizer(optimizer, *model);
  const auto batch = next_symbols();
  for (int i = 0; i < 5; ++i)
    update(model, *steps, {&batch, 1},
           {.learning_rate = 4e-3,
            .label_smoothing = 0,
            .clip = 0,
            .dropout = 0,
            .dropout_seed = 1,
            .precision = Precision::fp32});
  const torch::NoGradGuard no_grad;
  const auto target = to_tensors(batch, torch::kCPU).target_in;
  const auto scaled = model->hidden({}, target).hidden;
  const auto mean = [](const torch::Tensor& x) { return x.abs().mean().item<double>(); };
  const bool mup = std::holds_alternative<models::MaximalUpdate>(parametrization);
  return {.stream = mean(scaled) * (mup ? static_cast<double>(width) / 64 : 1),
          .logits = mean(model->forward({}, target))};
}

/// Exponents of the width with which sizes grow, between the ends of a row of widths.
Sizes growth(const models::ParametrizationOptions& parametrization,
             const OptimizerOptions& optimizer) {
  const auto narrow = trained_sizes(64, parametrization, optimizer);
  const auto wide = trained_sizes(static_cast<int64_t>(kWidest), parametrization, optimizer);
  const double octaves = std::log(kWidest / 64);
  return {.stream = std::log(wide.stream / narrow.stream) / octaves,
          .logits = std::log(wide.logits / narrow.logits) / octaves};
}

TEST(CoordinateCheck, ActivationsStayFlatOverWidthsByMaximalUpdatesAloneAndGrowOtherwise) {
  for (const OptimizerOptions& optimizer : {OptimizerOptions(Adam{}), OptimizerOptions(Muon{})}) {
    const auto mup = growth(models::MaximalUpdate{}, optimizer);
    EXPECT_NEAR(mup.stream, 0, 0.1);
    EXPECT_LT(mup.logits, 0.1);
    EXPECT_GT(growth(models::Standard{}, optimizer).stream, 0.3);
  }
}

}  // namespace
}  // namespace ablate::training
