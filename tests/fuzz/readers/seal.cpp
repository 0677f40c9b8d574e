#include "experiments/exchange/format/seal.h"

#include "tests/fuzz/fuzz.h"
#include "training/storage/errors.h"

namespace ablate::fuzz {

/// The end of a TorchScript file. A seal that was set is found.
void seal(std::string_view bytes) {
  may_throw<training::CheckpointError>([&] { exchange::check_seal(std::string(bytes), "model"); });
  exchange::check_seal(exchange::sealed("PK" + std::string(bytes) + "xx"), "sealed");
}

}  // namespace ablate::fuzz
