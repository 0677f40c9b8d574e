#pragma once

namespace ablate::models {

/// Type in which decoding holds the weights of its products.
enum class WeightDtype { fp32, bf16, int8 };

}  // namespace ablate::models
