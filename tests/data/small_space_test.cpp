#include <gtest/gtest.h>

#include <set>

#include "data/corpus.h"

namespace ablate::data {
namespace {

Corpus small(const DataOptions& options) { return load(options, ".", 1); }

std::string message(const DataOptions& options) {
  try {
    small(options);
  } catch (const DataError& error) {
    return error.what();
  }
  return "small";
}

TEST(SmallSpace, LeavesDisjointExamplesForEverySet) {
  Numbers numbers;
  numbers.train_digits = 1;
  numbers.test_digits = {1};
  Copy copy;
  copy.symbols = 2;
  copy.train_length = {1, 3};
  copy.test_length = {2, 3};
  Addition addition;
  addition.train_digits = 1;
  addition.test_digits = {1};
  for (const DataOptions& options :
       {DataOptions(numbers), DataOptions(copy), DataOptions(addition)}) {
    const auto corpus = small(options);
    std::set<std::string> held;
    for (const auto& example : corpus.validation) EXPECT_TRUE(held.insert(example.source).second);
    for (const auto& test : corpus.tests) {
      EXPECT_FALSE(test.examples.empty());
      for (const auto& example : test.examples) EXPECT_TRUE(held.insert(example.source).second);
    }
    EXPECT_FALSE(corpus.validation.empty());
    EXPECT_FALSE(corpus.train.empty());
    for (const auto& example : corpus.train) EXPECT_FALSE(held.contains(example.source));
  }
}

TEST(SmallSpace, GivesATestSetHalfOfIt) {
  Numbers numbers;
  numbers.test_digits = {1, 2, 4};
  const auto corpus = small(numbers);
  EXPECT_EQ(corpus.tests[0].name, "1 digit");
  EXPECT_EQ(corpus.tests[0].examples.size(), 5U);   // of 0 to 9
  EXPECT_EQ(corpus.tests[1].examples.size(), 45U);  // of 10 to 99
  EXPECT_EQ(corpus.tests[2].examples.size(), 300U);
}

TEST(SmallSpace, IsRefusedWhereOneSetWouldBeEmpty) {
  Copy copy;
  copy.symbols = 2;
  copy.train_length = {1, 1};
  copy.test_length = {1};
  EXPECT_EQ(message(copy),
            "the task has only 2 different training sources, too few to hold some out for "
            "validation and test; widen its trained lengths or its symbols");
}

TEST(Numbers, ALocaleWithoutALanguageIsRefused) {
  for (const std::string locale : {"", "root"}) {
    Numbers numbers;
    numbers.source = locale;
    EXPECT_EQ(message(numbers), "ICU does not spell out numbers in '" + locale +
                                    "'; use the name of a language such as en, de or fr");
  }
}

TEST(DataOptions, ATestSizeMayBeNamedOnce) {
  const auto broken = [](const auto& options) {
    std::set<std::string> keys;
    options.rules(options, [&](bool holds, std::string_view key, std::string_view) {
      if (!holds) keys.emplace(key);
    });
    return keys;
  };
  Copy copy;
  EXPECT_TRUE(broken(copy).empty());
  copy.test_length = {12, 13, 12};
  EXPECT_EQ(broken(copy), std::set<std::string>{"test_length"});
  Numbers numbers;
  EXPECT_TRUE(broken(numbers).empty());
  numbers.test_digits = {4, 4};
  EXPECT_EQ(broken(numbers), std::set<std::string>{"test_digits"});
}

}  // namespace
}  // namespace ablate::data
