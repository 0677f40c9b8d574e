#pragma once

#include <torch/csrc/jit/api/module.h>

#include <string>
#include <vector>

#include "data/batch.h"
#include "experiments/config/schema/experiment.h"

namespace ablate::exchange {

/// Ids of inputs from the test set that an exported file carries, so that it can be checked
/// anywhere.
using ExportExamples = std::vector<data::EncodedExample>;

/// The contents of an Ablate TorchScript file besides the module.
struct ExportContents {
  config::Experiment experiment;
  data::Tokenizers tokenizers;
  ExportExamples examples;
  std::string weights;  // which checkpoint of which run
};

struct Archive {
  torch::jit::Module module;
  ExportContents contents;
};

/// The bytes of a TorchScript file that LibTorch and PyTorch load as any other. Its last 64 bytes
/// are the SHA-256 of all before. Extra files: config.yaml, source.model, target.model, labels.txt,
/// examples.json, ablate.json.
std::string to_archive(const torch::jit::Module& module, const ExportContents& contents);

/// The inverse. Throws CheckpointError as check_seal() does.
Archive from_archive(const std::string& bytes, const std::string& source);

}  // namespace ablate::exchange
