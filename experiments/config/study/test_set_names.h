#pragma once

#include <string>
#include <vector>

#include "data/data_options.h"

namespace ablate::config {

/// The names of the test sets of generated data, one for each length; empty for data with a single
/// test set.
std::vector<std::string> names_of_test_sets(const data::DataOptions& data);

/// The names of the test sets, also of data with a single one.
std::vector<std::string> names_of_all_test_sets(const data::DataOptions& data);

}  // namespace ablate::config
