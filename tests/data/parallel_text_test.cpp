#include "data/parallel_text.h"

#include <gtest/gtest.h>
#include <stdlib.h>

#include <fstream>

#include "data/batch.h"

namespace ablate::data {
namespace {

class ParallelText : public testing::Test {
 protected:
  ParallelText() {
    std::string pattern = testing::TempDir() + "ablate-XXXXXX";
    folder_ = mkdtemp(pattern.data());
  }
  ~ParallelText() override { std::filesystem::remove_all(folder_); }
  std::filesystem::path file(const std::string& name, const std::string& text) {
    std::ofstream(folder_ / name, std::ios::binary) << text;
    return folder_ / name;
  }

  std::filesystem::path folder_;
};

TEST_F(ParallelText, OfUnicodeSpacesAloneIsAnEmptySide) {
  const auto words = file("words", "one\n");
  for (const std::string blank : {" ", "\t", "\xc2\xa0", "\xe3\x80\x80", "\xe2\x80\x83 "}) {
    int64_t skipped = 0;
    EXPECT_THROW(read_pairs({}, {file("blank", blank + "\n"), words}, skipped), DataError) << blank;
  }
}

TEST_F(ParallelText, SetsAreNamedByTheStemOfTheirFile) {
  for (const auto& [name, stem] : {std::pair("news.2014.en.gz", "news.2014"),
                                   std::pair("dev.tsv", "dev"), std::pair("plain", "plain")}) {
    file(name, "one\teins\n");
    const auto corpus = read_text({.train = {name}, .validation = {name}, .test = {name}}, folder_);
    EXPECT_EQ(corpus.tests[0].name, stem);
  }
}

TEST(Collate, RefusesASideWithoutItsEndMark) {
  const std::vector<EncodedExample> no_target{{{5, 2}, {}}}, no_source{{{}, {5, 2}}};
  EXPECT_THROW(collate(no_target, std::vector<int64_t>{0}), DataError);
  EXPECT_THROW(collate(no_source, std::vector<int64_t>{0}), DataError);
}

}  // namespace
}  // namespace ablate::data
