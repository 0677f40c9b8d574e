#include "tests/fuzz/fuzz.h"
#include "training/checkpoint/format/safetensors_header.h"
#include "training/storage/errors.h"

namespace ablate::fuzz {

/// A safetensors file. What its header lists lies in the data.
void safetensors(std::string_view bytes) {
  may_throw<training::CheckpointError>([&] {
    const auto layout = training::parse_safetensors(bytes, "weights");
    for (const auto& entry : layout.entries)
      require(entry.begin <= entry.end && entry.end <= layout.data.size());
  });
}

}  // namespace ablate::fuzz
