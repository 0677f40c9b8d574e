#include "experiments/corpora/download.h"

#include <gtest/gtest.h>

#include <fstream>
#include <semaphore>

#include "data/corpus.h"
#include "experiments/corpora/transfer.h"
#include "tests/experiments/corpora/http_server.h"
#include "tests/experiments/program.h"
#include "tokenizer/digest.h"
#include "training/storage/io_error.h"

namespace ablate::corpora {
namespace {

const std::string kFile = "a file of some bytes: " + std::string(5000, 'x') + "end";

class Download : public ProgramTest {
 protected:
  static Source source() { return {"pool/file.deb", kFile.size(), tokenizer::sha256(kFile)}; }

  std::string from(const std::vector<std::string>& roots, bool flat = false) {
    return download(source(), {.roots = roots, .flat = flat, .patience = 1}, folder_,
                    [this](uint64_t bytes) { progress_.push_back(bytes); });
  }
  std::string from(HttpServer& server) { return from({server.url()}); }

  /// What an error of this kind says.
  template <class Error>
  std::string refusal(HttpServer& server) {
    try {
      from(server);
    } catch (const Error& error) {
      return error.what();
    }
    return "nothing was thrown";
  }

  std::filesystem::path part() const {
    return folder_ / (source().sha256.substr(0, 16) + "-file.deb.part");
  }

