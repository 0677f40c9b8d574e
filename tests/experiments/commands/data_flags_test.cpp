#include "data/token_file.h"
#include "tests/experiments/program.h"
#include "tests/says.h"

namespace ablate::commands {
namespace {

/// `data show` and `data make` with a task that only flags describe.
class DataFlagsTest : public ProgramTest {
 protected:
  DataFlagsTest() {
    write_file(folder_ / "text.txt", "one\ntwo\nthree\nfour\n");
    write_file(folder_ / "labels.tsv", "red\ta\nblue\tb\n");
    write_file(folder_ / "labels.jsonl",
               "{\"body\": \"red\", \"stars\": 1}\n{\"body\": \"blue\", \"stars\": 0}\n");
    write_file(folder_ / "pairs.csv", "en,de\nred,rot\n");
    write_file(folder_ / "left.txt", "red\n");
    write_file(folder_ / "right.txt", "rot\n");
    write_file(folder_ / "a.bin",
               data::token_header(data::TokenType::uint16, 3) + std::string("\1\0\2\0\3\0", 6));
  }

  Outcome data(const std::string& words) const { return ablate("data " + words); }
};

TEST_F(DataFlagsTest, NameTheFilesOfEveryTask) {
  struct Case {
    std::string flags, shown;
  };
  for (const auto& [flags, shown] : {
           Case{"language --train text.txt --validation text.txt --test=text.txt",
                "train: 4 examples\n"},
           Case{"language --train text.txt --held-out 0.5", "train: 3 examples\n"},
           Case{"tokens --train a.bin --validation a.bin --test a.bin --vocabulary 4",
                "train: 3 tokens in a.bin\n"},
           Case{"labelled --train labels.tsv --validation labels.tsv --test labels.tsv",
                "  red\n    -> a\n"},
           Case{"labelled --train labels.jsonl --validation labels.jsonl --test labels.jsonl "
                "--format jsonl "
                "--columns-text body --columns-label stars",
                "  red\n    -> 1\n"},
           Case{"text --train left.txt right.txt --validation left.txt,right.txt --test left.txt "
                "--test right.txt",
                "  red\n    -> rot\n"},
           Case{"text --train pairs.csv --validation pairs.csv --test pairs.csv --format csv "
                "--columns-source en "
                "--columns-target de",
                "  red\n    -> rot\n"},
       }) {
    const auto outcome = data("show --task " + flags);
    EXPECT_EQ(outcome.code, 0) << flags << "\n" << outcome.output;
    EXPECT_TRUE(says(outcome.output, shown));
  }
  EXPECT_TRUE(ends(data("make --task labelled --train labels.tsv --validation labels.tsv --test "
                        "labels.tsv --output "
                        "out"),
                   0));
  EXPECT_EQ(read_file(folder_ / "out/labelled/train.tsv"), "red\ta\nblue\tb\n");
  EXPECT_EQ(data("make --task language --train text.txt --output out").code, 0);
  EXPECT_EQ(read_file(folder_ / "out/language/validation.tsv"), "four\n");
}

TEST_F(DataFlagsTest, ATestSetNamedAsAnotherSetHasAFileOfItsOwn) {
  write_file(folder_ / "train.tsv", "red\ta\n");
  write_file(folder_ / "validation.tsv", "blue\tb\n");
  for (const auto* name : {"train", "validation"})
    EXPECT_TRUE(ends(data(std::string("make --task text --train left.txt,right.txt --validation "
                                      "left.txt,right.txt --output out --test ") +
                          name + ".tsv"),
                     0));
  for (const auto* name : {"train", "validation"})
    EXPECT_EQ(read_file(folder_ / "out/text" / (std::string(name) + ".tsv")), "red\trot\n");
  EXPECT_EQ(read_file(folder_ / "out/text/test-train.tsv"), "red\ta\n");
  EXPECT_EQ(read_file(folder_ / "out/text/test-validation.tsv"), "blue\tb\n");
}

TEST_F(DataFlagsTest, OnlyPairsMayHoldNoTab) {
  write_file(folder_ / "code.txt", "if (a)\n\tb();\nc();\n\td();\n");
  EXPECT_TRUE(ends(data("make --task language --train code.txt --held-out 0.3 --output out"), 0));
  EXPECT_EQ(read_file(folder_ / "out/language/train.tsv") +
                read_file(folder_ / "out/language/validation.tsv"),
            read_file(folder_ / "code.txt"));
  write_file(folder_ / "two.jsonl",
             "{\"text\": \"a\", \"b\": \"c\", \"label\": 1}\n"
             "{\"text\": \"b\", \"b\": \"c\", \"label\": 0}\n");
  EXPECT_TRUE(ends(data("make --task labelled --train two.jsonl --validation two.jsonl --test "
                        "two.jsonl --format jsonl --columns-text-pair b --output out"),
                   3, "a side holds a tab, or a source is two texts"));
}

TEST_F(DataFlagsTest, AreRefusedWhereTheTaskTakesAnotherNumberOfFiles) {
  EXPECT_TRUE(ends(data("show --task language --train text.txt left.txt"), 2,
                   "--train: data.train must be text, not a list"));
}

TEST_F(DataFlagsTest, AMistakeIsToldAtTheFlagOfItsKey) {
  EXPECT_EQ(data("show --task labelled --train labels.tsv").output,
            "ablate: --test: data.test must name a file\n"
            "--validation: data.validation must name a file\n");
  EXPECT_TRUE(
      says(data("show --task language --train text.txt --held-out 0.5 --test-held-out 0.6").output,
           "ablate: --test-held-out: data.test_held_out must not"));
}

TEST_F(DataFlagsTest, TokensAreThoseOfTheVocabularyThatIsGiven) {
  for (const auto* verb : {"show", "make --output out"})
    EXPECT_TRUE(ends(
        data(std::string(verb) + " --task tokens --train a.bin --validation a.bin --vocabulary 3"),
        3, "a.bin: token 2 (byte 1028) is 3, which is no token of the vocabulary of 3"));
}

}  // namespace
}  // namespace ablate::commands
