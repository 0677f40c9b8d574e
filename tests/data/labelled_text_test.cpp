#include "data/read_corpus.h"
#include "tests/data/folder_test_case.h"

namespace ablate::data {
namespace {

class LabelledText : public FolderTestCase {
 protected:
  const Labelled options_{.train = "train.tsv", .validation = "test.tsv", .test = "test.tsv"};
};

TEST_F(LabelledText, HasTheClassAsTheTargetOfItsText) {
  write("train.tsv", "a film\tgood\nno film\tbad\n");
  write("test.tsv", "film\tgood\n");
  EXPECT_EQ(read_labelled(options_, folder_).train,
            (std::vector<Example>{{"a film", "good"}, {"no film", "bad"}}));
}

TEST_F(LabelledText, OfAnUnknownClassIsNamed) {
  write("train.tsv", "a film\tgood\nno film\tbad\n");
  write("test.tsv", "film\tfine\n");
  EXPECT_EQ(message_of([&] { read_labelled(options_, folder_); }),
            "test.tsv: the class 'fine' does not occur in the training file");
  write("train.tsv", "a film\tbad\nno film\tvery good\n");
  EXPECT_EQ(message_of([&] { read_labelled(options_, folder_); }),
            "train.tsv: the class 'very good' has a space; every line is a text, a tab and a class "
            "of one word");
}

TEST_F(LabelledText, OfOneClassTeachesNothing) {
  write("train.tsv", "a film\tgood\nno film\tgood\n");
  write("test.tsv", "film\tgood\n");
  EXPECT_EQ(message_of([&] { read_labelled(options_, folder_); }),
            "train.tsv: every line has the class 'good'; there must be at least two classes");
}

}  // namespace
}  // namespace ablate::data
