#pragma once

#include <filesystem>
#include <functional>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

#include "data/text_encoder.h"
#include "experiments/config/schema/experiment.h"
#include "experiments/records/folders.h"
#include "models/transformer.h"
#include "training/inference/translator.h"
#include "training/weights.h"

namespace ablate::run {

/// Writes the tokenizers of source and target, or one file if both are the same.
void save_tokenizers(const records::RunFolder& run, const data::Tokenizers& tokenizers);

/// The tokenizers of a run; their SHA-256 must be the recorded ones. Throws TokenizerError.
data::Tokenizers load_tokenizers(const records::RunFolder& run);

/// The sizes of the model that reads and writes with these tokenizers.
models::Vocabulary vocabulary_of(const config::Experiment& experiment,
                                 const data::Tokenizers& tokenizers);

models::Transformer make_model(const config::Experiment& experiment,
                               const data::Tokenizers& tokenizers);

/// A trained run.
struct LoadedRun {
  config::Experiment experiment;
  models::Transformer model;
  data::Tokenizers tokenizers;
  data::SequenceFormat format;
  std::string weights;  // which checkpoint: "last", "best", ...

  /// A translator with a copy of the weights in `dtype`.
  training::Translator translator(models::WeightDtype dtype = models::WeightDtype::fp32) const {
    return {models::InferenceModel(model, dtype), tokenizers, format};
  }
};

/// `which` as for `--checkpoint`; empty: the configuration's choice. Throws CheckpointError if
/// `folder` is not a run folder.
LoadedRun load_run(const std::filesystem::path& folder, const std::string& which);

/// The same with the weights that a run of `own` starts from. Throws UsageError if that run does
/// not fit its training.init_from.
LoadedRun load_start(const std::filesystem::path& folder, const config::Experiment& own);

/// A run that was written without training.
struct NewRun {
  config::Experiment experiment;
  data::Tokenizers tokenizers;
  training::Weights weights;
  nlohmann::json environment;  // write_new_run() adds which program and machine made it
  std::map<std::string, std::string> files;  // further ones, name -> bytes
};

/// Makes a folder that appears complete or not at all: `fill` gets a temporary folder, which is
/// then renamed. Throws UsageError if `folder` exists, IoError if it cannot be written.
void write_folder(const std::filesystem::path& folder,
                  const std::function<void(const std::filesystem::path&)>& fill);

/// Writes a run folder with one checkpoint, of step 0, without the settings that only concern how
/// its weights were trained. Throws as write_folder.
void write_new_run(const std::filesystem::path& folder, const NewRun& run);

}  // namespace ablate::run
