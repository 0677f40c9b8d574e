#pragma once

#include <array>
#include <cstddef>
#include <string_view>

#include "models/libtorch.h"

namespace ablate::training {

/// A tensor element's type in a safetensors file.
struct ElementType {
  std::string_view name;
  torch::ScalarType type;
  size_t bytes;
};

inline constexpr std::array kElementTypes = {
    ElementType{"F64", torch::kFloat64, 8}, ElementType{"I64", torch::kInt64, 8},
    ElementType{"F32", torch::kFloat32, 4}, ElementType{"I32", torch::kInt32, 4},
    ElementType{"F16", torch::kFloat16, 2}, ElementType{"BF16", torch::kBFloat16, 2},
    ElementType{"U8", torch::kUInt8, 1},    ElementType{"BOOL", torch::kBool, 1},
};

}  // namespace ablate::training
