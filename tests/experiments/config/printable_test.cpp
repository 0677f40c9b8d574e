#include <gtest/gtest.h>

#include "experiments/config/yaml/problem.h"

namespace ablate::config {
namespace {

TEST(Printable, KeepsWhatIsText) {
  const std::string text = "a\tb\nä € 𝄞 ~";
  EXPECT_EQ(printable(text), text);
  EXPECT_EQ(printable_line(text), "a?b?ä € 𝄞 ~");
}

TEST(Printable, HasAQuestionMarkForEveryByteThatNoTerminalShouldGet) {
  EXPECT_EQ(printable("\x1b[31mred\r\x7f"), "?[31mred??");
  EXPECT_EQ(printable("a\xc1z"), "a?z");             // begins nothing
  EXPECT_EQ(printable("\xe2\x82"), "??");            // ends too early
  EXPECT_EQ(printable("\xe0\x80\xaf"), "???");       // overlong
  EXPECT_EQ(printable("\xed\xa0\x80"), "???");       // half of a pair
  EXPECT_EQ(printable("\xf4\x90\x80\x80"), "????");  // beyond U+10FFFF
  EXPECT_EQ(printable("\xc2\x9b"
                      "31m"),
            "??31m");  // a control character of two bytes
}

TEST(Printable, ShowsATextInTheOrderInWhichItIsWritten) {
  EXPECT_EQ(printable("seed \u202e101\u202c"), "seed ???101???");
  EXPECT_EQ(printable("\u2066a\u2069\u2028b"), "???a??????b");
  EXPECT_EQ(printable("\u2014\u200d\u2030"), "\u2014\u200d\u2030");
}

}  // namespace
}  // namespace ablate::config
