#include "experiments/exchange/huggingface/family_maps.h"

#include <stdexcept>

namespace ablate::exchange {

FamilyMap family_map(const std::string& family) {
  static const std::map<std::string, std::string> maps{
#include "family_map_list.h"
  };
  const auto found = maps.find(family);
  if (found == maps.end()) throw std::invalid_argument("no map of names for " + family);
  return read_family_map(family + ".yaml", found->second);
}

}  // namespace ablate::exchange
