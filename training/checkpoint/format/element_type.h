#pragma once

#include <array>
#include <cstddef>
#include <string_view>

namespace ablate::training {

enum class Element { f64, i64, f32, i32, f16, bf16, u8, boolean };

/// A tensor element's type in a safetensors file.
struct ElementType {
  std::string_view name;
  Element element;
  size_t bytes;
};

inline constexpr std::array kElementTypes = {
    ElementType{"F64", Element::f64, 8}, ElementType{"I64", Element::i64, 8},
    ElementType{"F32", Element::f32, 4}, ElementType{"I32", Element::i32, 4},
    ElementType{"F16", Element::f16, 2}, ElementType{"BF16", Element::bf16, 2},
    ElementType{"U8", Element::u8, 1},   ElementType{"BOOL", Element::boolean, 1},
};

}  // namespace ablate::training
