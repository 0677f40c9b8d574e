#pragma once

#include <cstdint>

namespace ablate::models::kernel {

/// Storage of a bfloat16 number, bit for bit that of c10::BFloat16.
struct Bfloat16 {
  uint16_t bits;
};

}  // namespace ablate::models::kernel
