#include "tokenizer/digest.h"

#include <gtest/gtest.h>

namespace ablate::tokenizer {
namespace {

// FIPS 180-4, appendix B.1.
constexpr const char* kOfAbc = "ba7816bf8f01cfea414140de5dae2223b00361a396177a9cb410ff61f20015ad";

TEST(Sha256, IsThatOfTheStandard) { EXPECT_EQ(sha256("abc"), kOfAbc); }

TEST(Digest, PartsGiveTheDigestOfTheWhole) {
  Digest digest;
  for (const auto* part : {"", "a", "bc", ""}) digest.add(part);
  EXPECT_EQ(digest.sha256(), kOfAbc);
}

}  // namespace
}  // namespace ablate::tokenizer
