#include "training/process/libtorch_version.h"

#include <gtest/gtest.h>

#include "tests/says.h"

namespace ablate::training {
namespace {

constexpr uint64_t kAbiOf2_13_1 = 0x020D010000000000;

TEST(LibtorchVersion, IsReadOffTheBytesOfTheAbiVersion) {
  EXPECT_EQ(version_of(kAbiOf2_13_1), (LibtorchVersion{2, 13, 1}));
  EXPECT_EQ(to_text(version_of(kAbiOf2_13_1)), "2.13.1");
}

TEST(LibtorchVersion, IsUnknownInAProcessWithoutLibtorch) {
  EXPECT_EQ(loaded_libtorch(), LibtorchVersion{});
  EXPECT_EQ(to_text(loaded_libtorch()), "unknown");
}

TEST(LibtorchVersion, MismatchesIfTheMinorOrTheMajorNumberDiffers) {
  EXPECT_EQ(mismatch({2, 13, 0}, {2, 13, 1}), "");
  for (const auto& other :
       {LibtorchVersion{2, 15, 0}, LibtorchVersion{3, 13, 0}, LibtorchVersion{}})
    EXPECT_TRUE(says(mismatch({2, 13, 0}, other), to_text(other)));
  EXPECT_EQ(mismatch({2, 13, 0}, {2, 15, 0}),
            "this program was built with LibTorch 2.13.0 and found version 2.15.0, whose interface "
            "differs: install torch 2.13 where it is, or build Ablate again");
}

}  // namespace
}  // namespace ablate::training
