#pragma once

#include <fstream>
#include <map>
#include <nlohmann/json.hpp>
#include <string>

namespace ablate {

/// The values of a JSON file below tests/, which is read once.
inline const nlohmann::json& recorded(const std::string& file) {
  static std::map<std::string, nlohmann::json> files;
  if (!files.contains(file))
    files[file] = nlohmann::json::parse(std::ifstream(ABLATE_SOURCE "/tests/" + file));
  return files[file];
}

}  // namespace ablate
