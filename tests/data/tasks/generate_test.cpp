#include "data/tasks/generate.h"

#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "tests/says.h"

namespace ablate::data {
namespace {

struct Forgotten : SymbolTask {};  // a task without a generator

static_assert(Generated<Copy> && Generated<Numbers>);
static_assert(!Generated<Forgotten> && !Generated<Text> && !Generated<Facts>);

std::string refusal(const TaskGenerator& task) {
  return refusal_of<DataError>([&] { generate(task, 1); }, "generated");
}

TEST(Generated, SetsAreDisjointAndHoldExamplesHoweverFewThereAre) {
  const Numbers numbers{{.test_digits = {4, 5}}}, few{{.train_digits = 1, .test_digits = {1}}};
  const Reverse reverse{{.test_length = {3, 12, 13}}};
  const Copy copy{{.symbols = 2, .train_length = {1, 3}, .test_length = {2, 3}}};
  const Addition addition{{.train_digits = 1, .test_digits = {1}}};
  for (const DataOptions& options :
       std::initializer_list<DataOptions>{numbers, few, reverse, copy, addition}) {
    const auto corpus = load(options, ".", 1);
    std::set<std::string> held;
    const auto hold = [&](const std::vector<Example>& set) {
      EXPECT_FALSE(set.empty());
      for (const auto& example : set) EXPECT_TRUE(held.insert(example.source).second);
    };
    hold(corpus.validation);
    for (const auto& test : corpus.tests) hold(test.examples);
    EXPECT_FALSE(corpus.train.empty());
    for (const auto& example : corpus.train) EXPECT_FALSE(held.contains(example.source));
  }
}

TEST(Generated, LengthsBeyondTrainingAreMarked) {
  Reverse reverse;
  reverse.test_length = {12, 13};
  const auto corpus = generate(reverse.generator(), 1);
  EXPECT_FALSE(corpus.tests[0].extrapolates);
  EXPECT_TRUE(corpus.tests[1].extrapolates);
  EXPECT_EQ(corpus.tests[1].name, "length 13");
  EXPECT_EQ(corpus.tests[1].length, 13);
  EXPECT_EQ(corpus.tests[1].unit, "symbols");
}

TEST(SmallSpace, GivesATestSetHalfOfIt) {
  Numbers numbers;
  numbers.test_digits = {1, 2, 4};
  const auto corpus = generate(numbers.generator(), 1);
  EXPECT_EQ(corpus.tests[0].name, "1 digit");
  EXPECT_EQ(corpus.tests[0].length, 1);
  EXPECT_EQ(corpus.tests[0].unit, "digits");
  EXPECT_EQ(corpus.tests[0].examples.size(), 5U);   // of 0 to 9
  EXPECT_EQ(corpus.tests[1].examples.size(), 45U);  // of 10 to 99
  EXPECT_EQ(corpus.tests[2].examples.size(), 300U);
}

/// Sources of training and of validation by their numbers of words.
struct Lengths {
  std::map<int64_t, std::set<std::string>> training, validation;
};

Lengths lengths_of(const TaskGenerator& task) {
  const auto add = [](auto& all, const Example& example) {
    all[1 + std::ranges::count(example.source, ' ')].insert(example.source);
  };
  const auto corpus = generate(task, 1);
  Lengths lengths;
  for (const auto& example : corpus.train) add(lengths.training, example);
  for (const auto& example : corpus.validation) add(lengths.validation, example);
  return lengths;
}

TEST(SmallSpace, OfEachLengthIsHalved) {
  const auto parity = lengths_of(Parity{}.generator());
  for (const int64_t length : {1, 2, 3, 4}) {
    EXPECT_EQ(parity.training.at(length).size(), size_t{1} << (length - 1)) << length;
    EXPECT_EQ(parity.validation.at(length).size(), size_t{1} << (length - 1)) << length;
  }
  const auto copy = lengths_of(Copy{}.generator());
  EXPECT_EQ(copy.training.at(1).size(), 8U);
  EXPECT_EQ(copy.validation.at(1).size(), 8U);
}

TEST(SmallSpace, TheShortestLengthIsTrainedInEveryTask) {
  for (const auto& task :
       {Copy{}.generator(), Reverse{}.generator(), Sort{}.generator(), Duplicate{}.generator(),
        Parity{}.generator(), SelectiveCopy{}.generator(), ModularArithmetic{}.generator(),
        Dyck{}.generator(), Recall{}.generator(), Depo{}.generator(), Brevo{}.generator(),
        Mano{}.generator(), Addition{}.generator(), Numbers{}.generator()}) {
    const auto lengths = lengths_of(task);
    EXPECT_LE(lengths.training.begin()->first, lengths.validation.begin()->first);
  }
}

TEST(SmallSpace, ATestSetOfAShortLengthLeavesSomeOfItForTraining) {
  Parity parity;
  parity.test_length = {1, 2};
  const auto lengths = lengths_of(parity.generator());
  EXPECT_EQ(lengths.training.at(1).size(), 1U);
  EXPECT_FALSE(lengths.validation.contains(1));
  EXPECT_EQ(lengths.training.at(2).size(), 1U);
  EXPECT_EQ(lengths.validation.at(2).size(), 1U);
}

TEST(SmallSpace, IsRefusedWhereOneSetWouldBeEmpty) {
  Copy copy;
  copy.symbols = 2;
  copy.train_length = {1, 1};
  copy.test_length = {1};
  EXPECT_EQ(refusal(copy.generator()),
            "the task has only 2 different training sources, too few to hold some out for "
            "validation and test; widen its trained lengths or its symbols");
}

}  // namespace
}  // namespace ablate::data
