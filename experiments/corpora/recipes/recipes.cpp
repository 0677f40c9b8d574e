#include "experiments/corpora/recipes/recipes.h"

namespace ablate::corpora {

std::vector<Recipe> recipes() {
  return {tinyshakespeare(), multi30k(),      debian_en_de(),    debian_en_fr(),
          debian_en_it(),    debian_titles(), debian_sections(), cmudict()};
}

}  // namespace ablate::corpora
