#include "experiments/exchange/huggingface/config_fields.h"

#include <fmt/ranges.h>

#include <array>
#include <string_view>

#include "training/storage/finite_json.h"

namespace ablate::exchange {
namespace {

/// Whether a field has the value that a map names: a word, or else JSON.
bool is_value(const nlohmann::json& field, const std::string& value) {
  if (field.is_string()) return field.get<std::string>() == value;
  return field == nlohmann::json::parse(value, nullptr, false);
}

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

ConfigFields::ConfigFields(nlohmann::json json, std::string source, int64_t largest)
    : json_(std::move(json)), source_(std::move(source)), largest_(largest) {
  if (!json_.is_object()) throw training::CheckpointError(source_ + ": must be a JSON object");
}

std::optional<int64_t> ConfigFields::find_size(const std::string& name) {
  const auto value = find<int64_t>(name);
  if (value && (*value < 1 || *value > largest_))
    refuse(name, fmt::format("is {}, and must be from 1 to {}, the largest size of a tensor",
                             *value, largest_));
  return value;
}

int64_t ConfigFields::size(const std::string& name) {
  const auto value = find_size(name);
  if (!value) refuse(name, "is missing");
  return *value;
}

void ConfigFields::expect_all(const std::map<std::string, std::string>& values) {
  for (const auto& [name, value] : values) {
    read_.insert(name);
    if (has(name) && !is_value(json_[name], value)) refuse_value(name);
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
