#pragma once

#include <memory>
#include <string>
#include <vector>

#include "experiments/config/yaml/value.h"

namespace ablate::config {

/// The document of a study, behind those of the files that `extends` names: each stands before the
/// one that extends it. Reports files that are not there or extend each other. Throws ConfigError
/// if a file cannot be read or holds no YAML mapping.
std::vector<Value> documents_of(const std::shared_ptr<const Source>& study, ProblemList& problems);

/// A mapping as YAML, which parses back to the same values; comments give the places of the values.
std::string text_with_places(const Value& mapping);

}  // namespace ablate::config
