#pragma once

#include <fstream>
#include <nlohmann/json.hpp>

namespace ablate::training {

/// What golden/sacrebleu_golden.py wrote.
inline const nlohmann::json& sacrebleu_golden() {
  static const auto golden = [] {
    std::ifstream file(ABLATE_SOURCE "/tests/training/golden/sacrebleu.json");
    return nlohmann::json::parse(file);
  }();
  return golden;
}

}  // namespace ablate::training
