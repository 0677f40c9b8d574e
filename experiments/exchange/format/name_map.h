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

/// Own name of a tensor -> its foreign tensors.
using Origins = std::map<std::string, Origin>;

/// Reads a map of names in YAML: own name -> foreign name, a list of foreign names, or
/// {name: one or a list, transpose: true}. Throws ConfigError with every problem: unknown keys,
/// names without a tensor, values other than true and false.
Origins read_origins(const std::filesystem::path& file);

/// A zip file with a comment of 64 bytes at its end: the SHA-256 of everything before it. REQUIRES:
/// a zip file without a comment.
std::string sealed(std::string zip);

/// Throws CheckpointError, naming `source`, for bytes that are not such a file, are cut off, or
/// have changed. Does not load the module.
void check_seal(const std::string& bytes, const std::string& source);

}  // namespace ablate::exchange
