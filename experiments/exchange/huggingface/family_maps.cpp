#include "experiments/exchange/huggingface/family_maps.h"

#include "experiments/carried_texts.h"

namespace ablate::exchange {

FamilyMap family_map(const std::string& family) {
  const auto* yaml = text_named(family_yamls(), family);
  auto map = read_family_map(family + ".yaml", yaml);
  return map.like.empty() ? map : read_family_map(family + ".yaml", yaml, family_map(map.like));
}

std::vector<std::string> known_families() {
  std::vector<std::string> names;
  for (const auto& [name, yaml] : family_yamls()) names.emplace_back(name);
  return names;
}

}  // namespace ablate::exchange
