#include "experiments/study/overlay.h"

#include <fmt/format.h>

#include "experiments/study/experiment.h"

namespace ablate::experiments {
namespace {

std::string joined(const std::string& path, const std::string& key) {
  return path.empty() ? key : path + "." + key;
}

/// Whether `over` picks another alternative than `base` at a variant's path.
bool switches(const Value& base, const Value& over, const std::string& path) {
  const auto variants = experiment_variants();
  const auto found = variants.find(path);
  if (found == variants.end()) return false;
  const auto* chosen = over.find(found->second.discriminator);
  if (chosen == nullptr) return false;
  const auto* before = base.find(found->second.discriminator);
  return chosen->scalar != (before == nullptr ? found->second.initial : before->scalar);
}

void combine(Value& into, const Entry& entry, Problems& problems) {
  auto* present = into.find(entry.key);
  if (present == nullptr) {
    into.entries.push_back(entry);
  } else if (present->kind == Value::Kind::map && entry.value.kind == Value::Kind::map) {
    for (const auto& inner : entry.value.entries) combine(*present, inner, problems);
  } else {
    problems.add(entry.place, fmt::format("'{}' is given twice", entry.key));
  }
}

}  // namespace

Value nested(const std::string& path, const Place& place, Value value) {
  const auto dot = path.find('.');
  Value map;
  map.kind = Value::Kind::map;
  map.place = place;
  if (dot == std::string::npos)
    map.entries.push_back({path, place, std::move(value)});
  else
    map.entries.push_back(
        {path.substr(0, dot), place, nested(path.substr(dot + 1), place, std::move(value))});
  return map;
}

Value expand(const Value& map, Problems& problems) {
  if (map.kind != Value::Kind::map) return map;
  Value result = map;
  result.entries.clear();
  for (const auto& entry : map.entries) {
    auto value = expand(entry.value, problems);
    const auto tree = nested(entry.key, entry.place, std::move(value));
    combine(result, tree.entries.front(), problems);
  }
  return result;
}

Value merge(const Value& base, const Value& over, const std::string& path) {
  if (over.kind == Value::Kind::null) return base;
  if (base.kind != Value::Kind::map || over.kind != Value::Kind::map) return over;
  if (switches(base, over, path)) return over;
  Value result = base;
  for (const auto& entry : over.entries) {
    if (auto* present = result.find(entry.key))
      *present = merge(*present, entry.value, joined(path, entry.key));
    else
      result.entries.push_back(entry);
  }
  return result;
}

}  // namespace ablate::experiments
