#pragma once

#include <cstdint>

namespace ablate::models {

/// The id of targets that do not count. Of tokens it is padding; every class of a label head
/// counts, whatever its number.
inline int64_t ignored_target(bool labels, int64_t pad) { return labels ? -1 : pad; }

}  // namespace ablate::models
