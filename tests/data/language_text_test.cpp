#include "data/read_corpus.h"
#include "tests/data/folder_test_case.h"

namespace ablate::data {
namespace {

class LanguageText : public FolderTestCase {};

TEST_F(LanguageText, IsHeldOutAtItsEnd) {
  write("input.txt", "one\n\ntwo\nthree\nfour\n");
  const auto corpus = read_language({.train = "input.txt", .held_out = 0.3}, folder_);
  ASSERT_EQ(corpus.train.size(), 4U);
  EXPECT_EQ(corpus.train[1].target, "");
  ASSERT_EQ(corpus.validation.size(), 1U);
  EXPECT_EQ(corpus.validation[0].target, "four");
  EXPECT_EQ(corpus.tests.front().examples, corpus.validation);
}

/// Ten lines of one letter: two bytes each.
TEST_F(LanguageText, TestsOnTextOfItsOwnThatIsHeldOutBeforeTheValidationText) {
  write("input.txt", "a\nb\nc\nd\ne\nf\ng\nh\ni\nj\n");
  const auto corpus =
      read_language({.train = "input.txt", .held_out = 0.2, .test_held_out = 0.3}, folder_);
  const auto texts = [](const std::vector<Example>& examples) {
    std::string all;
    for (const auto& example : examples) all += example.target;
    return all;
  };
  EXPECT_EQ(texts(corpus.train), "abcde");
  EXPECT_EQ(texts(corpus.tests.front().examples), "fgh");
  EXPECT_EQ(texts(corpus.validation), "ij");
}

TEST_F(LanguageText, OfOneLineIsTooLittleToHoldSomeOut) {
  write("input.txt", "one\n");
  EXPECT_EQ(message_of([&] { read_language({.train = "input.txt"}, folder_); }),
            "input.txt has 1 line, too few to hold some out; name files for validation and test");
  write("input.txt", "one\ntwo\n");
  EXPECT_EQ(
      message_of([&] { read_language({.train = "input.txt", .test_held_out = 0.1}, folder_); }),
      "input.txt has 2 lines, too few to hold some out; name files for validation and test");
}

}  // namespace
}  // namespace ablate::data
