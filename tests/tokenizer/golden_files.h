#pragma once

#include <gtest/gtest.h>

#include <fstream>
#include <nlohmann/json.hpp>
#include <sstream>
#include <string>
#include <vector>

#include "tokenizer/text/unicode.h"

namespace ablate::tokenizer {

/// A file below tests/tokenizer.
inline std::string content(const std::string& name) {
  std::ifstream file(std::string(ABLATE_SOURCE) + "/tests/tokenizer/" + name, std::ios::binary);
  EXPECT_TRUE(file) << name;
  std::stringstream stream;
  stream << file.rdbuf();
  return stream.str();
}

/// The values of a file below tests/tokenizer that has one on each line.
inline std::vector<nlohmann::json> json_lines(const std::string& name) {
  std::istringstream stream(content(name));
  std::vector<nlohmann::json> values;
  for (std::string line; std::getline(stream, line);) values.push_back(nlohmann::json::parse(line));
  return values;
}

/// Bytes that are written as the characters of their numbers.
inline std::string from_latin1(const nlohmann::json& value) {
  std::string bytes;
  for (const auto point : code_points(value.get<std::string>())) bytes += static_cast<char>(point);
  return bytes;
}

}  // namespace ablate::tokenizer