  std::vector<uint64_t> progress_;
};

TEST_F(Download, BringsAFileAndTellsOfItsProgress) {
  HttpServer server([](const Asked& asked) -> HttpServer::Answer {
    return {asked.path == "/pool/file.deb" ? answer_of(asked, kFile)
                                           : response("404 Not Found", "")};
  });
  EXPECT_EQ(from(server), kFile);
  ASSERT_FALSE(progress_.empty());
  EXPECT_EQ(progress_.back(), kFile.size());
}

TEST_F(Download, ATruncatedTransferContinuesWhereItStopped) {
  HttpServer server([](const Asked& asked) -> HttpServer::Answer {
    if (asked.from) return {answer_of(asked, kFile)};
    return {response("200 OK", kFile.substr(0, 100), kFile.size())};
  });
  EXPECT_NE(refusal<training::IoError>(server).find("after 100 of 5025 bytes; the same command"),
            std::string::npos);
  EXPECT_EQ(read_file(part()), kFile.substr(0, 100));
  EXPECT_EQ(from(server), kFile);
  EXPECT_EQ(server.asked().back().from, 100U);
}

TEST_F(Download, AConnectionThatEndsWithoutALengthContinues) {
  HttpServer server([](const Asked& asked) -> HttpServer::Answer {
    if (asked.from) return {answer_of(asked, kFile)};
    return {"HTTP/1.0 200 OK\r\n\r\n" + kFile.substr(0, 10)};
  });
  EXPECT_NE(refusal<training::IoError>(server).find("too early after 10 of"), std::string::npos);
  EXPECT_EQ(from(server), kFile);
}

TEST_F(Download, AServerWithoutRangesIsReadFromTheBeginning) {
  write_file(part(), kFile.substr(0, 100));
  HttpServer server([](const Asked&) { return HttpServer::Answer{response("200 OK", kFile)}; });
  EXPECT_EQ(from(server), kFile);
  EXPECT_EQ(server.asked().front().from, 100U);
}

TEST_F(Download, APartThatTheServerCannotContinueBeginsAgain) {
  write_file(part(), kFile.substr(0, 100));
  HttpServer server([](const Asked& asked) -> HttpServer::Answer {
    return {asked.from ? response("416 Range Not Satisfiable", "") : response("200 OK", kFile)};
  });
  EXPECT_EQ(from(server), kFile);
}

TEST_F(Download, APartOfOtherBytesIsThrownAwayAndTheNextAttemptBeginsAgain) {
  write_file(part(), "not how the file begins");
  HttpServer server([](const Asked& asked) { return HttpServer::Answer{answer_of(asked, kFile)}; });
  EXPECT_NE(refusal<data::DataError>(server).find("SHA-256"), std::string::npos);
  EXPECT_FALSE(std::filesystem::exists(part()));
  EXPECT_EQ(from(server), kFile);
}

TEST_F(Download, AllThatHasComeIsNotAskedForAgain) {
  write_file(part(), kFile);
  HttpServer server([](const Asked&) { return HttpServer::Answer{response("500 Broken", "")}; });
  EXPECT_EQ(from(server), kFile);
  EXPECT_TRUE(server.asked().empty());
}

TEST_F(Download, AServerThatLiesIsToldByWhatItSends) {
  std::string other = kFile;
  other[1000] = 'y';
  const std::vector<std::pair<std::string, std::string>> lies{
      {"has the SHA-256", response("200 OK", other)},
      {"has another size than 5025 bytes", response("200 OK", kFile + "more")},
      {"has another size than 5025 bytes", response("200 OK", kFile.substr(1))},
      {"has another size than 5025 bytes", "HTTP/1.0 200 OK\r\n\r\n" + kFile + "more"},
      {"has another size than 5025 bytes", response("200 OK", "")},
      {"is a web page", response("200 OK", "<!DOCTYPE html><html>Please log in</html>")},
      {"is a web page", response("200 OK", "\n<html>" + std::string(kFile.size() - 7, ' '))}};
  for (const auto& [why, bytes] : lies) {
    HttpServer server([&bytes = bytes](const Asked&) { return HttpServer::Answer{bytes}; });
    EXPECT_NE(refusal<data::DataError>(server).find(why), std::string::npos) << why;
    EXPECT_FALSE(std::filesystem::exists(part())) << why;
  }
}

TEST_F(Download, AServerThatIsBrokenIsAFailureOfInputAndOutput) {
  const std::vector<std::pair<std::string, std::string>> faults{
      {"the server answers 404", response("404 Not Found", "<html>no</html>")},
      {"the server answers 503", response("503 Service Unavailable", "")},
      {"after 0 of 5025 bytes", ""},
      {"after 0 of 5025 bytes", "gibberish\r\n\r\n"},
      {"redirects",
       "HTTP/1.1 302 Found\r\nLocation: /again\r\nContent-Length: 0\r\n"
       "Connection: close\r\n\r\n"},
      {"rotocol",
       "HTTP/1.1 302 Found\r\nLocation: file:///etc/passwd\r\nContent-Length: 0\r\n"
       "Connection: close\r\n\r\n"}};
  for (const auto& [why, bytes] : faults) {
    HttpServer server([&bytes = bytes](const Asked&) { return HttpServer::Answer{bytes}; });
    EXPECT_NE(refusal<training::IoError>(server).find(why), std::string::npos)
        << why << ": " << refusal<training::IoError>(server);
  }
}

TEST_F(Download, ARedirectIsFollowed) {
  HttpServer server([](const Asked& asked) -> HttpServer::Answer {
    if (asked.path == "/real") return {answer_of(asked, kFile)};
    return {
        "HTTP/1.1 301 Moved\r\nLocation: /real\r\nContent-Length: 0\r\nConnection: "
        "close\r\n\r\n"};
  });
  EXPECT_EQ(from(server), kFile);
}

TEST_F(Download, AServerThatSendsNoMoreIsGivenUpAndWhatCameIsKept) {
  HttpServer server([](const Asked&) -> HttpServer::Answer {
    return {response("200 OK", kFile.substr(0, 4000), kFile.size()), /*hold=*/true};
  });
  Transfer::Clock::time_point time;
  const auto leaping = [&] { return time += std::chrono::seconds(20); };
  const auto never = [&] { return time; };
  Transfer transfer{.url = server.url(), .part = part(), .bytes = kFile.size(), .now = never};
  transfer.progress = [&](uint64_t) { transfer.now = leaping; };
  try {
    bring(transfer);
    FAIL();
  } catch (const training::IoError& error) {
    EXPECT_STREQ(
        error.what(),
        "the server sent fewer than 1000 bytes in 60 seconds after 4000 of 5025 bytes; the "
        "same command continues there");
  }
  EXPECT_EQ(read_file(part()), kFile.substr(0, 4000));
}

TEST_F(Download, AServerThatSendsAByteNowAndThenIsGivenUpToo) {
  std::counting_semaphore<> wanted(1);
  HttpServer server([&](const Asked&) -> HttpServer::Answer {
    return {response("200 OK", kFile), /*hold=*/false, [&] { wanted.acquire(); }};
  });
  Transfer::Clock::time_point time;
  Transfer transfer{.url = server.url(), .part = part(), .bytes = kFile.size()};
  transfer.now = [&] { return time; };
  transfer.progress = [&](uint64_t) {
    time += std::chrono::seconds(59);
    wanted.release();
  };
  EXPECT_THROW(bring(transfer), training::IoError);
  EXPECT_EQ(read_file(part()), kFile.substr(0, read_file(part()).size()));
  EXPECT_LT(read_file(part()).size(), 1000U);
  wanted.release(std::ssize(kFile));
}

TEST_F(Download, TheNextMirrorIsAskedWhereOneHasOtherBytes) {
  HttpServer liar([](const Asked&) { return HttpServer::Answer{response("200 OK", "lies")}; });
  HttpServer server([](const Asked& asked) { return HttpServer::Answer{answer_of(asked, kFile)}; });
  EXPECT_EQ(from({liar.url(), server.url() + "/"}), kFile);
}

TEST_F(Download, AFolderIsAMirrorByPathAndByName) {
  std::filesystem::create_directories(folder_ / "mirror/pool");
  write_file(folder_ / "mirror/pool/file.deb", kFile);
  write_file(folder_ / "file.deb", kFile);
  EXPECT_EQ(from({(folder_ / "mirror").string()}), kFile);
  EXPECT_EQ(from({folder_.string()}, /*flat=*/true), kFile);
  EXPECT_THROW(from({folder_.string()}), training::IoError);
  write_file(folder_ / "file.deb", "other");
  EXPECT_THROW(from({folder_.string()}, /*flat=*/true), data::DataError);
}

TEST_F(Download, AFolderThatCannotBeWrittenIsAFailureOfInputAndOutput) {
  HttpServer server([](const Asked& asked) { return HttpServer::Answer{answer_of(asked, kFile)}; });
  folder_ /= "absent";
  EXPECT_NE(refusal<training::IoError>(server).find("cannot create"), std::string::npos);
  folder_ = folder_.parent_path();
}

}  // namespace
}  // namespace ablate::corpora
