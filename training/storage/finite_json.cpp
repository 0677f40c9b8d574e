#include "training/storage/finite_json.h"

#include <cmath>
#include <cstdint>
#include <limits>
#include <string>

#include "tokenizer/text/digest.h"
#include "training/storage/durable_file.h"

namespace ablate::training {
namespace {

constexpr int kMostLevels = 64;
constexpr auto kInfinity = std::numeric_limits<double>::infinity();

struct TooDeep {};

/// `change` of every leaf, in place.
template <class Json, class Change>
void for_each_leaf(Json& value, const Change& change) {
  if (!value.is_structured()) return change(value);
  for (auto& element : value) for_each_leaf(element, change);
}

}  // namespace

nlohmann::json parse_json(std::string_view text) {
  using Event = nlohmann::json::parse_event_t;
  const auto within_limit = [](int depth, Event event, nlohmann::json&) {
    const bool begins = event == Event::object_start || event == Event::array_start;
    if (begins && depth >= kMostLevels) throw TooDeep();
    return true;
  };
  try {
    return nlohmann::json::parse(text, within_limit, false);
  } catch (const TooDeep&) {
    return nlohmann::json::value_t::discarded;
  }
}

void require_object(const nlohmann::json& value) {
  if (!value.is_object()) throw nlohmann::json::type_error::create(302, "it is no object", &value);
}

void require_integers(const nlohmann::json& value) {
  for_each_leaf(value, [](const nlohmann::json& leaf) {
    if (leaf.is_number_float())
      throw nlohmann::json::type_error::create(302, "a fraction instead of an integer", &leaf);
    if (leaf.is_number_unsigned() &&
        leaf.get<uint64_t>() > uint64_t{std::numeric_limits<int64_t>::max()})
      throw nlohmann::json::type_error::create(302, "an integer is greater than 2^63 - 1", &leaf);
  });
}

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

namespace {

constexpr const char* kDigest = "sha256";

}  // namespace

std::string sealed_json(nlohmann::json object) {
  object.erase(kDigest);
  object[kDigest] = tokenizer::sha256(json_file(object));
  return json_file(object);
}

nlohmann::json read_sealed_json(const std::filesystem::path& path, const std::string& remedy) {
  const auto bytes = read_bytes(path);
  auto object = parse_json(bytes);
  const auto damaged = [&](const char* how) {
    return CheckpointError(path.string() + " is damaged: " + how + remedy);
  };
  if (!object.is_object()) throw damaged("it holds no JSON object");
  if (!object.contains(kDigest)) throw damaged("it holds no digest");
  if (sealed_json(object) != bytes) throw damaged("its digest differs");
  object.erase(kDigest);
  return object;
}

}  // namespace ablate::training
