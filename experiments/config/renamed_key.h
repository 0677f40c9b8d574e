#pragma once

#include <string>
#include <string_view>

#include "experiments/config/value.h"

namespace ablate::experiments {

/// A key that an earlier version knew by another name, as dotted paths from the root.
struct RenamedKey {
  std::string_view before, now;
};

inline constexpr RenamedKey kRenamedKeys[] = {
    {"model.numbering", "model.position_ids"},
    {"training.start", "training.init_from"},
    {"training.vectors", "training.pretrained_embeddings"},
};

/// The present name of a key or of one below it ("training.start.run" -> "training.init_from.run");
/// empty where no earlier version knew it by another name.
std::string current_name(std::string_view path);

/// Gives the keys of a recorded configuration their present names, so that runs of earlier versions
/// can still be read.
void use_current_names(Value& configuration);

}  // namespace ablate::experiments
