#pragma once

#include <string>

#include "experiments/report/table/grid.h"

namespace ablate::report {

/// The grid in columns under its title, best cells with a star, its note below.
std::string layout(const Grid& grid);

}  // namespace ablate::report
