#include "training/checkpoint/format/manifest.h"

#include "tests/fuzz/fuzz.h"
#include "training/storage/errors.h"

namespace ablate::fuzz {

/// A checkpoint's manifest, and the files that it lists.
void manifest(std::string_view bytes) {
  static const MemoryFolder kFolder({"manifest.json"});
  may_throw<training::CheckpointError>([&] {
    const auto listed = training::read_manifest(kFolder.holding(bytes));
    require(training::to_json(listed) == bytes);
    for (const auto& [name, file] : listed.files)
      training::read_listed(kFolder.path(), listed, name);
  });
}

}  // namespace ablate::fuzz
