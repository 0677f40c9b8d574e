#pragma once

#include "experiments/corpora/recipe.h"

namespace ablate::corpora {

// The corpora that can be fetched; each function is one.

Recipe tinyshakespeare();
Recipe multi30k();
Recipe cmudict();
Recipe debian_en_de();
Recipe debian_en_fr();
Recipe debian_en_it();
Recipe debian_titles();
Recipe debian_sections();

/// All of them, in the order in which they are listed.
std::vector<Recipe> recipes();

}  // namespace ablate::corpora
