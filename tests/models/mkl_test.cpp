#include <dlfcn.h>
#include <gtest/gtest.h>

#include "models/hardware.h"
#include "models/libtorch.h"

namespace ablate::models {
namespace {

extern "C" int mkl_serv_intel_cpu_true();

class AllowedAgain {
 public:
  ~AllowedAgain() { allow_mkl_fast_path(true); }
};

bool answer(bool allowed) {
  const AllowedAgain later;
  allow_mkl_fast_path(allowed);
  EXPECT_EQ(mkl_serv_intel_cpu_true() != 0, mkl_takes_fast_path());
  return mkl_takes_fast_path();
}

TEST(Mkl, TakesTheFastPathOnAmdOnlyWhereItIsAllowed) {
#ifdef __x86_64__
  const bool intel = __builtin_cpu_is("intel");
  EXPECT_EQ(answer(false), intel);
  EXPECT_EQ(answer(true), intel || (__builtin_cpu_is("amd") && __builtin_cpu_supports("avx2")));
#else
  EXPECT_FALSE(answer(true));
#endif
}

/// LibTorch's library looks the function up where dlsym does.
TEST(Mkl, AsksTheProgram) {
  EXPECT_EQ(dlsym(RTLD_DEFAULT, "mkl_serv_intel_cpu_true"),
            reinterpret_cast<void*>(&mkl_serv_intel_cpu_true));
}

TEST(Mkl, ProductsAreRightToRounding) {
  for (const auto& [rows, inner, columns] :
       {std::tuple{1, 64, 64}, {8, 512, 2048}, {33, 257, 129}, {256, 128, 1000}}) {
    const auto a = torch::randn({rows, inner}), b = torch::randn({inner, columns});
    const auto expected = a.to(torch::kFloat64).mm(b.to(torch::kFloat64));
    const auto bound = 1.2e-7 * inner * a.abs().to(torch::kFloat64).mm(b.abs().to(torch::kFloat64));
    EXPECT_TRUE(((a.mm(b) - expected).abs() <= bound).all().item<bool>())
        << rows << " x " << inner << " x " << columns;
  }
}

}  // namespace
}  // namespace ablate::models
