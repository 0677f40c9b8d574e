#include <gtest/gtest.h>
#include <stdlib.h>

#include <filesystem>
#include <fstream>

#include "data/text_file.h"

namespace ablate::data {
namespace {

constexpr int64_t kLimit = 16;
const std::string kMark = "\xef\xbb\xbf";

Line first_line(const std::string& text) {
  std::string pattern = testing::TempDir() + "ablate-XXXXXX";
  const std::filesystem::path folder = mkdtemp(pattern.data());
  std::ofstream(folder / "text", std::ios::binary) << text;
  auto line = read_lines(folder / "text", kLimit)[0];
  std::filesystem::remove_all(folder);
  return line;
}

TEST(TextLine, OfExactlyTheLimitIsWholeWhateverStandsAroundIt) {
  const std::string text(kLimit, 'x');
  for (const auto& before : {std::string(), kMark})
    for (const std::string after : {"", "\n", "\r\n"}) {
      const auto line = first_line(before + text + after);
      EXPECT_EQ(line.text, text);
      EXPECT_EQ(line.fault, "");
    }
}

TEST(TextLine, OverTheLimitIsAFaultAlsoBehindAByteOrderMark) {
  for (const auto& before : {std::string(), kMark})
    for (const size_t extra : {1U, 2U, 3U, 4U, 5U, 100U})
      EXPECT_NE(first_line(before + std::string(kLimit + extra, 'x') + "\r\n").fault, "")
          << before.size() << " + " << extra;
}

}  // namespace
}  // namespace ablate::data
