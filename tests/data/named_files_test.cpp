#include "data/named_files.h"

#include <sys/stat.h>

#include "data/read_corpus.h"
#include "tests/data/folder_test_case.h"
#include "tests/says.h"

namespace ablate::data {
namespace {

class NamedFiles : public FolderTestCase {
 protected:
  NamedFiles() {
    write("good.tsv", "one\teins\n");
    write("good.en", "one\n");
    write("good.txt", "one\ntwo\n");
  }

  /// "key name: fault" of each file, without the folder.
  std::vector<std::string> look(const DataOptions& options) {
    std::vector<std::string> all;
    for (const auto& [key, name, fault] : named_files(options, folder_)) {
      const auto told = message_of([&] { throw DataError(fault); });
      all.push_back(key + " " + name + (told.empty() ? "" : ": " + told));
    }
    return all;
  }
  /// What is said of a file that trains, beside good ones.
  std::string fault(Text text) {
    text.validation = text.test = {"good.tsv"};
    return named_files(text, folder_).front().fault;
  }
};

using Lines = std::vector<std::string>;

TEST_F(NamedFiles, ArePathsAsTheyAreGivenUnderTheirKeys) {
  EXPECT_EQ(look(Text{.train = {"good.en", "none.de"}, .validation = {"good.tsv"}, .test = {}}),
            (Lines{"train good.en", "train none.de", "validation good.tsv"}));
  EXPECT_EQ(look(Language{.train = "good.txt", .test = "none"}),
            (Lines{"train good.txt", "test none"}));
  EXPECT_EQ(look(Copy()), Lines());
}

/// A file of another form is not the end of the look.
TEST_F(NamedFiles, HaveTheFaultsWithWhichTheyWouldBeRefused) {
  write("bad.tsv", "one,eins\n");
  write("table.en", "PAR1");
  write("wide.de", std::string("a\0b\0", 4));
  write("empty.tsv", "");
  write("list.jsonl", "[{\"text\": \"one\"}]\n");
  write("numbers.bin", std::string("\x93NUMPY\1\0", 8) + std::string(40, '\1'));
  const auto text = look(
      Text{.train = {"table.en", "wide.de"}, .validation = {"bad.tsv"}, .test = {"empty.tsv"}});
  ASSERT_EQ(text.size(), 4U);
  EXPECT_TRUE(text[0].starts_with("train table.en: table.en: is a Parquet file"));
  EXPECT_TRUE(text[1].starts_with("train wide.de: wide.de: is UTF-16LE"));
  EXPECT_TRUE(text[2].starts_with("validation bad.tsv: bad.tsv:1: the line needs exactly one tab"));
  EXPECT_EQ(text[3], "test empty.tsv: empty.tsv: no line can be used");
  const auto rows = look(
      Language{.train = "list.jsonl", .validation = "empty.tsv", .format = TableFormat::jsonl});
  EXPECT_TRUE(rows[0].starts_with("train list.jsonl: list.jsonl is a JSON array"));
  const auto tokens = look(Tokens{.train = "numbers.bin", .validation = "good.txt"});
  EXPECT_TRUE(tokens[0].starts_with("train numbers.bin: numbers.bin is an array of NumPy"));
  EXPECT_EQ(look(Labelled{.train = "bad.tsv", .validation = "good.tsv", .test = "good.tsv"})[0],
            "train bad.tsv: " + text[2].substr(std::string("validation bad.tsv: ").size()));
}

TEST_F(NamedFiles, MayBeginWithABadLineThatIsSkippedButNotHaveAnotherForm) {
  write("bad.tsv", "one,eins\n");
  write("blank.en", "\n");
  write("table.en", "PAR1");
  for (const auto& names : {Lines{"bad.tsv"}, Lines{"blank.en", "good.en"}}) {
    EXPECT_NE(fault({.train = names}), "");
    EXPECT_EQ(fault({.train = names, .bad_lines = BadLine::skip}), "");
  }
  EXPECT_NE(fault({.train = {"table.en", "good.en"}, .bad_lines = BadLine::skip}), "");
}

/// What is not at the beginning is found when all is read.
TEST_F(NamedFiles, AreReadNoFurtherThanTheirFirstLine) {
  write("late.en", "one\n\xff\n");
  EXPECT_EQ(fault({.train = {"late.en", "good.en"}}), "");
  EXPECT_EQ(look(Language{.train = "late.en"}), Lines{"train late.en"});
}

/// A pipe gives its bytes to whoever reads first.
TEST_F(NamedFiles, AreNotReadIfTheyArePipes) {
  ASSERT_EQ(mkfifo((folder_ / "pipe").c_str(), 0600), 0);
  std::filesystem::create_directory(folder_ / "folder");
  EXPECT_EQ(fault({.train = {"pipe"}}), "");
  EXPECT_TRUE(says(fault({.train = {"folder"}}), "folder: is a folder; name a file"));
}

}  // namespace
}  // namespace ablate::data
