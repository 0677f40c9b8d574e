#pragma once

#include <string>

namespace ablate::report {

/// The page's style sheet: light and dark, narrow and printed.
std::string style_sheet();

}  // namespace ablate::report
