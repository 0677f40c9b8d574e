#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "models/transformer.h"
#include "tests/training/optimizer_kinds.h"
#include "training/update.h"

namespace ablate::training {
namespace {

/// Mean absolute values of what a model computes: behind each layer, and what the updates have
/// added behind the last layer and to each logit.
struct Sizes {
  std::vector<double> streams;
  double moved, logits;
};

data::Batch next_symbols() {
  data::Batch batch{.rows = 2, .target_length = 12, .tokens = 24};
  for (int32_t i = 0; i < 24; ++i) {
    batch.target_in.push_back(4 + i * 7 % 24);
    batch.target_out.push_back(4 + (i + 1) * 7 % 24);
  }
  return batch;
}

/// More tokens and more kinds of them than channels, so that gradients have full rank.
data::Batch many_symbols() {
  data::Batch batch{.rows = 8, .target_length = 64, .tokens = 512};
  const auto symbol = [](int32_t i) { return 4 + i * 167 % 509; };
  for (int32_t i = 0; i < 512; ++i) {
    batch.target_in.push_back(symbol(i));
    batch.target_out.push_back(symbol(i + 1));
  }
  return batch;
}

/// After some updates of a decoder without norms, in which nothing holds activations together.
Sizes trained_sizes(int64_t width, const models::ParametrizationOptions& parametrization,
                    const OptimizerOptions& optimizer, const data::Batch& batch = next_symbols(),
                    const LrMultipliers& rates = {}) {
  const int64_t symbols = 1 + *std::ranges::max_element(batch.target_in);
  models::Transformer model(
      models::TransformerOptions{
          .family = models::Family::decoder_only,
          .d_model = width,
          .layers = 2,
          .layer = {.attention = models::MultiHead{.heads = 4},
                    .feed_forward = models::DenseFeedForward{.d_hidden = width},
                    .norm = {.kind = models::NormKind::none}},
          .dropout = 0,
          .parametrization = parametrization},
      models::Vocabulary{.source = symbols, .target = symbols, .pad = 0});
  models::initialize(*model, 1);
  const auto steps = make_optimizer(optimizer, *model, rates);
  const auto target = to_tensors(batch, torch::kCPU).target_in;
  std::vector<torch::Tensor> streams;
  const auto logits = [&] {
    const torch::NoGradGuard no_grad;
    streams.clear();
    const models::Observer observer{
        .layer_output = [&](const torch::Tensor& x) { streams.push_back(x); }};
    return torch::linear(model->hidden({}, target, {.observer = &observer}).hidden,
                         model->output_weight());
  };
  const auto first = logits();
  const auto before = streams.back();
  for (int i = 0; i < 5; ++i)
    update(model, *steps, {&batch, 1},
           {.learning_rate = 4e-3,
            .loss = {.smoothing = 0},
            .dropout = 0,
            .dropout_seed = 1,
            .precision = Precision::fp32});
  const auto mean = [](const torch::Tensor& x) { return x.abs().mean().item<double>(); };
  Sizes sizes{.streams = {}, .moved = 0, .logits = mean(logits() - first)};
  for (const auto& stream : streams) sizes.streams.push_back(mean(stream));
  sizes.moved = mean(streams.back() - before);
  return sizes;
}

void expect_flat(const Sizes& narrow, const Sizes& wide) {
  ASSERT_EQ(wide.streams.size(), 2U);
  for (size_t layer = 0; layer < 2; ++layer) {
    EXPECT_GT(wide.streams[layer], narrow.streams[layer] / 2) << layer;
    EXPECT_LT(wide.streams[layer], narrow.streams[layer] * 2) << layer;
  }
  EXPECT_GT(wide.logits, narrow.logits / 3);  // the share of first values falls with the width
  EXPECT_LT(wide.logits, narrow.logits * 2);
}

/// With Adam the stream of the standard model grows a hundredfold over sixteen times the width.
/// Muon's steps cost the cube of the width, so its widths end at eight times.
TEST(CoordinateCheck, ActivationsStayWithinAFactorOfTwoOverWidthsByMaximalUpdatesAlone) {
  for (const OptimizerOptions& optimizer : {OptimizerOptions(Adam{}), OptimizerOptions(Muon{})}) {
    const bool adam = std::holds_alternative<Adam>(optimizer);
    const int64_t widest = adam ? 1024 : 512;
    const auto narrow = trained_sizes(64, models::MaximalUpdate{}, optimizer);
    for (int64_t width = 128; width <= widest; width *= 2) {
      SCOPED_TRACE(width);
      expect_flat(narrow, trained_sizes(width, models::MaximalUpdate{}, optimizer));
    }
    const auto standard = trained_sizes(64, models::Standard{}, optimizer);
    const auto grown = trained_sizes(widest, models::Standard{}, optimizer);
    EXPECT_GT(grown.logits, 3 * standard.logits);
    if (adam) {
      EXPECT_GT(grown.streams.back(), 50 * standard.streams.back());
    }
  }
}

/// Bounds of what other parameters move would hide a wrong rate of the matrices, so these alone
/// learn. What they add to the stream must be the same at every width; a rate that is wrong by the
/// root of the width is wrong by a factor of 2.8 at eight times the width. NorMuon gives a step the
/// norm of an orthogonal matrix even where a gradient has a low rank.
TEST(CoordinateCheck, MatricesAloneMoveTheStreamAlikeAtEveryWidth) {
  const LrMultipliers matrices{.embeddings = 1e-9, .matrices = 1, .output = 1e-9, .vectors = 1e-9};
  const auto batch = many_symbols();
  for (const auto& optimizer : every_kind(OptimizerOptions{})) {
    if (!carries_over_widths(optimizer)) continue;
    const auto moved = [&](int64_t width) {
      return trained_sizes(width, models::MaximalUpdate{}, optimizer, batch, matrices).moved;
    };
    const double narrow = moved(64);
    for (const int64_t width : {128, 256, 512}) {
      const double wide = moved(width);
      EXPECT_GT(wide, narrow / 1.75) << kind_of(optimizer) << " " << width;
      EXPECT_LT(wide, narrow * 1.75) << kind_of(optimizer) << " " << width;
    }
  }
}

}  // namespace
}  // namespace ablate::training
