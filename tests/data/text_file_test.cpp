#include "data/text_file.h"

#include "tests/data/folder_test_case.h"

namespace ablate::data {
namespace {

constexpr int64_t kLimit = 16;
const std::string kMark = "\xef\xbb\xbf";

class TextLine : public FolderTestCase {
 protected:
  Line first_line(const std::string& text) { return read_lines(write("text", text), kLimit)[0]; }
};

TEST_F(TextLine, OfExactlyTheLimitIsWholeWhateverStandsAroundIt) {
  const std::string text(kLimit, 'x');
  for (const auto& before : {std::string(), kMark})
    for (const std::string after : {"", "\n", "\r\n"}) {
      const auto line = first_line(before + text + after);
      EXPECT_EQ(line.text, text);
      EXPECT_EQ(line.fault, "");
    }
}

TEST_F(TextLine, OverTheLimitIsAFaultAlsoBehindAByteOrderMark) {
  for (const auto& before : {std::string(), kMark})
    for (const size_t extra : {1U, 2U, 3U, 4U, 5U, 100U})
      EXPECT_NE(first_line(before + std::string(kLimit + extra, 'x') + "\r\n").fault, "")
          << before.size() << " + " << extra;
}

}  // namespace
}  // namespace ablate::data
