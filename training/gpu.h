#pragma once

#include <cstdint>

namespace ablate::training {

/// GPUs that LibTorch can use here.
int64_t gpu_count();

}  // namespace ablate::training
