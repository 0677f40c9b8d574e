#pragma once

#include <filesystem>
#include <string>

#include "experiments/exchange/agreement.h"
#include "experiments/run/load_run.h"

namespace ablate::exchange {

struct ExportRequest {
  std::filesystem::path run, to;
  std::string checkpoint;                  // as for load_run
  std::string data;                        // folder of relative data paths; empty: as in training
  torch::ScalarType type = torch::kFloat;  // or bfloat16
};

/// Writes the run's model as a TorchScript file, reloads it, and compares it with the model on
/// inputs of the run's data (random ids if the data is gone, with a message). Throws UsageError if
/// `to` exists, CheckpointError if the two differ; it then leaves no file.
Agreement export_torchscript(const ExportRequest& request, std::ostream& messages);

struct VerifyRequest {
  std::filesystem::path file;
  std::string sha256;    // of the whole file, as its exporter names it; empty: not given
  bool trusted = false;  // load it with any digest
};

/// Checks that the file is whole, builds its model anew from the configuration and weights in it,
/// and compares again. A TorchScript file is a program: none of it is loaded unless its digest is
/// the given one or it is trusted. Throws UsageError if neither is given, and CheckpointError on
/// any difference.
Agreement verify_torchscript(const VerifyRequest& request);

/// Writes a folder with model.safetensors, config.yaml and the tokenizers. It appears complete or
/// not at all.
void export_safetensors(const ExportRequest& request);

struct ImportRequest {
  std::filesystem::path from, to;  // a folder of export_safetensors, or a .safetensors file
  std::filesystem::path config, tokenizers, names;  // for a file of another project
};

/// Makes a run folder from weights. `names` is YAML: own name -> foreign name, a list of foreign
/// names whose rows are concatenated, or {name, transpose: true}. Returns the number of unused
/// tensors of the file. Throws CheckpointError naming the tensor that is missing or has another
/// shape.
int64_t import_safetensors(const ImportRequest& request);

}  // namespace ablate::exchange
