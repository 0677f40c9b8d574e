#pragma once

#include <string>

namespace ablate::experiments {

/// The page's style sheet: light and dark, narrow and printed.
std::string style_sheet();

}  // namespace ablate::experiments
