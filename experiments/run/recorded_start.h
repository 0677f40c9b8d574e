#pragma once

#include <nlohmann/json.hpp>

#include "experiments/records/run_start.h"
#include "models/libtorch.h"
#include "training/process/folder_claim.h"

namespace ablate::run {

/// What this process computes on.
records::RunStart start_on(const torch::Device& device);

/// Keeps environment.json while a process works on its run: `facts`, and in `starts` one entry more
/// than before. However the work ends, short of a killed process, that entry then says so, with the
/// last step that was saved.
class RecordedStart {
 public:
  /// Writes nothing once `owner` has lost the folder. Throws NotTheOwner and IoError.
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

}  // namespace ablate::run
