#pragma once

#include <filesystem>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "experiments/run/load_run.h"

namespace ablate::exchange {

/// What a run's model depends on and its folder for Transformers cannot say, one sentence each, and
/// what a reader of its texts has to know.
std::vector<std::string> hub_notes(const run::LoadedRun& run, const std::string& architecture,
                                   torch::ScalarType type);

/// The model card: the model, the notes and, if they are of these weights, the scores of the run.
std::string hub_card(const std::filesystem::path& run, const run::LoadedRun& loaded,
                     const std::string& architecture, const std::vector<std::string>& notes);

/// generation_config.json: how the run was decoded (models::SearchOptions), with the special tokens
/// of its config.json. `order`: our id of each of the folder's tokens; `unwritten`: ours of those
/// besides padding and the start that no output has.
nlohmann::json hub_generation(const models::SearchOptions& decoding, const nlohmann::json& config,
                              const std::vector<int32_t>& order,
                              const std::vector<int64_t>& unwritten = {});

/// Most tokens of a sequence in the run's training; of an imported run without training the
/// max_position_embeddings that it came with, if there was one. Throws as recorded_environment().
std::optional<int64_t> trained_length(const std::filesystem::path& run,
                                      const run::LoadedRun& loaded);

}  // namespace ablate::exchange
