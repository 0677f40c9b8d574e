#pragma once

#include <string>
#include <vector>

namespace ablate::commands {

/// "; ablate report runs/a writes the charts" for a verb of another toolkit that `words` follow;
/// empty for all other words.
std::string hint_for_foreign_verb(const std::string& verb, const std::vector<std::string>& words);

}  // namespace ablate::commands
