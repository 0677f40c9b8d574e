#include "experiments/exchange/format/name_map.h"

#include <fmt/format.h>

#include "experiments/config/document.h"
#include "experiments/records/exit_code.h"

namespace ablate::exchange {
namespace {

[[noreturn]] void refuse(const config::Value& value, const std::string& why) {
  throw records::UsageError(fmt::format("{}:{}:{}: {}", value.mark.source->name,
                                        value.mark.line + 1, value.mark.column + 1, why));
}

Origin origin_of(const config::Value& value) {
  if (value.type == config::Value::Type::scalar) return {{value.scalar}, false};
  Origin origin;
  for (const auto& item : value.items) {
    if (item.type != config::Value::Type::scalar) refuse(item, "must be the name of a tensor");
    origin.names.push_back(item.scalar);
  }
  if (value.type == config::Value::Type::mapping) {
    const auto* name = value.find("name");
    const auto* transpose = value.find("transpose");
    if (name == nullptr) refuse(value, "needs 'name', of one tensor or of several in a list");
    origin = origin_of(name->value);
    origin.transpose = transpose != nullptr && transpose->value.scalar == "true";
  }
  if (origin.names.empty()) refuse(value, "must name at least one tensor");
  return origin;
}

}  // namespace

Origins read_origins(const std::filesystem::path& file) {
  config::ProblemList problems;
  const auto document = config::parse_mapping(config::read_source(file), problems);
  problems.raise();
  Origins origins;
  for (const auto& entry : document.entries) origins[entry.key] = origin_of(entry.value);
  return origins;
}

}  // namespace ablate::exchange
