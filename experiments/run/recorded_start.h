#pragma once

#include <nlohmann/json.hpp>

#include "experiments/records/run_start.h"
#include "models/libtorch.h"
#include "training/process/folder_claim.h"

namespace ablate::run {

/// The hardware and software of this process.
records::RunStart start_on(const torch::Device& device);

/// Keeps environment.json while a process works on its run: `facts`, and a further entry in
/// `starts`. Unless the process is killed, that entry records how the work ended, and the last
/// saved step.
class RecordedStart {
 public:
  /// Does not write after `owner` has lost the folder. Throws NotTheOwner and IoError.
  RecordedStart(records::RunFolder folder, nlohmann::json facts, records::RunStart start,
                const training::FolderClaim& owner);
  ~RecordedStart();
  RecordedStart(const RecordedStart&) = delete;
  RecordedStart& operator=(const RecordedStart&) = delete;

 private:
  void write() const;

  const training::FolderClaim& owner_;
  records::RunFolder folder_;
  nlohmann::json facts_;
  std::vector<records::RunStart> starts_;
};

/// The record of the model's current parameters.
records::InitialWeights initial_weights_of(const torch::nn::Module& model);

}  // namespace ablate::run
