#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "experiments/report/page/page.h"
#include "tests/experiments/program.h"
#include "tests/experiments/report/page/hostile_strings.h"
#include "tests/experiments/report/page/sample_report.h"
#include "tests/folder.h"

namespace ablate::report {
namespace {

using nlohmann::json;

/// What Chromium says of a page opened from disk; browser_check.py says how. Null without one.
json opened(const std::string& page) {
  const Folder folder;
  const auto file = folder.path / "report.html";
  write_file(file, page);
  const auto outcome = shell("timeout 120 /usr/bin/python3 " ABLATE_SOURCE
                             "/tests/experiments/report/page/browser_check.py " +
                             file.string());
  EXPECT_EQ(outcome.code, 0);
  const auto said = json::parse(outcome.output, nullptr, false);
  EXPECT_FALSE(said.is_discarded()) << outcome.output;
  return said.contains("skipped") ? json() : said;
}

class Browser : public testing::Test {
 protected:
  /// Fails where the page is not quiet, alone, and as narrow as the screen.
  void expect_good(const std::string& page) {
    const auto said = opened(page);
    if (said.is_null()) GTEST_SKIP() << "no chromium on this machine";
    EXPECT_EQ(said["console"], json::array());
    ASSERT_EQ(said["requests"].size(), 1U) << said;
    EXPECT_EQ(said["requests"][0].get<std::string>().substr(0, 7), "file://");
    EXPECT_EQ(said["overflow"],
              (json{{"320", 0}, {"390", 0}, {"1300", 0}, {"1400", 0}, {"paper", 0}}));
    EXPECT_EQ(said["images"]["broken"], 0);
    EXPECT_GT(said["images"]["pictures"], 0);
    EXPECT_NE(said["background"]["light"], said["background"]["dark"]);
  }
};

TEST_F(Browser, OpensAPageFromDiskQuietlyAndAtEveryWidth) {
  const auto report = sample_report();
  expect_good(report_page(report.evidence, report.data));
}

TEST_F(Browser, HostileWordsNeitherSpeakNorWidenThePage) {
  const auto strings = hostile_strings(200);
  size_t used = 0;
  const auto report = sample_report(
      [&](const std::string& words) { return strings[used++ % strings.size()] + words; });
  expect_good(report_page(report.evidence, report.data));
}

TEST_F(Browser, ABadPageIsSeenToBeBad) {
  const auto said = opened(
      "<!DOCTYPE html><html><head><meta http-equiv=\"Content-Security-Policy\" "
      "content=\"script-src 'none'\"></head><body><script>alert(1)</script>"
      "<img src=\"http://example.org/x.png\"><div style=\"width:2000px\">wide</div>"
      "<svg><image href=\"data:image/png;base64,AAAA\"/></svg></body></html>");
  if (said.is_null()) GTEST_SKIP() << "no chromium on this machine";
  EXPECT_GT(said["console"].size(), 0U);
  EXPECT_EQ(said["requests"].size(), 2U);
  EXPECT_GT(said["overflow"]["390"], 0);
  EXPECT_EQ(said["images"]["broken"], 1);
}

}  // namespace
}  // namespace ablate::report
