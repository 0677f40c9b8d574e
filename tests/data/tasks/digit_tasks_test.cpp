#include "data/tasks/digit_tasks.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>

#include "data/tasks/generate.h"
#include "tests/data/tasks/generated.h"

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

TEST(Numbers, AreSpelledOutInTwoLanguages) {
  std::map<std::string, std::string> german;
  for (int64_t number = 0; number < 10'000; ++number)
    german[spell_out(number, NumberLanguage::en)] = spell_out(number, NumberLanguage::de);
  for (const auto& example : tested(Numbers{}))
    EXPECT_EQ(german.at(example.source), example.target);
}

}  // namespace
}  // namespace ablate::data
