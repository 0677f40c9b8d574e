#include "experiments/config/study/study.h"

#include "experiments/config/schema/printer.h"
#include "experiments/config/yaml/document.h"
#include "experiments/config/yaml/problem.h"
#include "tests/fuzz/fuzz.h"

namespace ablate::fuzz {

/// A study's file. The first of its runs, written out, is read as it was.
void study(std::string_view bytes) {
  static const MemoryFile kFile;
  config::Study read;
  may_throw<config::ConfigError>([&] { read = config::read_study(kFile.holding(bytes)); });
  if (read.runs.empty()) return;
  const auto& run = read.runs.front().experiment;
  const auto copy =
      config::read_experiment(std::make_shared<const config::Source>("copy", config::to_yaml(run)));
  require(config::differences(run, copy).empty());
}

}  // namespace ablate::fuzz
