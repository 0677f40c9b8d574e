#include "experiments/exchange/huggingface/family_maps.h"

#include <map>
#include <mutex>

#include "experiments/carried_texts.h"

namespace ablate::exchange {

const FamilyMap& family_map(const std::string& family) {
  static std::map<std::string, FamilyMap> read;
  static std::recursive_mutex reading;
  const std::lock_guard lock(reading);
  if (const auto found = read.find(family); found != read.end()) return found->second;
  const auto* yaml = text_named(family_yamls(), family);
  auto map = read_family_map(family + ".yaml", yaml);
  if (!map.like.empty()) map = read_family_map(family + ".yaml", yaml, family_map(map.like));
  return read.emplace(family, std::move(map)).first->second;
}

std::vector<std::string> known_families() {
  std::vector<std::string> names;
  for (const auto& [name, yaml] : family_yamls()) names.emplace_back(name);
  return names;
}

}  // namespace ablate::exchange
