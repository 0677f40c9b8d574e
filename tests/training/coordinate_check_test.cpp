#include <gtest/gtest.h>

#include <vector>

#include "models/transformer.h"
#include "training/update.h"

namespace ablate::training {
namespace {

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

/// How many times as large as at width 64 sizes are at a wider one.
Sizes growth(int64_t width, const models::ParametrizationOptions& parametrization,
             const OptimizerOptions& optimizer) {
  const auto narrow = trained_sizes(64, parametrization, optimizer);
  const auto wide = trained_sizes(width, parametrization, optimizer);
  return {.stream = wide.stream / narrow.stream, .logits = wide.logits / narrow.logits};
}

/// Sixteen times the width: with Adam the stream of the standard model grows a hundredfold.
TEST(CoordinateCheck, ActivationsStayWithinAFactorOfTwoOverWidthsByMaximalUpdatesAlone) {
  for (const OptimizerOptions& optimizer : {OptimizerOptions(Adam{}), OptimizerOptions(Muon{})}) {
    for (const int64_t width : {256, 1024}) {
      const auto mup = growth(width, models::MaximalUpdate{}, optimizer);
      EXPECT_GT(mup.stream, 0.5) << width;
      EXPECT_LT(mup.stream, 2) << width;
      EXPECT_LT(mup.logits, 2) << width;  // whose share of the first values falls with the width
    }
    EXPECT_GT(growth(1024, models::Standard{}, optimizer).logits, 3);
  }
}

}  // namespace
}  // namespace ablate::training
