#include "models/kernel/isa.h"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

namespace ablate::models::kernel {
namespace {

int answer() { return 42; }

/// ctest runs this under each of the words.
TEST(Isa, IsNoWiderThanTheEnvironmentAllows) {
  const char* capability = std::getenv("ATEN_CPU_CAPABILITY");
  const std::string allowed = capability == nullptr ? "" : capability;
  EXPECT_LE(isa(), allowed == "default" ? Isa::any : allowed == "avx2" ? Isa::avx2 : Isa::avx512);
  EXPECT_EQ(isa() == Isa::any, allowed == "default" || !__builtin_cpu_supports("x86-64-v3"));
}

TEST(Isa, CallsOnTheWidestWhatItIsGiven) { EXPECT_EQ(on_widest<answer>(), 42); }

}  // namespace
}  // namespace ablate::models::kernel
