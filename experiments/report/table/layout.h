#pragma once

#include <string>

#include "experiments/report/table/grid.h"

namespace ablate::report {

/// `text` with every control character as '?', for none may reach a terminal.
std::string printable(std::string text);

/// The grid in columns under its title, best cells with a star, its note below.
std::string layout(const Grid& grid);

}  // namespace ablate::report
