#include <gtest/gtest.h>

#include "tests/experiments/corpora/http_server.h"
#include "tests/experiments/program.h"
#include "tests/experiments/waiting.h"

namespace ablate::commands {
namespace {

using corpora::Asked;
using corpora::HttpServer;

constexpr size_t kShakespeare = 1'115'394;  // bytes of the one file

class FetchProgram : public ProgramTest {
 protected:
  std::string fetch(const std::string& arguments) const {
    return kProgram + " data fetch " + arguments + " 2>&1";
  }
  std::string fetch_from(const HttpServer& server) const {
    return fetch("tinyshakespeare --to " + to().string() + " --from " + server.url());
  }
  std::filesystem::path to() const { return folder_ / "to"; }
  bool has_corpus() const { return std::filesystem::exists(to() / "tinyshakespeare"); }
};

TEST_F(FetchProgram, WhatItCannotMeanIsAMistakeOfUse) {
  const std::vector<std::pair<std::string, std::string>> mistakes{
      {"tinyshakespear --to x",
       "there is no corpus 'tinyshakespear'; did you mean 'tinyshakespeare'?"},
      {"--to x", "name a corpus: tinyshakespeare, multi30k"},
      {"multi30k", "name the folder to fetch into with --to"},
      {"multi30k --to x --from " + to().string(), "--from: there is no folder"},
      {"multi30k --to x --from ftp://localhost",
       "--from takes a folder or a URL of http or https"}};
  for (const auto& [arguments, message] : mistakes) {
    const auto outcome = shell(fetch(arguments));
    EXPECT_EQ(outcome.code, 2) << arguments;
    EXPECT_NE(outcome.output.find(message), std::string::npos) << outcome.output;
  }
}

TEST_F(FetchProgram, ListsItsCorpora) {
  const auto outcome = shell(fetch("--list"));
  EXPECT_EQ(outcome.code, 0);
  for (const auto* name : {"tinyshakespeare", "multi30k", "debian-en-de", "debian-en-fr",
                           "debian-en-it", "debian-titles", "debian-sections", "cmudict"})
    EXPECT_NE(outcome.output.find(name), std::string::npos) << name;
}

TEST_F(FetchProgram, OtherBytesEndWithThreeAndABrokenServerWithSeven) {
  HttpServer liar([](const Asked&) {
    return HttpServer::Answer{corpora::response("200 OK", std::string(kShakespeare, 'x'))};
  });
  const auto lied = shell(fetch_from(liar));
  EXPECT_EQ(lied.code, 3) << lied.output;
  EXPECT_NE(lied.output.find("licence: Shakespeare's words are in the public domain."),
            std::string::npos);
  EXPECT_NE(lied.output.find("has the SHA-256"), std::string::npos) << lied.output;
  EXPECT_FALSE(has_corpus());

  HttpServer broken(
      [](const Asked&) { return HttpServer::Answer{corpora::response("503 Busy", "")}; });
  const auto failed = shell(fetch_from(broken));
  EXPECT_EQ(failed.code, 7) << failed.output;
  EXPECT_FALSE(has_corpus());
}

TEST_F(FetchProgram, AFolderThatCannotBeWrittenEndsWithSeven) {
  write_file(to(), "a file");
  HttpServer server([](const Asked&) { return HttpServer::Answer{""}; });
  EXPECT_EQ(shell(fetch_from(server)).code, 7);
}

TEST_F(FetchProgram, AfterCtrlCTheSameCommandContinues) {
  HttpServer server([](const Asked&) -> HttpServer::Answer {
    return {corpora::response("200 OK", std::string(1000, 'x'), kShakespeare), /*hold=*/true};
  });
  const auto process = start_process(fetch_from(server));
  const auto part = to() / ".fetch/86c4e6aa9db7c042-input.txt.part";
  ASSERT_TRUE(eventually([&] { return read_file(part).size() == 1000; }));
  kill(process, SIGINT);
  EXPECT_EQ(end_of(process), 75);
  EXPECT_EQ(read_file(part).size(), 1000U);
  EXPECT_FALSE(has_corpus());

  HttpServer other(
      [](const Asked&) { return HttpServer::Answer{corpora::response("404 Not Found", "")}; });
  shell(fetch_from(other));
  ASSERT_FALSE(other.asked().empty());
  EXPECT_EQ(other.asked()[0].from, 1000U);
}

TEST_F(FetchProgram, NoOtherVerbLoadsWhatItNeeds) {
  const auto loaded = shell("LD_TRACE_LOADED_OBJECTS=1 " + kProgram);
  EXPECT_NE(loaded.output.find("libc.so"), std::string::npos);
  for (const auto* library : {"libcurl", "libarchive", "libxml2"})
    EXPECT_EQ(loaded.output.find(library), std::string::npos) << library;
}

}  // namespace
}  // namespace ablate::commands
