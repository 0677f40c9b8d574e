#include <gtest/gtest.h>

#include "models/ops/weight_casts.h"
#include "tests/device/counted.h"
#include "tests/device/device_models.h"
#include "tests/training/mixture_model.h"
#include "training/device.h"

namespace ablate::training {
namespace {

UpdateOptions plain(int64_t ahead = 0) {
  return {.learning_rate = 1e-3,
          .loss = {.smoothing = 0.1, .z = 0.01, .ahead = 0.3},
          .clips = {.norm = {{.most = 0.5}}},
          .dropout = 0,
          .dropout_seed = 3,
          .precision = Precision::fp32,
          .ahead = ahead};
}

/// Batches of one update; an encoder's targets stand where its sources do.
std::vector<data::Batch> batches_of(const models::TransformerOptions& options, size_t count) {
  auto batch = three_pairs();
  if (options.family == models::Family::encoder_only) {
    batch.target_in = batch.target_out = batch.source;
    batch.target_length = batch.source_length;
  }
  return std::vector<data::Batch>(count, batch);
}

/// The first step of the tiny model on the device, by plain descent.
StepRecord first_step(const UpdateOptions& options) {
  auto model = model_of(models::tiny(), torch::kCUDA);
  const auto optimizer = make_optimizer(Sgd{}, *model);
  return update(model, *optimizer, batches_of(models::tiny(), 1), options);
}

/// How many position ids a training pass draws on the host.
int64_t drawn_ids(const models::TransformerOptions& options) {
  if (!std::holds_alternative<models::Randomized>(options.position_ids)) return 0;
  return options.family == models::Family::encoder_decoder ? 2 : 1;
}

// ReLU's derivative jumps at 0, where rounding decides on which side a unit is.
models::TransformerOptions smooth(models::TransformerOptions options) {
  if (auto* dense = std::get_if<models::DenseFeedForward>(&options.layer.feed_forward);
      dense != nullptr && dense->activation == models::Activation::relu)
    dense->activation = models::Activation::gelu;
  return options;
}

TEST(DeviceModel, EveryVariantLearnsOnTheDeviceWhatItLearnsOnTheCpu) {
  for (const auto& [name, variant] : all_variants()) {
    const auto options = smooth(variant);
    if (options.layer.residual.drop > 0) continue;  // every kind of device draws masks of its own
    if (draws_for_routing(options) && !fake_cuda::is_present()) continue;
    SCOPED_TRACE(name);
    auto here = model_of(options, torch::kCPU), there = model_of(options, torch::kCUDA);
    const Adam adam{.epsilon = 1e-4};
    const auto first = make_optimizer(adam, *here), second = make_optimizer(adam, *there);
    const auto batches = batches_of(options, 2);
    for (int step = 0; step < 2; ++step) {
      const auto a = update(here, *first, batches, plain(models::heads_ahead(options)));
      const auto b = update(there, *second, batches, plain(models::heads_ahead(options)));
      EXPECT_NEAR(a.loss, b.loss, kRounding);
      EXPECT_NEAR(a.gradient_norm, b.gradient_norm, 10 * kRounding);
    }
  }
}

/// A bound that every head exceeds makes queries and keys smaller in each update.
TEST(DeviceModel, ScoresAreClippedOnTheDeviceAsOnTheCpu) {
  auto options = models::tiny("family: decoder_only");
  auto here = model_of(options, torch::kCPU), there = model_of(options, torch::kCUDA);
  const Adam adam{.epsilon = 1e-4};
  const auto first = make_optimizer(adam, *here), second = make_optimizer(adam, *there);
  const std::vector<data::EncodedExample> rows = {{{5}, {4, 9, 7, 2}}, {{6}, {9, 8, 4, 2}}};
  const std::vector<data::Batch> batches(2, data::collate(rows, std::vector<int64_t>{0, 1}));
  auto clipped = plain();
  clipped.clips.scores.most = 0.01;
  for (int step = 0; step < 3; ++step) {
    const auto norm = update(here, *first, batches, clipped).gradient_norm;
    EXPECT_NEAR(update(there, *second, batches, clipped).gradient_norm, norm, 10 * kRounding);
  }
  const auto ours = weights_of(*here), its = weights_of(*there);
  for (const auto& [name, weight] : ours)
    EXPECT_TRUE(torch::allclose(its.at(name).cpu(), weight, 1e-3, 1e-5)) << name;
}

TEST_F(CountedDevice, AnUpdateWaitsOnceAndInFloatForEachMixture) {
  for (const auto& [name, options] : all_variants())
    for (const bool bfloat16 : {false, true}) {
      SCOPED_TRACE(name + (bfloat16 ? " in bfloat16" : ""));
      auto model = model_of(aligned(options), torch::kCUDA);
      const auto optimizer = make_optimizer(Adam{}, *model);
      const auto batches = batches_of(options, 2);
      auto chosen = plain(models::heads_ahead(options));
      chosen.dropout = 0.1;
      if (bfloat16) chosen.precision = Precision::bf16;
      EXPECT_FALSE(update(model, *optimizer, batches, chosen).skipped);
      const auto before = fake_cuda::counts();
      update(model, *optimizer, batches, chosen);
      const auto after = fake_cuda::counts();
      EXPECT_EQ(after.reads - before.reads, 1 + 2 * waits_of(model, bfloat16));
      EXPECT_EQ(after.writes - before.writes, 2 + 2 * drawn_ids(options)) << "batches and ids";
      EXPECT_EQ(after.waiting_writes - before.waiting_writes, 0);
    }
}

TEST(DeviceModel, AGradientOfTheSameSeedIsTheSame) {
  const auto norm = [](uint64_t seed) {
    auto options = plain();
    options.dropout = 0.3;
    options.dropout_seed = seed;
    return first_step(options).gradient_norm;
  };
  EXPECT_EQ(norm(1), norm(1));
  EXPECT_NE(norm(1), norm(2));
}

/// Whether products of matrices, recurrent layers and convolutions may use TF32.
bool allows_tf32() {
  const auto& context = at::globalContext();
  const auto op = [&](at::Float32Op kind) { return context.allowTF32CuDNN(kind); };
  const bool products = context.allowTF32CuBLAS();
  EXPECT_EQ(op(at::Float32Op::RNN), products);
  EXPECT_EQ(op(at::Float32Op::CONV), products);
  return products;
}

TEST(DeviceModel, CudnnAttendsNowhereAndNothingStartsInTf32) {
  at::globalContext().setSDPUseCuDNN(true);
  allow_tf32(true);
  EXPECT_TRUE(resolve(Device::automatic).is_cuda());
  EXPECT_FALSE(at::globalContext().userEnabledCuDNNSDP());
  EXPECT_FALSE(allows_tf32());
}

TEST(DeviceMemory, IsWhatWasTakenOfTheDeviceAndNotWhatTensorsHeldAtOnce) {
  constexpr int64_t kMegabyte = 1 << 20;
  const auto options = torch::TensorOptions(torch::kByte).device(torch::kCUDA);
  for (const int64_t size : {256, 512, 1024}) torch::empty({size * kMegabyte}, options);
  EXPECT_GE(peak_memory(torch::kCUDA), (256 + 512 + 1024) * kMegabyte);
  const auto [needed, total] = gpu_memory(torch::kCUDA);
  EXPECT_GE(needed, peak_memory(torch::kCUDA));
  EXPECT_GE(total, needed);
}

TEST(DeviceModel, Tf32IsSwitchedOnForThePassesOfAnUpdateAlone) {
  resolve(Device::cuda);
  std::vector<bool> during;
  const auto loss = [&](Precision precision) {
    auto options = plain();
    options.precision = precision;
    options.finished = [&](UpdatePart) { during.push_back(allows_tf32()); };
    return first_step(options).loss;
  };
  const auto exact = loss(Precision::fp32);
  EXPECT_EQ(during, std::vector<bool>(4, false));
  during.clear();
  EXPECT_NEAR(loss(Precision::tf32), exact, fake_cuda::is_present() ? 0 : 1e-2);
  EXPECT_EQ(during, (std::vector<bool>{true, true, true, false})) << "data, passes, optimizer";
  EXPECT_FALSE(allows_tf32());
}

/// Operators of an update of a model with the layers and parts of bench/small.yaml.
int64_t launches_of_a_step(Precision precision, const models::PositionOptions& position) {
  auto small =
      models::tiny("d_model: 32, layers: 3, attention.heads: 4, feed_forward.d_hidden: 64");
  small.layer.position = position;
  auto model = model_of(small, torch::kCUDA);
  const auto optimizer = make_optimizer(Adam{}, *model);
  const auto batch = three_pairs();
  auto options = plain();
  options.loss.z = 0;
  options.dropout = 0.1;
  options.precision = precision;
  update(model, *optimizer, {&batch, 1}, options);
  const auto before = fake_cuda::counts();
  update(model, *optimizer, {&batch, 1}, options);
  return fake_cuda::counts().launches - before.launches;
}

TEST_F(CountedDevice, AStepOfTheSmallModelLaunchesFewOperators) {
  EXPECT_LE(launches_of_a_step(Precision::fp32, models::Sinusoidal{}), 315);
  EXPECT_LE(launches_of_a_step(Precision::bf16, models::Sinusoidal{}), 323);
  EXPECT_LE(launches_of_a_step(Precision::fp32, models::Rotary{}), 409);
  EXPECT_LE(launches_of_a_step(Precision::fp32, models::T5Bias{}), 365);
  EXPECT_LE(launches_of_a_step(Precision::bf16, models::T5Bias{}), 379);
}

TEST_F(CountedDevice, WeightsAreCastOnceAnUpdateAndTheirGradientsOnceABatch) {
  const auto casts = [](size_t batches) {
    auto model = model_of(models::tiny(), torch::kCUDA);
    const auto optimizer = make_optimizer(Sgd{}, *model);
    auto options = plain();
    options.precision = Precision::bf16;
    const auto before = fake_cuda::counts().calls["aten::_foreach_copy_"];
    update(model, *optimizer, batches_of(models::tiny(), batches), options);
    return fake_cuda::counts().calls["aten::_foreach_copy_"] - before;
  };
  for (const size_t batches : {1, 2, 4}) EXPECT_EQ(casts(batches), 1 + batches);
}

TEST(DeviceModel, WeightsThatAreCastTogetherGiveTheSameBits) {
  const auto gradients_of = [](const models::TransformerOptions& options, bool together) {
    auto model = model_of(options, torch::kCUDA);
    const auto batch = to_tensors(batches_of(options, 1).front(), torch::kCUDA);
    std::vector<torch::Tensor> gradients;
    {
      std::optional<models::ops::WeightCasts> casts;
      if (together) casts.emplace(model->parameters(), torch::kBFloat16);
      for (int pass = 0; pass < 2; ++pass) {
        model
            ->hidden(batch.source, batch.target_in,
                     {.training = true, .seed = 3, .compute_dtype = torch::kBFloat16})
            .hidden.to(torch::kFloat)
            .square()
            .sum()
            .backward();
        if (casts) casts->add_gradients();
      }
    }
    for (const auto& parameter : model->parameters())
      gradients.push_back(parameter.grad().defined() ? parameter.grad().cpu() : torch::Tensor());
    return gradients;
  };
  for (const auto& [name, options] : all_variants()) {
    SCOPED_TRACE(name);
    const auto apart = gradients_of(aligned(options), false),
               together = gradients_of(aligned(options), true);
    for (size_t i = 0; i < apart.size(); ++i) {
      ASSERT_EQ(apart[i].defined(), together[i].defined()) << i;
      if (apart[i].defined()) {
        EXPECT_TRUE(apart[i].equal(together[i])) << i;
      }
    }
  }
}

}  // namespace
}  // namespace ablate::training
