#pragma once

namespace ablate::models {

/// Major compute capability of the first CUDA device that this process may use: 8 of Ampere, 9 of
/// Hopper. 0 where there is none, or none that can be asked.
int cuda_compute_capability();

}  // namespace ablate::models
