#pragma once

#include <cmath>
#include <fstream>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "models/libtorch.h"

namespace ablate::models {

/// The contents of golden/formulas.json, whose layout formulas.py documents.
inline const nlohmann::json& golden() {
  static const auto json = nlohmann::json::parse(
      std::ifstream(std::string(ABLATE_SOURCE) + "/tests/models/golden/formulas.json"));
  return json;
}

inline torch::Tensor list(const nlohmann::json& json) {
  return torch::tensor(json.get<std::vector<double>>(), torch::kDouble);
}

inline torch::Tensor table(const nlohmann::json& json) {
  std::vector<torch::Tensor> rows;
  for (const auto& row : json) rows.push_back(list(row));
  return torch::stack(rows);
}

/// The generator's values().
inline torch::Tensor values(int64_t number, torch::IntArrayRef shape) {
  const auto count = c10::multiply_integers(shape);
  return (torch::arange(count, torch::kDouble) * 0.37 + number).sin().reshape(shape);
}

}  // namespace ablate::models
