#include "training/storage/finite_json.h"

#include <cmath>
#include <limits>
#include <string>

namespace ablate::training {
namespace {

constexpr auto kInfinity = std::numeric_limits<double>::infinity();

/// `change` of every leaf, in place.
template <class Change>
void for_each_leaf(nlohmann::json& value, const Change& change) {
  if (!value.is_structured()) return change(value);
  for (auto& element : value) for_each_leaf(element, change);
}

}  // namespace

nlohmann::json without_non_finite(nlohmann::json value) {
  for_each_leaf(value, [](nlohmann::json& leaf) {
    if (!leaf.is_number_float()) return;
    const auto number = leaf.get<double>();
    if (std::isnan(number)) leaf = "NaN";
    if (std::isinf(number)) leaf = number > 0 ? "Infinity" : "-Infinity";
  });
  return value;
}

nlohmann::json with_non_finite(nlohmann::json value) {
  for_each_leaf(value, [](nlohmann::json& leaf) {
    if (!leaf.is_string()) return;
    const auto& text = leaf.get_ref<const std::string&>();
    if (text == "NaN") {
      leaf = std::numeric_limits<double>::quiet_NaN();
    } else if (text == "Infinity") {
      leaf = kInfinity;
    } else if (text == "-Infinity") {
      leaf = -kInfinity;
    }
  });
  return value;
}

std::string json_file(const nlohmann::json& json) {
  return json.dump(2, ' ', false, nlohmann::json::error_handler_t::replace) + "\n";
}

}  // namespace ablate::training
