#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

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

inline constexpr size_t kMaximumHeaderBytes = size_t{8} << 20U;
inline constexpr size_t kMaximumTensors = 65'536;
inline constexpr size_t kMaximumDimensions = 8;
inline constexpr size_t kMaximumNameBytes = 512;

/// The position of one tensor in a safetensors file.
struct TensorEntry {
  std::string name;
  ElementType type;
  std::vector<int64_t> shape;
  size_t begin = 0;  // in bytes from the end of the header
  size_t end = 0;
};

/// Whether a tensor may have this name: 1 to 512 printable ASCII characters, not "__metadata__".
bool valid_tensor_name(std::string_view name);

/// A safetensors file, taken apart.
struct SafetensorsLayout {
  std::vector<TensorEntry> entries;  // by their place in the data
  std::string_view data;             // the bytes after the header
};

/// The layout of the file `bytes`. The listed tensors are safe to read: sizes match shapes and
/// cover the data exactly. Throws CheckpointError naming `source` and the tensor.
SafetensorsLayout parse_safetensors(std::string_view bytes, const std::string& source);

}  // namespace ablate::training
