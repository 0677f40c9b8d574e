#include "data/read_corpus.h"
#include "tests/data/folder_test_case.h"

namespace ablate::data {
namespace {

class ParallelText : public FolderTestCase {
 protected:
  ParallelText() {
    write("good.en", "one\ntwo\n");
    write("good.de", "eins\nzwei\n");
  }
  Text options(const std::string& source = "good.en", const std::string& target = "good.de") {
    return {.train = {source, target},
            .validation = {"good.en", "good.de"},
            .test = {"good.en", "good.de"}};
  }
  std::string message(const Text& text) {
    return message_of([&] { read_text(text, folder_); });
  }
};

TEST_F(ParallelText, MayBeGzipAndHaveAnyLineEnds) {
  write_gzip("packed.gz",
             "\xef\xbb\xbf"
             "eins\r\nzwei");
  const auto corpus = read_text(options("good.en", "packed.gz"), folder_);
  EXPECT_EQ(corpus.train, (std::vector<Example>{{"one", "eins"}, {"two", "zwei"}}));
  EXPECT_EQ(corpus.tests[0].name, "good");
}

TEST_F(ParallelText, MayBeOneTsv) {
  write("pairs.tsv", "one\teins\ntwo\tzwei\n");
  auto text = options();
  text.train = {"pairs.tsv"};
  EXPECT_EQ(read_text(text, folder_).train,
            (std::vector<Example>{{"one", "eins"}, {"two", "zwei"}}));
}

TEST_F(ParallelText, AFileOfAnotherFormIsNamed) {
  write("pairs.csv", "one,eins\n");
  auto text = options();
  text.train = {"pairs.csv"};
  EXPECT_EQ(message(text),
            "pairs.csv:1: the line needs exactly one tab between source and target; by its name "
            "the file has another form: give data.format: csv; fix the line, or leave such lines "
            "out with data.bad_lines: skip");
  EXPECT_EQ(message_of([&] { check_beginning(text, folder_ / "pairs.csv", true); }), message(text));
}

TEST_F(ParallelText, EveryFaultIsNamedWithFileAndLine) {
  const std::string fix = "; fix the line, or leave such lines out with data.bad_lines: skip";
  const auto of = [&](const std::string& bytes, const std::string& name = "bad") {
    write(name, bytes);
    return message(options("good.en", name));
  };
  EXPECT_EQ(of("eins\n"),
            "good.en has 2 lines and bad has 1; line-parallel files need the same number");
  EXPECT_EQ(of(""), "bad: the file is empty");
  EXPECT_EQ(of("eins\n  \n"), "bad:2: the line is empty" + fix);
  EXPECT_EQ(of("eins\n\xff\xfe\n"), "bad:2: the line is not valid UTF-8" + fix);
  EXPECT_EQ(of(std::string("ei\0ns\nzwei\n", 11)), "bad:1: the line holds a NUL byte" + fix);
  EXPECT_EQ(of("eins\n" + std::string(70'000, 'x') + "\n"),
            "bad:2: the line has 70000 bytes, more than 65536 (data.max_line_bytes)" + fix);
  EXPECT_EQ(of(std::string("\x1f\x8b\x08\x00\x00\x00\x00\x00\x00\x03\x4b", 11), "cut.gz"),
            "cut.gz: the gzip archive is damaged or cut off");
  EXPECT_TRUE(message(options("good.en", "missing"))
                  .starts_with("missing: cannot be read: No such file or directory; check"));
}

TEST_F(ParallelText, BadLinesMayBeSkippedAndAreCounted) {
  write("mixed", "eins\n\xff\n");
  auto text = options("good.en", "mixed");
  text.bad_lines = BadLine::skip;
  const auto corpus = read_text(text, folder_);
  EXPECT_EQ(corpus.train.size(), 1U);
  EXPECT_EQ(corpus.skipped, 1);
}

TEST_F(ParallelText, TheFirstUsablePairsAreTrainedOn) {
  write("mixed.en", "\xff\none\ntwo\nthree\n");
  write("mixed.de", "null\neins\nzwei\ndrei\n");
  auto text = options("mixed.en", "mixed.de");
  text.bad_lines = BadLine::skip;
  text.train_pairs = 2;
  const auto corpus = read_text(text, folder_);
  EXPECT_EQ(corpus.train, (std::vector<Example>{{"one", "eins"}, {"two", "zwei"}}));
  EXPECT_EQ(corpus.validation.size(), 2U);
  text.train_pairs = 4;
  EXPECT_EQ(message(text),
            "mixed.en has 3 usable pairs, fewer than 4; lower data.train_pairs, or leave it out to "
            "use all");
}

TEST_F(ParallelText, OfUnicodeSpacesAloneIsAnEmptySide) {
  const auto words = write("words", "one\n");
  for (const std::string blank :
       {" ", "\t", "\xc2\xa0", "\xe3\x80\x80", "\xe2\x80\x83 ", "\xe2\x80\x8b", "\xe2\x96\x81"}) {
    int64_t skipped = 0;
    EXPECT_THROW(read_pairs({}, {write("blank", blank + "\n"), words}, skipped), DataError)
        << blank;
    for (const auto& line : {blank + "\tone\n", "one\t" + blank + "\n"})
      EXPECT_THROW(read_pairs({}, {write("blank.tsv", line)}, skipped), DataError) << line;
  }
}

TEST_F(ParallelText, TestPairsThatTrainingShowsAreCounted) {
  write("train.tsv", "one\teins\none\teins\ntwo\tzwei\n");
  write("test.tsv", "one\teins\none\teins\ntwo\tzwo\nthree\tdrei\n");
  const Text text{.train = {"train.tsv"}, .validation = {"train.tsv"}, .test = {"test.tsv"}};
  EXPECT_EQ(load(text, folder_, 1).tests.at(0).in_training, 2);
}

TEST_F(ParallelText, SetsAreNamedByTheStemOfTheirFile) {
  for (const auto& [name, stem] : {std::pair("news.2014.en.gz", "news.2014"),
                                   std::pair("dev.tsv", "dev"), std::pair("plain", "plain")}) {
    write(name, "one\teins\n");
    const auto corpus = read_text({.train = {name}, .validation = {name}, .test = {name}}, folder_);
    EXPECT_EQ(corpus.tests[0].name, stem);
  }
}

TEST(Multi30k, LoadsWhereTheDataIs) {
  const char* given = getenv("ABLATE_DATA");
  const std::filesystem::path folder =
      given != nullptr ? given : std::string(ABLATE_SOURCE) + "/../shared/data";
  if (!std::filesystem::exists(folder / "multi30k")) GTEST_SKIP() << "no multi30k in " << folder;
  const Text text{.train = {"multi30k/train.en.gz", "multi30k/train.de.gz"},
                  .validation = {"multi30k/val.en.gz", "multi30k/val.de.gz"},
                  .test = {"multi30k/test_2016_flickr.en.gz", "multi30k/test_2016_flickr.de.gz"}};
  const auto corpus = read_text(text, folder);
  EXPECT_EQ(corpus.train.size(), 29'000U);
  EXPECT_EQ(corpus.validation.size(), 1'014U);
  EXPECT_EQ(corpus.tests[0].examples.size(), 1'000U);
  EXPECT_EQ(corpus.tests[0].name, "test_2016_flickr");
  EXPECT_EQ(corpus.tests[0].length, 0);
}

}  // namespace
}  // namespace ablate::data
