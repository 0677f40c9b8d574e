#include "data/text_encoder.h"
#include "tests/data/folder_test_case.h"

namespace ablate::data {
namespace {

class LabelList : public FolderTestCase {};

/// Names that a tokenizer of words takes for one another, or for its special tokens.
const std::vector<std::string> kOdd{"<s>", "</s>",    "<pad>",    "<unk>", "a\u2581b", "a\u2581c",
                                    "a",   "\u2581a", "a\u00a0b", "A",     "\u2047",   "0"};

TEST(Labels, EveryNameIsAClassOfItsOwn) {
  std::vector<Example> examples;
  for (const auto* text : {"one", "two"})
    for (const auto& name : kOdd) examples.push_back({text, name});
  const Labels labels(examples);
  EXPECT_EQ(labels.count(), std::ssize(kOdd));
  for (const auto& name : kOdd) EXPECT_EQ(labels.name(labels.number(name)), name);
  EXPECT_EQ(Labels::from_text(labels.to_text()), labels);
}

TEST(Labels, AreNumberedByTheirBytesOrAsAListHasThem) {
  EXPECT_EQ(Labels(std::vector<Example>{{"x", "b"}, {"y", "a"}, {"z", "b"}}).to_text(), "a\nb\n");
  const auto listed = Labels::from_text("b\na");
  EXPECT_EQ(listed.number("b"), 0);
  EXPECT_EQ(listed.name(1), "a");
  EXPECT_EQ(Labels::from_text("\xef\xbb\xbf"
                              "b\r\na\r\n"),
            listed)
      << "as an editor writes it";
}

TEST_F(LabelList, AnUnknownNameIsToldTheKnownOnes) {
  std::string text;
  for (int i = 0; i < 12; ++i) text += "c" + std::to_string(i) + "\n";
  EXPECT_EQ(message_of([&] { Labels::from_text(text).number("c12"); }),
            "'c12' is not one of the 12 classes c0, c1, c2, c3, c4, c5, c6, c7, c8, c9, ...");
}

TEST_F(LabelList, WithoutANameOrWithOneTwiceIsRefused) {
  EXPECT_EQ(message_of([] { Labels::from_text("a\n\nb\n"); }), "a class has no name");
  EXPECT_EQ(message_of([] { Labels::from_text("a\nb\na\n"); }), "the class 'a' is named twice");
}

}  // namespace
}  // namespace ablate::data
