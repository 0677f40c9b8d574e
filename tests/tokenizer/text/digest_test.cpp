#include "tokenizer/text/digest.h"

#include <gtest/gtest.h>

#include <fstream>

namespace ablate::tokenizer {
namespace {

/// NIST's examples of FIPS 180-4, and of its long messages.
TEST(Sha256, IsThatOfTheStandard) {
  EXPECT_EQ(sha256(""), "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855");
  EXPECT_EQ(sha256("abc"), "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad");
  EXPECT_EQ(sha256("abcdbcdecdefdefgefghfghighijhijkijkljklmklmnlmnomnopnopq"),
            "248d6a61d20638b8e5c026930c3e6039a33ce45964ff2167f6ecedd419db06c1");
  EXPECT_EQ(sha256("abcdefghbcdefghicdefghijdefghijkefghijklfghijklmghijklmn"
                   "hijklmnoijklmnopjklmnopqklmnopqrlmnopqrsmnopqrstnopqrstu"),
            "cf5b16a778af8380036ce59e7b0492370b249b11e8f07a51afac45037afee9d1");
  EXPECT_EQ(sha256(std::string(1'000'000, 'a')),
            "cdc76e5c9914fb9281a1c7e284d73e67f1809a48a497200e046d39ccc7112cd0");
}

TEST(Base64, IsThatOfRfc4648) {
  EXPECT_EQ(base64(""), "");
  EXPECT_EQ(base64("f"), "Zg==");
  EXPECT_EQ(base64("fo"), "Zm8=");
  EXPECT_EQ(base64("foo"), "Zm9v");
  EXPECT_EQ(base64("foobar"), "Zm9vYmFy");
  EXPECT_EQ(base64("\xff\xfe\xfd"), "//79");
}

/// The bytes of golden/digests.py.
std::string bytes_of(size_t size) {
  std::string bytes;
  for (size_t i = 0; i < size; ++i) bytes += static_cast<char>((7 * i + size) % 256);
  return bytes;
}

TEST(Sha256, EqualsPythonsOfEverySizeAroundABlock) {
  std::ifstream file(std::string(ABLATE_SOURCE) + "/tests/tokenizer/text/golden/digests.tsv");
  int rows = 0;
  for (size_t size = 0; file >> size; ++rows) {
    std::string expected;
    file >> expected;
    EXPECT_EQ(sha256(bytes_of(size)), expected) << size;
  }
  EXPECT_EQ(rows, 133);
}

TEST(Digest, PartsGiveTheDigestOfTheWholeWhereverTheyMeet) {
  const auto bytes = bytes_of(150);
  for (size_t first = 0; first <= bytes.size(); ++first)
    for (const size_t second : {size_t{0}, size_t{1}, size_t{63}, size_t{64}, size_t{65}}) {
      Digest digest;
      const auto middle = std::min(first + second, bytes.size());
      digest.add(std::string_view(bytes).substr(0, first));
      digest.add(std::string_view(bytes).substr(first, middle - first));
      digest.add(std::string_view(bytes).substr(middle));
      EXPECT_EQ(digest.sha256(), sha256(bytes)) << first << ' ' << second;
    }
}

}  // namespace
}  // namespace ablate::tokenizer
