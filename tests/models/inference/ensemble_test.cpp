#include "models/inference/ensemble.h"

#include <gtest/gtest.h>

#include "tests/models/inference/small_model.h"

namespace ablate::models {
namespace {

TEST(Ensemble, OneModelTwiceVotesAsOnce) {
  const InferenceModel model(small(6)), other(small(9));
  const SearchOptions options{.beam = 3, .max_length = 10};
  std::vector<InferenceModel> twice{model, model}, both{model, other};
  const auto once = search(model, sources(), options);
  const auto voted = search_all(twice, {.source = sources(), .tokens = kTokens}, options);
  for (size_t row = 0; row < once.size(); ++row) {
    EXPECT_EQ(voted[row][0].ids, once[row].ids);
    EXPECT_NEAR(voted[row][0].score, once[row].score, 1e-5);
  }
  EXPECT_NE(search_all(both, {.source = sources(), .tokens = kTokens}, options)[0][0].score,
            once[0].score);
}

/// Of one finished target: what the search should have added to its score.
double coverage_of(Transformer& model, const torch::Tensor& source, const std::vector<int64_t>& out,
                   double penalty) {
  auto in = out;
  in.insert(in.begin(), 1);
  torch::Tensor attention;  // of the last layer
  Observer observer;
  observer.attention = [&](const torch::Tensor& probabilities) { attention = probabilities; };
  model->hidden(source, torch::tensor(in).unsqueeze(0), {.observer = &observer});
  const auto read = attention[0].mean(0).sum(0);  // [S]
  return penalty * read.clamp_max(1.0).log().masked_fill(source[0].eq(0), 0.0).sum().item<double>();
}

TEST(Ensemble, ACoveragePenaltyIsThatOfTheWholeTargetsAttention) {
  torch::NoGradGuard no_grad;
  auto model = small(6);
  const InferenceModel inference(model);
  int64_t punished = 0;
  for (const int64_t beam : {1, 3}) {
    const SearchOptions options{.beam = beam, .coverage_penalty = 0.4, .max_length = 9};
    const auto found = search(inference, sources(), options);
    for (size_t row = 0; row < found.size(); ++row) {
      auto out = found[row].ids;
      const bool ended = std::ssize(out) < options.max_length;
      if (!ended) continue;
      const double length = static_cast<double>(out.size() + 1);
      const auto source =
          sources().slice(0, static_cast<int64_t>(row), static_cast<int64_t>(row) + 1);
      EXPECT_NEAR(found[row].score,
                  found[row].log_probability / length + coverage_of(model, source, out, 0.4), 1e-5);
      punished += found[row].score < found[row].log_probability / length - 0.01 ? 1 : 0;
    }
  }
  EXPECT_GT(punished, 0);
}

}  // namespace
}  // namespace ablate::models
