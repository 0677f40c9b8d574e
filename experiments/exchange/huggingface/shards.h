#pragma once

#include <filesystem>

#include "training/checkpoint/safetensors.h"

namespace ablate::exchange {

/// All tensors of model.safetensors in the folder, or of the shards that
/// model.safetensors.index.json names; a LayerNorm's gamma and beta are its weight and bias, as in
/// Transformers. Throws CheckpointError if there is neither, if a shard is missing, if a tensor is
/// missing, in two shards or in another one than the index says, and if the folder holds only
/// pickles, no byte of which is read.
training::Tensors read_shards(const std::filesystem::path& folder);

}  // namespace ablate::exchange
