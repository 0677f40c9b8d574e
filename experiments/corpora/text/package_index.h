#pragma once

#include <map>
#include <string>
#include <string_view>
#include <vector>

namespace ablate::corpora {

/// A package's description in one language, with texts normalized.
struct Description {
  std::string package;
  std::string digest;  // of the English text that this is, or translates
  std::string title;
  std::vector<std::string> paragraphs;  // an item of a list is one
};

/// The descriptions of a Translation-<language> index of Debian, each digest once, in their order.
std::vector<Description> descriptions_in(std::string_view index);

struct PackageEntry {
  std::string source;   // the source package
  std::string section;  // "admin", "libs", ...
};

/// The packages of a Packages index of Debian.
std::map<std::string, PackageEntry> packages_in(std::string_view index);

}  // namespace ablate::corpora
