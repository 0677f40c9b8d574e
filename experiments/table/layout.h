#pragma once

#include <string>

#include "experiments/table/grid.h"

namespace ablate::experiments {

/// `text` with every control character as '?', for none may reach a terminal.
std::string printable(std::string text);

/// The grid in columns under its title, best cells with a star, its note below.
std::string layout(const Grid& grid);

}  // namespace ablate::experiments
