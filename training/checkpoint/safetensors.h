#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <string_view>

#include "models/libtorch.h"
#include "training/storage/errors.h"

namespace ablate::training {

using Tensors = std::map<std::string, torch::Tensor>;

/// The bytes of a safetensors file (the public format) with the values of `tensors` bit for bit.
/// Tensors of any device and layout in f64, f32, f16, bf16, i64, i32, u8 or bool. Throws
/// CheckpointError for other types and for names that the reader would refuse.
std::string to_safetensors(const Tensors& tensors,
                           const std::map<std::string, std::string>& metadata = {});

/// The tensors, on the CPU, sharing no memory with `bytes`. Throws CheckpointError, naming `source`
/// and the tensor, for anything but a well-formed file: header of at most 8 MiB, no duplicate keys,
/// known types, at most 8 dimensions and 65,536 tensors, offsets without gap or overlap up to the
/// end.
Tensors from_safetensors(std::string_view bytes, const std::string& source);

/// `from_safetensors` of a file; throws IoError if it cannot be read.
Tensors read_safetensors(const std::filesystem::path& path);

}  // namespace ablate::training
