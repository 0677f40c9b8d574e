#include "data/text_file.h"

#include <unistd.h>

#include <utility>

#include "tests/data/folder_test_case.h"
#include "tokenizer/text/unicode.h"
#include "tokenizer/tokenizer.h"

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

TEST_F(TextLine, IsTheSameWhateverEndsItAndStandsBeforeIt) {
  const std::vector<std::string> wanted{"one", "", "two"};
  for (const std::string end : {"\n", "\r\n"})
    for (const auto& before : {std::string(), kMark})
      for (const auto& last : {std::string(), end}) {
        std::vector<std::string> texts;
        for (const auto& line :
             read_lines(write("text", before + "one" + end + end + "two" + last), kLimit)) {
          texts.push_back(line.text);
          EXPECT_EQ(line.fault, "");
        }
        EXPECT_EQ(texts, wanted) << before << end << last;
      }
}

TEST_F(TextLine, WithACarriageReturnWithinIsAFault) {
  EXPECT_EQ(first_line("a\rb\n").fault, "the line holds a carriage return that does not end it");
}

/// A pipe whose reading end is standard input, as long as it lives.
class PipedInput {
 public:
  PipedInput() : before_(dup(STDIN_FILENO)) {
    int ends[2];
    EXPECT_EQ(pipe(ends), 0);
    dup2(ends[0], STDIN_FILENO);
    close(ends[0]);
    to_ = ends[1];
  }
  ~PipedInput() {
    end();
    dup2(before_, STDIN_FILENO);
    close(before_);
  }
  PipedInput(const PipedInput&) = delete;
  PipedInput& operator=(const PipedInput&) = delete;
  void send(const std::string& bytes) const {
    EXPECT_EQ(write(to_, bytes.data(), bytes.size()), std::ssize(bytes));
  }
  void end() {
    if (to_ >= 0) close(std::exchange(to_, -1));
  }

 private:
  int before_, to_;
};

TEST(LineReader, GivesTheLinesThatHaveComeThoughTheInputGoesOn) {
  PipedInput input;
  LineReader reader(GzipFile::standard_input(), kLimit);
  input.send("one\r\ntwo\nthr");
  EXPECT_FALSE(reader.pauses());
  EXPECT_EQ(reader.next()->text, "one");
  EXPECT_FALSE(reader.pauses());
  EXPECT_EQ(reader.next()->text, "two");
  EXPECT_TRUE(reader.pauses()) << "half a line is no line";
  input.send("ee");
  EXPECT_TRUE(reader.pauses());
  input.end();
  EXPECT_FALSE(reader.pauses());
  EXPECT_EQ(reader.next()->text, "three");
  EXPECT_EQ(reader.place(), "standard input:3");
  EXPECT_FALSE(reader.next().has_value());
  EXPECT_FALSE(reader.pauses());
}

TEST(OneLine, HasNoLineEndsAndAFileOfTextsHasALineForEach) {
  EXPECT_EQ(one_line("a\nb\r\nc"), "a b  c");
  EXPECT_EQ(text_of(std::vector<std::string>{"a\nb", "", "c\r"}), "a b\n\nc \n");
}

TEST(Blank, IsWhatShowsNothing) {
  for (const std::string text :
       {"", " \t\r", "\xc2\xa0", "\xe3\x80\x80", "\xe2\x80\x8b\xe2\x80\x8d", "\xef\xbb\xbf",
        "\x01\x7f", "\xe2\x96\x81", "\xef\xbf\xbd", "\xc2\xad"})
    EXPECT_TRUE(blank(text)) << text;
  for (const std::string text : {"a", " . ", "\xc2\xa0-", "\xe2\x80\xa6", "\xcc\x81"})
    EXPECT_FALSE(blank(text)) << text;
}

TEST(Blank, IsEveryCharacterThatANormalisationLeavesWithoutAToken) {
  for (const auto rule : {tokenizer::Normalization::nmt_nfkc, tokenizer::Normalization::nmt_nfkc_cf,
                          tokenizer::Normalization::nfkc, tokenizer::Normalization::identity}) {
    const auto model =
        tokenizer::Tokenizer::train({.kind = tokenizer::Kind::character, .normalization = rule},
                                    std::vector<std::string>{"abc"});
    int64_t gone = 0;
    for (char32_t point = 1; point < 0x10000; ++point) {
      if (point >= 0xd800 && point < 0xe000) continue;
      std::string text;
      tokenizer::append_utf8(text, point);
      if (!model.encode(text).empty()) continue;
      ++gone;
      EXPECT_TRUE(blank(text)) << std::hex << static_cast<uint32_t>(point);
    }
    EXPECT_GT(gone, 0);
  }
}

}  // namespace
}  // namespace ablate::data
