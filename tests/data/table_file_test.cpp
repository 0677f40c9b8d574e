#include "data/table_file.h"

#include "data/read_corpus.h"
#include "tests/data/folder_test_case.h"

namespace ablate::data {
namespace {

class TableFiles : public FolderTestCase {
 protected:
  /// Every row as "line: a|b" or "line: fault".
  std::vector<std::string> rows(TableFormat format, const std::string& bytes,
                                const std::vector<std::string>& columns = {"a", "b"},
                                int64_t max_line_bytes = 100) {
    TableReader reader(write("t", bytes), format, columns, max_line_bytes);
    std::vector<std::string> all;
    while (const auto row = reader.next()) {
      auto text = std::to_string(row->line) + ": " + row->fault;
      for (size_t i = 0; i < row->texts.size() && row->fault.empty(); ++i)
        text += (i == 0 ? "" : "|") + row->texts[i];
      all.push_back(text);
    }
    return all;
  }
  std::string refusal(TableFormat format, const std::string& bytes,
                      const std::vector<std::string>& columns = {"a", "b"}) {
    return message_of([&] { rows(format, bytes, columns); });
  }
  using Rows = std::vector<std::string>;
};

/// The examples of RFC 4180, section 2, and columns in another order than asked for.
TEST_F(TableFiles, OfCsvQuoteAsRfc4180Says) {
  EXPECT_EQ(rows(TableFormat::csv, "b,x,a\r\nbbb,xxx,aaa\r\n"), (Rows{"2: aaa|bbb"}));
  EXPECT_EQ(rows(TableFormat::csv, "a,b\n\"aaa\",\"b\r\nbb\"\nzzz,yyy"),
            (Rows{"2: aaa|b\nbb", "4: zzz|yyy"}));
  EXPECT_EQ(rows(TableFormat::csv, "a,b\n\"a\"\"a, \",\"\"\n , \n"),
            (Rows{"2: a\"a, |", "3:  | "}));
  EXPECT_EQ(rows(TableFormat::csv, "\"a\",\"the b\"\n1,2\n", {"a", "the b"}), (Rows{"2: 1|2"}));
}

TEST_F(TableFiles, NameTheLineOfABadRow) {
  const std::string misplaced =
      "a quote stands where none may: it encloses a whole field, and is doubled within one";
  EXPECT_EQ(rows(TableFormat::csv, "a,b\n1,2,3\n1\n4,5\n"),
            (Rows{"2: the row has 3 fields and the first line 2",
                  "3: the row has 1 fields and the first line 2", "4: 4|5"}));
  EXPECT_EQ(rows(TableFormat::csv, "a,b\n1,x\"y\"\n\"1\"2,3\n4,5\n"),
            (Rows{"2: " + misplaced, "3: " + misplaced, "4: 4|5"}));
  EXPECT_EQ(rows(TableFormat::csv, "a,b\n1,\"2\n3,4\n"),
            (Rows{"2: the row has a quote that is not closed"}));
  EXPECT_EQ(rows(TableFormat::csv, "a,b\n1,\xff\n4,5\n"),
            (Rows{"2: the line is not valid UTF-8", "3: 4|5"}));
  EXPECT_EQ(rows(TableFormat::csv, "a,b\n1,\"2\n" + std::string(98, 'x') + "\n\"\n"),
            (Rows{"2: the row has a quote that is not closed",
                  "4: the row has a quote that is not closed"}))
      << "a row is no longer than a line may be";
}

TEST_F(TableFiles, OfTsvHaveNoQuotes) {
  EXPECT_EQ(rows(TableFormat::tsv, "a\tb\n\"Hello,\" he said.\t\"\n1\n"),
            (Rows{"2: \"Hello,\" he said.|\"", "3: the row has 1 fields and the first line 2"}));
}

TEST_F(TableFiles, OfJsonLinesHoldObjectsOfStrings) {
  EXPECT_EQ(rows(TableFormat::jsonl, "{\"b\": \"\\u00fc\\n\", \"c\": 1, \"a\": \"1\"}\n"),
            (Rows{"1: 1|ü\n"}));
  EXPECT_EQ(rows(TableFormat::jsonl, "{\"a\": \"1\"}\n[1]\n\n{\"a\": 1, \"b\": \"2\"}\n{\"a\n"),
            (Rows{"1: the object has no 'b'; see data.columns",
                  "2: the line is no JSON object but an array", "3: the line is no JSON object",
                  "4: 1|2", "5: the line is no JSON object"}));
  EXPECT_EQ(rows(TableFormat::jsonl, "{\"t\": {\"de/at\": \"1\", \"en\": \"2\"}, \"/t\": \"3\"}\n",
                 {"/t/de~1at", "/t/en"}),
            (Rows{"1: 1|2"}));
  EXPECT_EQ(rows(TableFormat::jsonl, "{\"a\": \"x\\u0000\", \"b\": \"2\"}\n"),
            (Rows{"1: 'a' holds a NUL character"}));
}

/// As in CSV, where a class 1 is the text "1"; what is no text in any form is named.
TEST_F(TableFiles, OfJsonLinesHoldWholeNumbersAsTheirText) {
  EXPECT_EQ(rows(TableFormat::jsonl,
                 "{\"a\": -1, \"b\": 18446744073709551615}\n"
                 "{\"a\": true, \"b\": 0}\n"),
            (Rows{"1: -1|18446744073709551615", "2: true|0"}));
  EXPECT_EQ(rows(TableFormat::jsonl,
                 "{\"a\": \"\", \"b\": 0.5}\n{\"a\": null, \"b\": 1}\n"
                 "{\"a\": [1], \"b\": 1}\n"),
            (Rows{"1: 'b' is no string and no whole number, but 0.5",
                  "2: 'a' is no string and no whole number, but null",
                  "3: 'a' is no string and no whole number, but array"}));
  write("t", "{\"text\": \"red dog\", \"label\": 1}\n{\"text\": \"blue cat\", \"label\": 0}\n");
  EXPECT_EQ(
      read_labelled({.train = "t", .validation = "t", .test = "t", .format = TableFormat::jsonl},
                    folder_)
          .train,
      (std::vector<Example>{{"red dog", "1"}, {"blue cat", "0"}}));
}

TEST_F(TableFiles, OfJsonLinesNameHalfACharacterAndAnArray) {
  const std::string half =
      "the line holds half of a surrogate pair (\\ud800 to \\udfff without its other half), which "
      "is no character";
  EXPECT_EQ(rows(TableFormat::jsonl,
                 "{\"a\": \"\\ud83d\", \"b\": \"\"}\n"
                 "{\"a\": \"\\ude00 x\", \"b\": \"\"}\n"
                 "{\"a\": \"\\ud83d\\ude00\", \"b\": \"\"}\n"),
            (Rows{"1: " + half, "2: " + half, "3: \xf0\x9f\x98\x80|"}));
  EXPECT_EQ(rows(TableFormat::csv, "a,b\n\xed\xa0\xbd,1\n"),
            (Rows{"2: the line holds half of a surrogate pair (U+D800 to U+DFFF), which is no "
                  "character"}));
  const std::string array =
      "t is a JSON array, and JSON Lines have an object on each line; convert it: jq -c '.[]' "
      "FILE, "
      "or as docs/data.md shows";
  EXPECT_EQ(refusal(TableFormat::jsonl, "[\n  {\"a\": \"1\", \"b\": \"2\"}\n]\n"), array);
  EXPECT_EQ(refusal(TableFormat::jsonl, " [{\"a\": \"1\", \"b\": \"2\"}]\n"), array);
}

TEST_F(TableFiles, HaveEveryColumnOnce) {
  EXPECT_EQ(
      refusal(TableFormat::csv, "a,c\n1,2\n"),
      "t:1: the first line has to name the column 'b' once, and names a, c; see data.columns");
  EXPECT_EQ(refusal(TableFormat::tsv, "a\tb\tb\n"),
            "t:1: the first line has to name the column 'b' once, and names a, b, b; see "
            "data.columns");
  EXPECT_EQ(refusal(TableFormat::csv, ""), "t: the file is empty");
  EXPECT_EQ(refusal(TableFormat::jsonl, "{}", {"/a~"}), "data.columns: '/a~' is no JSON pointer");
}

TEST_F(TableFiles, GivePairsAndLeaveBadRowsOutIfAsked) {
  const std::string rows = "id,en,de\n1,\"one\ntwo\",eins\n2,,zwei\n3,three,drei\n";
  write("t.csv", rows);
  Text options{.train = {"t.csv"},
               .validation = {"t.csv"},
               .test = {"t.csv"},
               .format = TableFormat::csv,
               .columns = {"en", "de"}};
  EXPECT_EQ(message_of([&] { read_text(options, folder_); }),
            "t.csv:4: one side is empty; fix the line, or leave such lines out with "
            "data.bad_lines: skip");
  options.bad_lines = BadLine::skip;
  const auto corpus = read_text(options, folder_);
  EXPECT_EQ(corpus.train, (std::vector<Example>{{"one two", "eins"}, {"three", "drei"}}));
  EXPECT_EQ(corpus.skipped, 3);
}

TEST_F(TableFiles, GiveLabelsWithSpaces) {
  write("t.jsonl",
        "{\"text\": \"a film\", \"label\": \"very good\"}\n"
        "{\"text\": \"no film\", \"label\": \"bad\"}\n");
  const auto corpus = read_labelled({.train = "t.jsonl",
                                     .validation = "t.jsonl",
                                     .test = "t.jsonl",
                                     .format = TableFormat::jsonl},
                                    folder_);
  EXPECT_EQ(corpus.train, (std::vector<Example>{{"a film", "very good"}, {"no film", "bad"}}));
}

TEST_F(TableFiles, GiveRunningTextLineByLine) {
  write("t.jsonl", "{\"text\": \"one\\r\\n\\ntwo\\n\"}\n{\"text\": \"\"}\n{\"text\": \"three\"}\n");
  const Language options{.train = "t.jsonl", .validation = "t.jsonl", .format = TableFormat::jsonl};
  EXPECT_EQ(read_language(options, folder_).train,
            (std::vector<Example>{{"", "one"}, {"", ""}, {"", "two"}, {"", ""}, {"", "three"}}));
  write("t.jsonl", "{\"text\": \"one\"}\n{\"text\": null}\n");
  EXPECT_EQ(message_of([&] { read_language(options, folder_); }),
            "t.jsonl:2: 'text' is no string and no whole number, but null");
}

/// Only training pairs are left out: no score is of a part of a test set.
TEST_F(TableFiles, AreFilteredInTrainingAndCounted) {
  write("t.tsv", "one\teins\none\teins\none\tein\nü\täöüß\nü\täöü\n");
  Text options{.train = {"t.tsv"}, .validation = {"t.tsv"}, .test = {"t.tsv"}};
  options.filter = {.duplicates = true, .length_ratio = 3};
  const auto corpus = read_text(options, folder_);
  EXPECT_EQ(corpus.train, (std::vector<Example>{{"one", "eins"}, {"one", "ein"}, {"ü", "äöü"}}));
  EXPECT_EQ(corpus.repeated, 1);
  EXPECT_EQ(corpus.lopsided, 1);
  EXPECT_EQ(corpus.validation.size(), 5U);
  options.filter.length_ratio = 1;
  write("t.tsv", "one\teins\n");
  EXPECT_EQ(message_of([&] { read_text(options, folder_); }),
            "t.tsv: data.filter leaves no training pair");
}

}  // namespace
}  // namespace ablate::data
