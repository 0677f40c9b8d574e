#pragma once

#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "models/transformer.h"
#include "tests/recorded.h"

namespace ablate::models {

/// The contents of golden/formulas.json, whose layout formulas.py documents.
inline const nlohmann::json& golden() { return recorded("models/golden/formulas.json"); }

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

/// Gives element j of the parameter that the generators list as i-th offset + scale * sin(0.7 i +
/// 0.37 j + 0.1).
inline void fill(Transformer& model, const nlohmann::json& parameters) {
  const torch::NoGradGuard no_grad;
  const auto own = model->named_parameters();
  ASSERT_EQ(own.size(), parameters.size());
  for (size_t i = 0; i < own.size(); ++i) {
    const auto& one = parameters[i];
    auto tensor = own[one.at("name").get<std::string>()];
    ASSERT_EQ(tensor.sizes().vec(), one.at("shape").get<std::vector<int64_t>>()) << one;
    const auto angles =
        torch::arange(tensor.numel(), torch::kDouble) * 0.37 + (0.7 * static_cast<double>(i) + 0.1);
    tensor.copy_((angles.sin() * one.at("scale").get<double>() + one.at("offset").get<double>())
                     .view_as(tensor));
  }
}

}  // namespace ablate::models
