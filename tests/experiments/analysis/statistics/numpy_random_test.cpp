#include "experiments/analysis/statistics/numpy_random.h"

#include <gtest/gtest.h>

#include "tests/experiments/analysis/statistics/golden.h"

namespace ablate::statistics {
namespace {

TEST(NumpyRandom, GivesTheNumbersOfNumpy) {
  for (const auto& example : golden()["random"]) {
    NumpyRandom random(example["seed"].get<uint64_t>());
    for (const auto& raw : example["raw"])
      EXPECT_EQ(std::to_string(random.next_uint64()), raw.get<std::string>());
    for (const auto& choice : example["choices"])
      for (const auto& drawn : choice["drawn"])
        EXPECT_EQ(random.below(choice["bound"].get<uint32_t>()), drawn.get<uint32_t>());
    const auto booleans = random.boolean_words(example["booleans"].size());
    for (size_t i = 0; i < example["booleans"].size(); ++i)
      EXPECT_EQ(booleans[i / 32] >> (i % 32) & 1U, example["booleans"][i].get<unsigned>()) << i;
    for (const auto& uniform : example["uniform"])
      EXPECT_EQ(random.uniform(), uniform.get<double>());
    for (const auto& drawn : example["after"]) EXPECT_EQ(random.below(10), drawn.get<uint32_t>());
  }
}

}  // namespace
}  // namespace ablate::statistics
