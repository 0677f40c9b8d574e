#pragma once

#include <filesystem>
#include <map>
#include <string>
#include <vector>

namespace ablate::exchange {

/// The foreign tensors that make one of ours, one after the other in its rows.
struct Origin {
  std::vector<std::string> names;  // at least one
  bool transpose = false;
};

/// Own name of a tensor -> where it comes from.
using Origins = std::map<std::string, Origin>;

/// Reads a map of names in YAML: own name -> foreign name, a list of foreign names, or
/// {name: one or a list, transpose: true}. Throws ConfigError
/// with every problem: what is unknown, what names no tensor, what is neither true nor false.
Origins read_origins(const std::filesystem::path& file);

}  // namespace ablate::exchange
