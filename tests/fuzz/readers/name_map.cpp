#include "experiments/exchange/format/name_map.h"

#include "experiments/config/yaml/problem.h"
#include "experiments/errors.h"
#include "tests/fuzz/fuzz.h"

namespace ablate::fuzz {

/// The map of names that import takes.
void name_map(std::string_view bytes) {
  static const MemoryFile kFile;
  may_throw<config::ConfigError, UsageError>([&] {
    for (const auto& [name, origin] : exchange::read_origins(kFile.holding(bytes)))
      require(!origin.names.empty());
  });
}

}  // namespace ablate::fuzz
