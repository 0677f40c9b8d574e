#include "data/read_corpus.h"
#include "tests/data/folder_test_case.h"
#include "tests/says.h"

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

TEST_F(LabelledText, OfTwoTextsIsBothWithATabBetweenThem) {
  write("train.csv", "q,answer,passage\nis it?,yes,\"it\tis\"\nwas it?,no,\"it\nis\"\n");
  write("test.csv", "q,answer,passage\nhow?,no,so\nhow?,no, \n");
  Labelled options{.train = "train.csv", .validation = "train.csv", .test = "train.csv"};
  options.format = TableFormat::csv;
  options.columns = {.text = "q", .label = "answer", .text_pair = "passage"};
  EXPECT_EQ(read_labelled(options, folder_).train,
            (std::vector<Example>{{"is it?\tit is", "yes"}, {"was it?\tit is", "no"}}));
  options.test = "test.csv";
  EXPECT_TRUE(
      says(message_of([&] { read_labelled(options, folder_); }), "test.csv:3: one side is empty"));
  options.columns.text_pair = "context";
  EXPECT_TRUE(
      says(message_of([&] { read_labelled(options, folder_); }), "the column 'context' once"));
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
