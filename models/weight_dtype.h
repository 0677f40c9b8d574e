#pragma once

#include <array>
#include <string_view>
#include <utility>

namespace ablate::models {

/// Type in which inference holds the weights of its products.
enum class WeightDtype { fp32, bf16 };

constexpr auto names(WeightDtype) {
  return std::to_array<std::pair<WeightDtype, std::string_view>>(
      {{WeightDtype::fp32, "fp32"}, {WeightDtype::bf16, "bf16"}});
}

}  // namespace ablate::models
