#include <gtest/gtest.h>

#include "models/inference/search.h"
#include "tests/device/counted.h"
#include "tests/device/device_models.h"
#include "tests/models/variants.h"

namespace ablate::training {
namespace {

/// Outputs of exactly options.max_length tokens for every source, as many as the beam is wide.
std::vector<std::vector<models::Hypothesis>> decoded(const models::InferenceModel& model,
                                                     const models::SearchOptions& options,
                                                     models::SearchCount* count = nullptr) {
  const auto source = torch::tensor({{5, 6, 7, 2}, {8, 9, 2, 0}}, torch::kLong).to(model.device());
  return models::search_all({&model, 1},
                            {.source = source,
                             .tokens = {.pad = tokenizer::kPad,
                                        .bos = tokenizer::kBos,
                                        .eos = models::kNoEnd,
                                        .start = tokenizer::kBos},
                             .n_best = options.beam,
                             .count = count},
                            options);
}

std::vector<std::vector<models::Hypothesis>> decoded(const models::InferenceModel& model,
                                                     int64_t length) {
  return decoded(model, {.beam = 3, .max_length = length});
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

TEST(DeviceModel, DraftsWriteOnTheDeviceWhatTheyWriteOnTheCpu) {
  for (const auto& [name, options] : all_variants()) {
    if (models::heads_ahead(options) == 0) continue;
    SCOPED_TRACE(name);
    const auto written = [&, &options = options](torch::Device device, int64_t draft) {
      const models::InferenceModel model(model_of(options, device));
      models::SearchCount count;
      const auto outputs = decoded(model, {.beam = 1, .max_length = 12, .draft = draft}, &count);
      return std::pair(outputs, count.passes.load());
    };
    const auto [expected, passes] = written(torch::kCPU, 2);
    for (const int64_t draft : {0, 1, 2}) {
      const auto [found, needed] = written(torch::kCUDA, draft);
      for (size_t row = 0; row < expected.size(); ++row) {
        EXPECT_EQ(found[row].front().ids, expected[row].front().ids) << draft;
        EXPECT_NEAR(found[row].front().score, expected[row].front().score, kRounding);
      }
      if (draft == 2) {
        EXPECT_EQ(needed, passes);
      }
    }
  }
}

TEST_F(CountedDevice, AStepOfDecodingLaunchesFewOperators) {
  const models::InferenceModel model(model_of(models::tiny(), torch::kCUDA));
  const auto launches = [&](int64_t length) {
    const auto before = fake_cuda::counts().launches;
    decoded(model, length);
    return fake_cuda::counts().launches - before;
  };
  launches(9);  // computes positions that are kept
  EXPECT_LE(launches(9) - launches(5), 4 * 55);
}

TEST_F(CountedDevice, AStepOfDecodingWaitsOnceAndInFloatForEachMixture) {
  for (const auto& [name, options] : all_variants()) {
    if (options.family == models::Family::encoder_only) continue;
    for (const auto dtype : {models::WeightDtype::fp32, models::WeightDtype::bf16}) {
      const bool bfloat16 = dtype == models::WeightDtype::bf16;
      SCOPED_TRACE(name + (bfloat16 ? " in bfloat16" : ""));
      const auto trained = model_of(aligned(options), torch::kCUDA);
      const models::InferenceModel model(trained, dtype);
      const auto of = [&](int64_t length) {
        const auto before = fake_cuda::counts();
        decoded(model, length);
        const auto after = fake_cuda::counts();
        return std::pair(after.reads - before.reads, after.waiting_writes - before.waiting_writes);
      };
      of(9);  // computes positions that are kept
      const auto five = of(5), nine = of(9);
      EXPECT_EQ(nine.first - five.first, 4 * (1 + waits_of(trained, bfloat16, "decoder")));
      EXPECT_EQ(nine.second, five.second);
    }
  }
}

}  // namespace
}  // namespace ablate::training
