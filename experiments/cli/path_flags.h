#pragma once

#include <CLI/CLI.hpp>

namespace ablate::cli {

/// Makes every option of `app` and of its verbs that may name a file refuse a path that begins with
/// ~, as "--output=~/runs" leaves it, so that no folder of that name is made. To be called when all
/// options are there.
void refuse_tildes(CLI::App& app);

}  // namespace ablate::cli
