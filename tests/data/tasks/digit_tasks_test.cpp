#include <gtest/gtest.h>

#include <algorithm>

#include "data/tasks/generate.h"
#include "tests/says.h"

namespace ablate::data {
namespace {

TEST(Addition, TheTargetIsTheSumWhichMayBeWrittenFromItsLastDigit) {
  for (const bool reversed : {false, true}) {
    Addition addition;
    addition.reversed = reversed;
    for (auto sum : generate(addition.generator(), 1).validation) {
      std::erase(sum.source, ' ');
      std::erase(sum.target, ' ');
      if (reversed) std::ranges::reverse(sum.target);
      const auto plus = sum.source.find('+');
      EXPECT_EQ(std::stoll(sum.source.substr(0, plus)) + std::stoll(sum.source.substr(plus + 1)),
                std::stoll(sum.target));
    }
  }
}

TEST(Numbers, AreSpelledOutWithoutSoftHyphens) {
  Numbers numbers;
  numbers.train_digits = 3;
  numbers.examples = {.train = 20'000, .validation = 20, .test = 100};
  numbers.test_digits = {3};
  const auto corpus = generate(numbers.generator(), 1);
  auto all = corpus.train;
  all.insert(all.end(), corpus.tests[0].examples.begin(), corpus.tests[0].examples.end());
  all.insert(all.end(), corpus.validation.begin(), corpus.validation.end());
  bool seen = false;
  for (const auto& example : all) {
    EXPECT_FALSE(says(example.target, "\xc2\xad"));
    if (example.source != "four hundred two") continue;
    EXPECT_EQ(example.target, "vierhundertzwei");
    seen = true;
  }
  EXPECT_TRUE(seen);
}

}  // namespace
}  // namespace ablate::data
