#include "tokenizer/utf8.h"

#include <gtest/gtest.h>

namespace ablate::tokenizer {
namespace {

TEST(Utf8, AcceptsExactlyWellFormedText) {
  for (const char* good :
       {"", "a", "\xc3\xa4", "\xe2\x82\xac", "\xf0\x9f\x99\x82", "\xf4\x8f\xbf\xbf"})
    EXPECT_TRUE(valid_utf8(good)) << good;
  for (const char* bad : {"\x80", "\xc3", "\xc0\x80", "\xe0\x80\x80", "\xed\xa0\x80",
                          "\xf4\x90\x80\x80", "\xf8\x88\x80\x80\x80", "a\xff"})
    EXPECT_FALSE(valid_utf8(bad)) << bad;
}

}  // namespace
}  // namespace ablate::tokenizer
