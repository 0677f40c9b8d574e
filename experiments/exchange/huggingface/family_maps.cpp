#include "experiments/exchange/huggingface/family_maps.h"

#include <ranges>

namespace ablate::exchange {

namespace {

const std::map<std::string, std::string>& family_yamls() {
  static const std::map<std::string, std::string> kMaps{
#include "family_map_list.h"
  };
  return kMaps;
}

}  // namespace

FamilyMap family_map(const std::string& family) {
  const auto& yaml = family_yamls().at(family);
  auto map = read_family_map(family + ".yaml", yaml);
  return map.like.empty() ? map : read_family_map(family + ".yaml", yaml, family_map(map.like));
}

std::vector<std::string> known_families() {
  const auto names = family_yamls() | std::views::keys;
  return {names.begin(), names.end()};
}

}  // namespace ablate::exchange
