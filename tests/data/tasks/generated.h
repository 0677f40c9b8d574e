#pragma once

#include <sstream>
#include <string>
#include <vector>

#include "data/corpus.h"

namespace ablate::data {

/// The examples of a task's first test set.
inline std::vector<Example> tested(const DataOptions& options) {
  return load(options, ".", 1).tests.front().examples;
}

inline std::vector<std::string> words(const std::string& text) {
  std::istringstream stream(text);
  std::vector<std::string> all;
  for (std::string word; stream >> word;) all.push_back(word);
  return all;
}

}  // namespace ablate::data
