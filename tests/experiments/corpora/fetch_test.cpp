#include "experiments/corpora/fetch.h"

#include <gtest/gtest.h>

#include "data/corpus.h"
#include "experiments/records/exit_code.h"
#include "tests/experiments/corpora/http_server.h"
#include "tests/experiments/program.h"
#include "tokenizer/digest.h"
#include "training/storage/io_error.h"

namespace ablate::corpora {
namespace {

class FetchTest : public ProgramTest {
 protected:
  static Source source_of(const std::string& path, const std::string& bytes) {
    return {path, bytes.size(), tokenizer::sha256(bytes)};
  }
  static Recipe recipe() {
    return {.name = "greetings",
            .about = "what people say",
            .licence = "Everybody may use it.",
            .comparable = "Comparable with nothing.",
            .roots = {"https://example.invalid"},
            .sources = {source_of("a/one.txt", "one"), source_of("b/two.txt", "two")},
            .make = [](const Files& sources) -> Made {
              return {.files = {{"train.en", sources.at("one.txt")},
                                {"test.en", sources.at("two.txt")}},
                      .counts = {{"pairs", 7}}};
            }};
  }
  static HttpServer::Answer serve(const Asked& asked) {
    if (asked.path == "/a/one.txt") return {answer_of(asked, "one")};
    if (asked.path == "/b/two.txt") return {answer_of(asked, "two")};
    return {response("404 Not Found", "")};
  }

  void fetch_from(const std::string& mirror, const Recipe& recipe = FetchTest::recipe()) {
    notes_.str("");
    fetch({.recipe = recipe, .to = folder_ / "to", .from = mirror, .notes = notes_});
  }
  std::string notes() const { return notes_.str(); }
  std::filesystem::path corpus() const { return folder_ / "to/greetings"; }

