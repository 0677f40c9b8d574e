#include <gtest/gtest.h>

#include <functional>

#include "models/libtorch.h"
#include "tests/device/fake_cuda/counts.h"

namespace fake_cuda {
namespace {

/// What the call throws; empty if it throws nothing.
template <class Call>
std::string complaint(Call&& call) {
  try {
    call();
  } catch (const c10::Error& error) {
    return error.what_without_backtrace();
  }
  return "";
}

const auto kNumbers = torch::TensorOptions(torch::kCUDA);

TEST(StandIn, RefusesTensorsOfTwoDevicesInCudasWords) {
  const auto there = torch::ones({3, 3}, kNumbers), here = torch::ones({3, 3});
  const auto ids = torch::zeros({3}, torch::kLong), mask = torch::ones({3, 3}, torch::kBool);
  auto sum = torch::ones({3, 3}, kNumbers);
  const std::vector<std::function<void()>> mixtures = {
      [&] { there + here; },
      [&] { sum.add_(here); },
      [&] { torch::linear(there, here); },
      [&] { torch::matmul(here, there); },
      [&] {
        torch::cat({there, here});
      },
      [&] { torch::embedding(there, ids); },
      [&] { there.index_select(0, ids); },
      [&] { there.masked_fill(mask, 0.0); },
      [&] { torch::where(mask, there, there); },
      [&] { torch::layer_norm(there, {3}, here[0]); }};
  for (size_t i = 0; i < mixtures.size(); ++i)
    EXPECT_NE(complaint(mixtures[i])
                  .find("Expected all tensors to be on the same device, but "
                        "found at least two devices, cuda:0 and cpu!"),
              std::string::npos)
        << "mixture " << i;
}

TEST(StandIn, TakesWhatCudaTakesFromTheHost) {
  const auto there = torch::arange(9, kNumbers).view({3, 3});
  EXPECT_EQ(complaint([&] { there + torch::tensor(2.0); }), "") << "a single number";
  EXPECT_EQ(complaint([&] { there.index({torch::tensor({2, 0})}); }), "") << "indices";
}

TEST(StandInDeathTest, AHostThatFollowsADevicePointerDies) {
  const auto there = torch::ones({3}, kNumbers);
  const volatile float* numbers = there.const_data_ptr<float>();
  EXPECT_EXIT((void)numbers[0], testing::KilledBySignal(SIGSEGV), "");
}

TEST(StandIn, CountsWhatTheHostWaitsForAndWhatIsLaunched) {
  const auto reads = [](auto&& call) {
    const auto before = counts().reads;
    call();
    return counts().reads - before;
  };
  const auto x = torch::tensor({1.0, 0.0, 2.0}).to(torch::kCUDA);
  EXPECT_EQ(reads([&] { x.cpu(); }), 1);
  EXPECT_EQ(reads([&] { x.sum().item<double>(); }), 1);
  EXPECT_EQ(reads([&] { x.nonzero(); }), 1);
  EXPECT_EQ(reads([&] { torch::equal(x, x); }), 1);
  EXPECT_EQ(reads([&] { x.masked_select(x > 0); }), 1);
  EXPECT_GE(reads([&] { x.index({x > 0}); }), 1);
  EXPECT_EQ(reads([&] { (x + 1).relu_().unsqueeze(0).t().sum(); }), 0);
  const auto before = counts();
  (x + 1).unsqueeze(0).t().relu();  // two kernels and two views
  EXPECT_EQ(counts().launches - before.launches, 2);
  EXPECT_EQ(counts().writes - before.writes, 0);
  torch::ones({2}).to(torch::kCUDA);
  torch::ones({2}).pin_memory().to(torch::kCUDA);  // the host could go on, but does not
  torch::ones({2}).pin_memory().to(torch::kCUDA, /*non_blocking=*/true);
  torch::ones({2}).to(torch::kCUDA, /*non_blocking=*/true);  // has to be copied first
  EXPECT_EQ(counts().writes - before.writes, 4);
  EXPECT_EQ(counts().waiting_writes - before.waiting_writes, 3);
}

}  // namespace
}  // namespace fake_cuda
