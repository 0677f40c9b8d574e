#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "training/checkpoint/format/element_type.h"

namespace ablate::training {

inline constexpr size_t kMaximumHeaderBytes = size_t{8} << 20U;
inline constexpr size_t kMaximumTensors = 65'536;
inline constexpr size_t kMaximumDimensions = 8;
inline constexpr size_t kMaximumNameBytes = 512;

/// Where one tensor lies in a safetensors file.
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
  std::string_view data;             // what follows the header
};

/// The layout of the file `bytes`. What it lists is safe to read: sizes follow from shapes and
/// cover the data exactly. Throws CheckpointError naming `source` and the tensor.
SafetensorsLayout parse_safetensors(std::string_view bytes, const std::string& source);

}  // namespace ablate::training
