#include <gtest/gtest.h>

#include "training/inference/translator.h"

namespace ablate::training {
namespace {

TEST(MinimumBayesRisk, ChoosesTheCandidateMostLikeAllOthersWhateverItsScore) {
  const std::vector<Translation> candidates{{.text = "something else", .score = 0},
                                            {.text = "the black cat sat", .score = -3},
                                            {.text = "the black cat sat down", .score = -2},
                                            {.text = "the cat sat down", .score = -1}};
  EXPECT_EQ(least_risk(candidates), 2U);
}

}  // namespace
}  // namespace ablate::training
