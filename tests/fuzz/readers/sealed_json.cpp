#include "tests/fuzz/fuzz.h"
#include "training/storage/finite_json.h"

namespace ablate::fuzz {

/// JSON with its own digest, also of what the bytes say when it is set anew.
void sealed_json(std::string_view bytes) {
  static const MemoryFile kFile, kSealed;
  may_throw<training::CheckpointError>([&] {
    auto object = training::read_sealed_json(kFile.holding(bytes));
    const auto& sealed = kSealed.holding(training::sealed_json(object));
    object.erase("sha256");
    require(training::read_sealed_json(sealed) == object);
  });
}

}  // namespace ablate::fuzz
