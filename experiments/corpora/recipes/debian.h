#pragma once

#include <map>
#include <string>
#include <vector>

#include "experiments/corpora/recipe.h"
#include "experiments/corpora/split.h"
#include "experiments/corpora/text/alignment.h"
#include "experiments/corpora/text/package_index.h"

namespace ablate::corpora {

// What the recipes from Debian's archive have in common. All of it is Debian 12.15's.

/// Debian's own servers, then its archive of all former states.
std::vector<std::string> debian_roots();

Source english_descriptions();
Source translated_descriptions(const std::string& language);
Source package_index();

using Packages = std::map<std::string, PackageEntry>;

/// The source package of a package, or the package where that is not known.
const std::string& source_package(const Packages& packages, const std::string& package);

/// (Long description, title) of 15 to 200 and 3 to 20 words, each text once, by source package;
/// without librust-*, thousands of which are described in the same words.
std::vector<Pair> titles(const std::vector<Description>& descriptions, const Packages& packages);

/// (Title and beginning of the description, section), each text once, by source package.
std::vector<Pair> sections(const std::vector<Description>& descriptions, const Packages& packages);

/// Titles and sentences of descriptions in English and their translations, by source package.
std::vector<Pair> translated(const std::vector<Description>& english,
                             const std::vector<Description>& other, const Packages& packages);

}  // namespace ablate::corpora