  std::ostringstream notes_;
};

TEST_F(FetchTest, WritesFilesAndARecordOfTheirSources) {
  HttpServer server(serve);
  fetch_from(server.url());
  EXPECT_EQ(read_file(corpus() / "train.en"), "one");
  EXPECT_EQ(read_file(corpus() / "test.en"), "two");
  const auto record = nlohmann::json::parse(read_file(corpus() / "corpus.json"));
  EXPECT_EQ(record["licence"], "Everybody may use it.");
  EXPECT_EQ(record["sources"][0]["url"], "https://example.invalid/a/one.txt");
  EXPECT_EQ(record["files"][1]["sha256"], tokenizer::sha256("one"));
  EXPECT_EQ(record["counts"]["pairs"], 7);
  EXPECT_EQ(record["sha256"], digest({{"train.en", "one"}, {"test.en", "two"}}));
}

TEST_F(FetchTest, TheLicenceIsShownBeforeAnythingIsAskedFor) {
  EXPECT_THROW(fetch_from("http://127.0.0.1:1"), training::IoError);
  EXPECT_NE(notes().find("licence: Everybody may use it.\n"), std::string::npos);
}

TEST_F(FetchTest, CountsAndWhatItComparesWithAreShown) {
  HttpServer server(serve);
  fetch_from(server.url());
  EXPECT_NE(notes().find("7 pairs\n"), std::string::npos);
  EXPECT_NE(notes().find("Comparable with nothing.\n"), std::string::npos);
}

TEST_F(FetchTest, TheDigestDependsOnNamesAndBytesAlone) {
  EXPECT_NE(digest({{"a", "x"}}), digest({{"b", "x"}}));
  EXPECT_NE(digest({{"a", "x"}}), digest({{"a", "y"}}));
  EXPECT_EQ(digest({{"a", "x"}, {"b", ""}}), digest({{"b", ""}, {"a", "x"}}));
}

TEST_F(FetchTest, OtherBytesThanThePublishedOnesAreNamed) {
  HttpServer server(serve);
  auto recipe = FetchTest::recipe();
  recipe.sha256 = std::string(64, '0');
  fetch_from(server.url(), recipe);
  EXPECT_NE(notes().find("warning: Ablate's published results"), std::string::npos);
}

TEST_F(FetchTest, AFailureLeavesNoCorpusAndTheSameCallAsksOnlyForTheRest) {
  {
    HttpServer half([](const Asked& asked) -> HttpServer::Answer {
      if (asked.path == "/a/one.txt") return {answer_of(asked, "one")};
      return {response("500 Broken", "")};
    });
    EXPECT_THROW(fetch_from(half.url()), training::IoError);
    EXPECT_FALSE(std::filesystem::exists(corpus()));
  }
  HttpServer server(serve);
  fetch_from(server.url());
  ASSERT_EQ(server.asked().size(), 1U);
  EXPECT_EQ(server.asked()[0].path, "/b/two.txt");
}

TEST_F(FetchTest, AfterwardsNoDownloadIsLeft) {
  HttpServer server(serve);
  fetch_from(server.url());
  std::vector<std::string> left;
  for (const auto& entry : std::filesystem::directory_iterator(folder_ / "to/.fetch"))
    left.push_back(entry.path().filename());
  EXPECT_EQ(left, std::vector<std::string>{".lock"});
}

TEST_F(FetchTest, ARecipeThatFailsLeavesNoCorpus) {
  HttpServer server(serve);
  auto recipe = FetchTest::recipe();
  recipe.make = [](const Files&) -> Made { throw data::DataError("no"); };
  EXPECT_THROW(fetch_from(server.url(), recipe), data::DataError);
  EXPECT_FALSE(std::filesystem::exists(corpus()));
}

TEST_F(FetchTest, AFileThatCannotBeWrittenLeavesNoCorpus) {
  HttpServer server(serve);
  auto recipe = FetchTest::recipe();
  recipe.make = [](const Files&) -> Made { return {.files = {{"absent/folder", "x"}}}; };
  EXPECT_THROW(fetch_from(server.url(), recipe), training::IoError);
  EXPECT_FALSE(std::filesystem::exists(corpus()));
  EXPECT_FALSE(std::filesystem::exists(folder_ / "to/.fetch/greetings"));
}

TEST_F(FetchTest, WhatAKilledFetchWasWritingIsWrittenAgain) {
  std::filesystem::create_directories(folder_ / "to/.fetch/greetings");
  write_file(folder_ / "to/.fetch/greetings/train.en", "half");
  HttpServer server(serve);
  fetch_from(server.url());
  EXPECT_EQ(read_file(corpus() / "train.en"), "one");
}

TEST_F(FetchTest, ACorpusThatIsThereIsVerifiedWithoutAServer) {
  HttpServer server(serve);
  fetch_from(server.url());
  fetch_from("http://127.0.0.1:1");
  EXPECT_NE(notes().find("7 pairs\n"), std::string::npos);
  write_file(corpus() / "train.en", "damaged");
  EXPECT_THROW(fetch_from(server.url()), data::DataError);
  write_file(corpus() / "corpus.json", "{");
  EXPECT_THROW(fetch_from(server.url()), data::DataError);
}

TEST_F(FetchTest, AFolderThatWasNotFetchedIsLeftAlone) {
  std::filesystem::create_directories(corpus());
  write_file(corpus() / "mine", "mine");
  EXPECT_THROW(fetch_from("http://127.0.0.1:1"), records::UsageError);
  EXPECT_EQ(read_file(corpus() / "mine"), "mine");
}

TEST_F(FetchTest, AMirrorIsAFolderOrAUrl) {
  EXPECT_THROW(fetch_from("ftp://example.invalid"), records::UsageError);
  EXPECT_THROW(fetch_from((folder_ / "absent").string()), records::UsageError);
  write_file(folder_ / "one.txt", "one");
  write_file(folder_ / "two.txt", "two");
  fetch_from(folder_.string());
  EXPECT_EQ(read_file(corpus() / "test.en"), "two");
}

}  // namespace
}  // namespace ablate::corpora
