#include <gtest/gtest.h>

#include <algorithm>

#include "models/feed_forward.h"
#include "models/inference/search.h"
#include "tests/device/fake_cuda/counts.h"
#include "tests/models/variants.h"
#include "tokenizer/special_tokens.h"
#include "training/update.h"

namespace ablate::training {
namespace {

constexpr int64_t kVocabulary = 13;

models::Transformer model_of(const models::TransformerOptions& options, torch::Device device) {
  models::Transformer model(options, models::Vocabulary{kVocabulary, kVocabulary, tokenizer::kPad});
  models::initialize(*model, 1);
  model->to(device);
  return model;
}

data::Batch three_pairs() {
  const std::vector<data::EncodedExample> pairs = {
      {{5, 6, 7, 2}, {7, 6, 5, 2}}, {{8, 2}, {9, 2}}, {{4, 9, 2}, {9, 4, 4, 10, 2}}};
  return data::collate(pairs, std::vector<int64_t>{0, 1, 2});
}

UpdateOptions plain() {
  return {.learning_rate = 1e-3,
          .label_smoothing = 0.1,
          .max_grad_norm = 0.5,
          .dropout = 0,
          .dropout_seed = 3,
          .precision = Precision::fp32};
}

/// The variants of every family: those that stand alone, too.
std::vector<models::Variant> all_variants() {
  auto all = models::variants();
  for (const auto family : {models::Family::decoder_only, models::Family::encoder_only})
    all.push_back(models::changed(family == models::Family::decoder_only ? "decoder" : "encoder",
                                  [&](auto& o) { o.family = family; }));
  // Ids of so small a range have fewer distances than a target has pairs, but not than a source
  // has.
  all.push_back(models::changed("randomized transformer_xl", [](auto& o) {
    o.position = models::TransformerXl{};
    o.position_ids = models::Randomized{.range = 12, .longest = 12};
  }));
  all.push_back(models::changed("experts choose", [](auto& o) {
    o.family = models::Family::encoder_only;
    o.feed_forward = models::MixtureOptions{
        .experts = 4, .active = 2, .d_hidden = 12, .router = models::ExpertChoiceRouter{}};
  }));
  all.push_back(models::changed("limited experts", [](auto& o) {
    o.feed_forward = models::MixtureOptions{.experts = 4,
                                            .active = 2,
                                            .d_hidden = 12,
                                            .router = models::NoisyRouter{},
                                            .capacity = models::LimitedCapacity{.factor = 1}};
  }));
  return all;
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

/// How often a pass through the model, or a part of it, waits for the device: in float every
/// mixture does, for the ends of its experts' rows.
int64_t waits_of(const models::Transformer& model, bool bfloat16, const std::string& part = "") {
  if (bfloat16) return 0;
  const auto modules = model->named_modules();
  return std::ranges::count_if(modules.pairs(), [&](const auto& item) {
    return item.first.starts_with(part) &&
           std::dynamic_pointer_cast<models::Mixture>(item.second) != nullptr;
  });
}

/// Experts of a width for which CUDA multiplies groups.
models::TransformerOptions aligned(models::TransformerOptions options) {
  const auto align = [](auto& layer) {
    auto* mixture = std::get_if<models::MixtureOptions>(&layer.feed_forward);
    if (mixture != nullptr) mixture->d_hidden = 16;
  };
  align(options);
  for (auto* list : {&options.encoder, &options.decoder})
    for (auto& layer : *list) align(layer);
  return options;
}

// Kernels of the two devices add in another order: relative differences of 1e-7 for one operation,
// of which a pass has about a hundred. Adam's epsilon keeps gradients that are nothing but rounding
// from becoming whole steps.
constexpr double kRounding = 2e-5;

// ReLU's derivative jumps at 0, where rounding decides on which side a unit is.
models::TransformerOptions smooth(models::TransformerOptions options) {
  if (auto* dense = std::get_if<models::DenseFeedForward>(&options.feed_forward);
      dense != nullptr && dense->activation == models::Activation::relu)
    dense->activation = models::Activation::gelu;
  return options;
}

TEST(DeviceModel, EveryVariantLearnsOnTheDeviceWhatItLearnsOnTheCpu) {
  for (const auto& [name, variant] : all_variants()) {
    const auto options = smooth(variant);
    if (options.residual.drop > 0) continue;  // every kind of device draws masks of its own
    SCOPED_TRACE(name);
    auto here = model_of(options, torch::kCPU), there = model_of(options, torch::kCUDA);
    const Adam adam{.epsilon = 1e-4};
    const auto first = make_optimizer(adam, *here), second = make_optimizer(adam, *there);
    const auto batches = batches_of(options, 2);
    for (int step = 0; step < 2; ++step) {
      const auto a = update(here, *first, batches, plain());
      const auto b = update(there, *second, batches, plain());
      EXPECT_NEAR(a.loss, b.loss, kRounding);
      EXPECT_NEAR(a.gradient_norm, b.gradient_norm, 10 * kRounding);
    }
  }
}

TEST(DeviceModel, AnUpdateWaitsOnceAndInFloatForEachMixture) {
  for (const auto& [name, options] : all_variants())
    for (const bool bfloat16 : {false, true}) {
      SCOPED_TRACE(name + (bfloat16 ? " in bfloat16" : ""));
      auto model = model_of(aligned(options), torch::kCUDA);
      const auto optimizer = make_optimizer(Adam{}, *model);
      const auto batches = batches_of(options, 2);
      auto chosen = plain();
      chosen.dropout = 0.1;
      if (bfloat16) chosen.precision = Precision::bf16;
      EXPECT_FALSE(update(model, *optimizer, batches, chosen).skipped);
      const auto before = fake_cuda::counts();
      update(model, *optimizer, batches, chosen);
      EXPECT_EQ(fake_cuda::counts().reads - before.reads, 1 + 2 * waits_of(model, bfloat16));
    }
}

TEST(DeviceModel, AGradientOfTheSameSeedIsTheSame) {
  const auto norm = [](uint64_t seed) {
    auto model = model_of(models::tiny(), torch::kCUDA);
    const auto optimizer = make_optimizer(Sgd{}, *model);
    auto options = plain();
    options.dropout = 0.3;
    options.dropout_seed = seed;
    const auto batch = three_pairs();
    return update(model, *optimizer, {&batch, 1}, options).gradient_norm;
  };
  EXPECT_EQ(norm(1), norm(1));
  EXPECT_NE(norm(1), norm(2));
}

TEST(DeviceModel, Tf32IsSwitchedOnForThePassesOfAnUpdateAlone) {
  std::vector<bool> during;
  const auto loss = [&](Precision precision) {
    auto model = model_of(models::tiny(), torch::kCUDA);
    const auto optimizer = make_optimizer(Sgd{}, *model);
    auto options = plain();
    options.precision = precision;
    options.finished = [&](UpdatePart) { during.push_back(at::globalContext().allowTF32CuBLAS()); };
    const auto batch = three_pairs();
    return update(model, *optimizer, {&batch, 1}, options).loss;
  };
  const auto exact = loss(Precision::fp32);
  EXPECT_EQ(during, std::vector<bool>(4, false));
  during.clear();
  EXPECT_EQ(loss(Precision::tf32), exact) << "the stand-in multiplies float numbers";
  EXPECT_EQ(during, (std::vector<bool>{true, true, true, false})) << "data, passes, optimizer";
  EXPECT_FALSE(at::globalContext().allowTF32CuBLAS());
}

TEST(DeviceModel, AStepOfTheSmallModelLaunchesFewOperators) {
  models::TransformerOptions small{.d_model = 16,
                                   .layers = 3,
                                   .attention = models::MultiHead{.heads = 4},
                                   .feed_forward = models::DenseFeedForward{.d_hidden = 32}};
  auto model = model_of(small, torch::kCUDA);  // layers and parts as in bench/small.yaml
  const auto optimizer = make_optimizer(Adam{}, *model);
  const auto batch = three_pairs();
  auto options = plain();
  options.dropout = 0.1;
  update(model, *optimizer, {&batch, 1}, options);
  const auto before = fake_cuda::counts();
  update(model, *optimizer, {&batch, 1}, options);
  EXPECT_LE(fake_cuda::counts().launches() - before.launches(), 317);
  EXPECT_EQ(fake_cuda::counts().writes - before.writes, 1) << "the batch";
}

/// Outputs of exactly `length` tokens for every source.
std::vector<std::vector<models::Hypothesis>> decoded(const models::InferenceModel& model,
                                                     int64_t length) {
  const auto source = torch::tensor({{5, 6, 7, 2}, {8, 9, 2, 0}}, torch::kLong).to(model.device());
  return models::search_all({&model, 1},
                            {.source = source,
                             .tokens = {.pad = tokenizer::kPad,
                                        .bos = tokenizer::kBos,
                                        .eos = models::kNoEnd,
                                        .start = tokenizer::kBos},
                             .n_best = 3},
                            {.beam = 3, .max_length = length});
}

TEST(DeviceModel, EveryVariantWritesOnTheDeviceWhatItWritesOnTheCpu) {
  for (const auto& [name, options] : all_variants()) {
    if (options.family == models::Family::encoder_only) continue;
    SCOPED_TRACE(name);
    const models::InferenceModel here(model_of(options, torch::kCPU)),
        there(model_of(options, torch::kCUDA));
    const auto expected = decoded(here, 6), found = decoded(there, 6);
    for (size_t row = 0; row < expected.size(); ++row)
      for (size_t rank = 0; rank < expected[row].size(); ++rank)
        EXPECT_NEAR(expected[row][rank].score, found[row][rank].score, kRounding);
  }
}

TEST(DeviceModel, AStepOfDecodingLaunchesFewOperators) {
  const models::InferenceModel model(model_of(models::tiny(), torch::kCUDA));
  const auto launches = [&](int64_t length) {
    const auto before = fake_cuda::counts().launches();
    decoded(model, length);
    return fake_cuda::counts().launches() - before;
  };
  launches(9);  // computes positions that are kept
  EXPECT_LE(launches(9) - launches(5), 4 * 55);
}

TEST(DeviceModel, AStepOfDecodingWaitsOnceAndInFloatForEachMixture) {
  for (const auto& [name, options] : all_variants()) {
    if (options.family == models::Family::encoder_only) continue;
    for (const auto dtype : {models::WeightDtype::fp32, models::WeightDtype::bf16}) {
      const bool bfloat16 = dtype == models::WeightDtype::bf16;
      SCOPED_TRACE(name + (bfloat16 ? " in bfloat16" : ""));
      const auto trained = model_of(aligned(options), torch::kCUDA);
      const models::InferenceModel model(trained, dtype);
      const auto start = fake_cuda::counts().reads;
      decoded(model, 5);
      const auto five = fake_cuda::counts().reads - start;
      decoded(model, 9);
      const auto nine = fake_cuda::counts().reads - start - five;
      EXPECT_EQ(nine - five, 4 * (1 + waits_of(trained, bfloat16, "decoder")));
    }
  }
}

}  // namespace
}  // namespace ablate::training
