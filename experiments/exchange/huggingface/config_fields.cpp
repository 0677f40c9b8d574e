#include "experiments/exchange/huggingface/config_fields.h"

#include <fmt/ranges.h>

#include <array>
#include <string_view>

#include "models/options/transformer_options.h"
#include "training/storage/finite_json.h"

namespace ablate::exchange {
namespace {

/// The length of the string of JSON that `text` begins with, its quotation marks included.
size_t string_length(std::string_view text) {
  size_t at = 1;
  while (at < text.size() && text[at] != '"') at += text[at] == '\\' ? 2 : 1;
  return std::min(at + 1, text.size());
}

}  // namespace

nlohmann::json parse_config(const std::string& text) {
  constexpr std::array<std::string_view, 3> kWords{"-Infinity", "Infinity", "NaN"};
  std::string json;
  for (std::string_view rest(text); !rest.empty();) {
    size_t taken = rest[0] == '"' ? string_length(rest) : 1;
    std::string written(rest.substr(0, taken));
    for (const auto word : kWords)
      if (rest.starts_with(word)) {
        taken = word.size();
        written = fmt::format(R"({{"__float__": "{}"}})", word);
        break;
      }
    json += written;
    rest.remove_prefix(taken);
  }
  return training::parse_json(json);
}

nlohmann::json value_named(const std::string& text) {
  auto value = nlohmann::json::parse(text, nullptr, false);
  return value.is_discarded() ? nlohmann::json(text) : value;
}

ConfigFields::ConfigFields(nlohmann::json object, std::string source, int64_t largest)
    : json_(std::move(object)), source_(std::move(source)), largest_(largest) {
  if (!json_.is_object()) throw training::CheckpointError(source_ + ": must be a JSON object");
}

std::optional<int64_t> ConfigFields::find_up_to(const std::string& name, int64_t most,
                                                const char* remark) {
  const auto value = find<int64_t>(name);
  if (value && (*value < 1 || *value > most))
    refuse(name, fmt::format("is {}, and must be from 1 to {}{}", *value, most, remark));
  return value;
}

std::optional<int64_t> ConfigFields::find_size(const std::string& name) {
  return find_up_to(name, largest_, ", the largest size of a tensor");
}

std::optional<int64_t> ConfigFields::find_layers(const std::string& name) {
  return find_up_to(name, models::kMostLayers, "");
}

std::optional<int32_t> ConfigFields::find_id(const std::string& name) {
  auto value = find<nlohmann::json>(name);
  if (value && value->is_array() && !value->empty()) value = nlohmann::json(value->front());
  if (!value) return {};
  if (!value->is_number_integer() || *value < 0 || *value > std::numeric_limits<int32_t>::max())
    refuse(name, "is not the id of a token");
  return value->get<int32_t>();
}

void ConfigFields::expect_all(const std::map<std::string, std::string>& values) {
  for (const auto& [name, value] : values) {
    read_.insert(name);
    if (has(name) && json_[name] != value_named(value)) refuse_value(name);
  }
}

void ConfigFields::finish() const {
  std::vector<std::string> unknown;
  for (const auto& [name, value] : json_.items())
    if (!read_.contains(name) && !value.is_null()) unknown.push_back(name);
  if (unknown.empty()) return;
  throw training::CheckpointError(fmt::format(
      "{}: Ablate does not know what {} {} and does not guess; if the model does not depend on {}, "
      "remove {} from a copy of the file",
      source_, fmt::join(unknown, ", "), unknown.size() == 1 ? "means" : "mean",
      unknown.size() == 1 ? "it" : "them", unknown.size() == 1 ? "it" : "them"));
}

void ConfigFields::refuse(const std::string& name, const std::string& why) const {
  throw training::CheckpointError(fmt::format("{}: {} {}", source_, name, why));
}

void ConfigFields::refuse_value(const std::string& name) const {
  refuse(name, fmt::format("is {}, which Ablate has no key for", json_[name].dump()));
}

}  // namespace ablate::exchange
