#include <sstream>

#include "experiments/config/study/study.h"
#include "experiments/config/yaml/problem.h"
#include "tests/fuzz/fuzz.h"

namespace ablate::fuzz {

/// Options --set, one a line.
void set(std::string_view bytes) {
  static const MemoryFile kFile;
  static const auto& kStudy = kFile.holding("name: s\nseeds: [1]\nbase: {data: {task: copy}}\n");
  config::Selection selection;
  std::istringstream lines{std::string(bytes)};
  for (std::string line; std::getline(lines, line);) selection.sets.push_back(line);
  may_throw<config::ConfigError>([&] { config::read_study(kStudy, selection); });
}

}  // namespace ablate::fuzz
