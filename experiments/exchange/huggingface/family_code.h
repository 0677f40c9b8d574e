#pragma once

#include <set>
#include <string>

#include "experiments/exchange/format/name_map.h"
#include "experiments/exchange/huggingface/family.h"

namespace ablate::exchange {

/// A config.json whose table is read.
struct Reading {
  ConfigFields& config;
  const FamilyMap& map;
  const std::set<std::string>& tensors;  // names
  HubModel& model;
};

/// Fields that depend on others or on tensors, which a table of names cannot express.
struct FamilyCode {
  void (*read)(const Reading& reading) = [](const Reading&) {};
  void (*write)(nlohmann::json& config, const models::TransformerOptions& options) =
      [](nlohmann::json&, const models::TransformerOptions&) {};
};
FamilyCode family_code(const std::string& family);

}  // namespace ablate::exchange
