#include "data/language_text.h"

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

TEST_F(LanguageText, OfOneLineIsTooLittleToHoldSomeOut) {
  write("input.txt", "one\n");
  EXPECT_EQ(message_of([&] { read_language({.train = "input.txt"}, folder_); }),
            "input.txt has a single line, too few to hold some out; name a validation file");
}

}  // namespace
}  // namespace ablate::data
