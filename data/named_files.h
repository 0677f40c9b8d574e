#pragma once

#include <filesystem>
#include <string>
#include <vector>

#include "data/data_options.h"

namespace ablate::data {

/// A file that data options name.
struct NamedFile {
  std::string key;    // below the options: "train"
  std::string name;   // as it is given
  std::string fault;  // why load() would refuse the file by its beginning
};

/// The files that the options name, in the order train, validation, test; none if the data is
/// generated. Relative paths start at `folder`. Reads the beginnings, as check_beginning() does; a
/// pipe, which can be read only once, and a missing file are not read, and have no fault.
std::vector<NamedFile> named_files(const DataOptions& options, const std::filesystem::path& folder);

}  // namespace ablate::data
