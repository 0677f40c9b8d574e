#pragma once

#include <array>
#include <nlohmann/json.hpp>

#include "experiments/config/schema/metric.h"

namespace ablate::records {

/// What training has spent of each of config::kResources, in their order.
using Spent = std::array<double, config::kResources.size()>;

inline double of(const Spent& spent, config::Resource resource) {
  return spent[static_cast<size_t>(resource)];
}

/// What training had spent at a training or validation line of a run's log. Throws
/// nlohmann::json::exception if the line does not say.
inline Spent spent_at(const nlohmann::json& line) {
  return {line.at("step").get<double>(), line.at("tokens").get<double>(),
          line.at("flops").get<double>(), line.at("seconds").get<double>()};
}

}  // namespace ablate::records
