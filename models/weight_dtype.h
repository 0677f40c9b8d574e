#pragma once

#include <array>
#include <stdexcept>
#include <string_view>
#include <utility>

namespace ablate::models {

/// Type in which inference holds the weights of its products.
enum class WeightDtype { fp32, bf16, int8 };

constexpr auto names(WeightDtype) {
  return std::to_array<std::pair<WeightDtype, std::string_view>>(
      {{WeightDtype::fp32, "fp32"}, {WeightDtype::bf16, "bf16"}, {WeightDtype::int8, "int8"}});
}

/// A dtype of weights that a device cannot compute with.
struct WeightDtypeError : std::runtime_error {
  using std::runtime_error::runtime_error;
};

}  // namespace ablate::models
