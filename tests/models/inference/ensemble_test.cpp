#include <gtest/gtest.h>

#include "models/inference/inference_model.h"
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

}  // namespace
}  // namespace ablate::models
