#include <gtest/gtest.h>

#include "training/tensorboard/event.h"

namespace ablate::training {
namespace {

/// RFC 3720, appendix B.4.
TEST(Crc32c, HasTheStandardsValues) {
  EXPECT_EQ(crc32c(std::string(32, '\0')), 0x8A9136AAU);
  EXPECT_EQ(crc32c(std::string(32, '\xFF')), 0x62A8AB43U);
  EXPECT_EQ(crc32c("123456789"), 0xE3069283U);
}

}  // namespace
}  // namespace ablate::training
