#pragma once

#include <cstdint>
#include <filesystem>
#include <functional>
#include <limits>
#include <map>
#include <nlohmann/json.hpp>
#include <optional>
#include <set>
#include <string>
#include <vector>

#include "training/checkpoint/safetensors.h"
#include "training/storage/errors.h"

namespace ablate::training {

/// Everything that continues a training: weights, optimizer, the trainer's state, and files that
/// travel along (configuration, tokenizers) by name.
struct Checkpoint {
  int64_t step = 0;
  Tensors model, optimizer;
  nlohmann::json state;
  std::map<std::string, std::string> files;  // name -> bytes
};

/// A checkpoint's folder, not yet verified.
struct Found {
  std::filesystem::path path;
  int64_t step = 0;
};

/// Writes folder/step-00000500/ with model.safetensors, optimizer.safetensors, state.json, the
/// files and manifest.json (sizes and SHA-256). The folder appears complete or not at all, whenever
/// the process or the machine stops. An existing checkpoint of that step is replaced. Throws
/// IoError and leaves other checkpoints unchanged and no partial one.
void save_checkpoint(const std::filesystem::path& folder, const Checkpoint& checkpoint);

/// The checkpoint, each byte of which agrees with the manifest. Throws CheckpointError.
Checkpoint load_checkpoint(const std::filesystem::path& step_folder);

/// The checkpoints in `folder` by step, newest last; empty if the folder does not exist.
std::vector<Found> list_checkpoints(const std::filesystem::path& folder);

/// The newest checkpoint that verifies. Each newer one that does not is reported to `warn`. nullopt
/// if there is no checkpoint at all; throws CheckpointError if there are some and none verifies,
/// since starting again at step 0 would hide the loss.
std::optional<Checkpoint> load_newest(const std::filesystem::path& folder,
                                      const std::function<void(const std::string&)>& warn);

/// The checkpoints that stay.
struct KeptCheckpoints {
  int64_t newest = 1;            // number of those whose step is a multiple of `every`
  int64_t every = 1;             // REQUIRES: >= 1
  std::set<int64_t> steps = {};  // and those of these steps
  /// The step of the training, which could not use later ones: they are left alone.
  int64_t last = std::numeric_limits<int64_t>::max();
};

/// Removes all but the newest checkpoint up to `kept.last` and those that `kept` names, and the
/// leftovers of killed saves. Throws CheckpointError, without removing a checkpoint, unless the
/// newest one verifies. Waits for a save under way in `folder`. Throws IoError if a file cannot be
/// removed.
void prune_checkpoints(const std::filesystem::path& folder, const KeptCheckpoints& kept);

}  // namespace ablate::training
