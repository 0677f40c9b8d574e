#include "experiments/config/study/file_check.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include "tests/experiments/config/study_text.h"
#include "tests/says.h"

namespace ablate::config {
namespace {

const std::string kFiles =
    kHead + "base: {data: {task: text, train: [a.en, a.de], validation: [b.tsv], test: [c.tsv]}}\n";

std::string missing(const std::string& yaml, const std::filesystem::path& folder) {
  return replaced_everywhere(error_of(yaml, {.data_folder = folder, .with_files = true}),
                             folder.string() + "/", "DATA/");
}

TEST(FileCheck, NamesEveryFileThatIsNotThere) {
  const TemporaryFile present("one\teins\n", "c.tsv");
  std::ofstream(present.folder() / "a.en") << "one\n";
  const auto text = missing(kFiles, present.folder());
  const std::string where =
      "; relative paths start at the study's folder, or at the one that "
      "--data names";
  EXPECT_TRUE(says(text, "study.yaml:3:34: data.train: there is no DATA/a.de" + where));
  EXPECT_TRUE(says(text, "data.validation: there is no DATA/b.tsv" + where));
  EXPECT_FALSE(says(text, "there is no DATA/a.en"));
}

TEST(FileCheck, NamesAFileOnceHoweverManyArmsReadIt) {
  const TemporaryFile present("", "x");
  const auto text = missing(kFiles + "arms: {a: {}, b: {model.dropout: 0.2}}\n", present.folder());
  EXPECT_EQ(occurrences(text, "DATA/a.en;"), 1U) << text;
}

TEST(FileCheck, IsSilentWhereTheFilesAreThereOrNobodyAsks) {
  const TemporaryFile present("one\n", "a.en");
  for (const char* name : {"a.de", "b.tsv", "c.tsv"})
    std::ofstream(present.folder() / name) << "one\teins\n";
  EXPECT_EQ(missing(kFiles, present.folder()), "");
  EXPECT_EQ(error_of(kFiles), "");
}

/// Two arms break a rule each, two files are missing, and two have another form. Most of these are
/// used by several arms.
TEST(FileCheck, ReportsFilesTogetherWithBrokenRules) {
  const TemporaryFile present("one,eins\n", "c.tsv");
  std::ofstream(present.folder() / "b.tsv") << "one\teins\n";
  std::ofstream(present.folder() / "a.en") << "PAR1";
  const auto yaml = kFiles +
                    "arms:\n"
                    "  a: {model.dropout: 2}\n"
                    "  b: {model.layers: 0, data.validation: [b.parquet]}\n"
                    "  c: {data.train: [a.en, a.de]}\n";
  const TemporaryFile study(yaml);
  std::vector<std::string> found;
  for (const auto& problem : problems_of([&] {
         read_study(study.path(), {.data_folder = present.folder(), .with_files = true});
       }))
    found.push_back(fmt::format("{}:{} {} {}", problem.line, problem.column,
                                problem.of_data ? "data" : "rule",
                                problem.message.substr(0, problem.message.find(' '))));
  EXPECT_EQ(found,
            (std::vector<std::string>{"3:34 data data.train:", "3:34 data data.train:",
                                      "3:75 data data.test:", "5:22 rule model.dropout",
                                      "6:21 rule model.layers", "6:41 data data.validation:"}));
}

/// With a key of their form that cannot be read, files would be blamed for it.
TEST(FileCheck, SaysNothingOfFormsThatAreNotKnown) {
  const TemporaryFile present("a,b\n", "b.csv");
  const auto yaml = [](const std::string& format) {
    return kHead + "base: {data: {task: labelled, train: b.csv, validation: b.csv, test: b.csv" +
           format + "}}\n";
  };
  EXPECT_TRUE(
      says(missing(yaml(""), present.folder()), "data.train: DATA/b.csv:1: the line needs"));
  EXPECT_FALSE(says(missing(yaml(", format: cvs"), present.folder()), "b.csv:1"));
}

TEST(FileCheck, KnowsRunsAndWordVectors) {
  const TemporaryFile present("", "x");
  const auto text = [&](const std::string& training) {
    return missing(kTraining + training + "\n", present.folder());
  };
  EXPECT_TRUE(
      says(text("{init_from: {run: old}}"), "training.init_from.run: there is no DATA/old"));
  EXPECT_TRUE(says(text("{pretrained_embeddings: {source: v.txt}}"),
                   "training.pretrained_embeddings.source: there is no DATA/v.txt"));
}

TEST(FileCheck, SaysWhatATildeStandsFor) {
  setenv("HOME", "/home/u", 1);
  EXPECT_EQ(without_tilde("~/texts/a.en"),
            "; write /home/u/texts/a.en, since only a shell expands ~");
  EXPECT_EQ(without_tilde("~"), "; write /home/u, since only a shell expands ~");
  EXPECT_EQ(without_tilde("a~/b"), "");
  EXPECT_EQ(without_tilde("~other/b"), "");
}

}  // namespace
}  // namespace ablate::config
