#pragma once

#include <filesystem>
#include <memory>

#include "experiments/config/yaml/value.h"

namespace ablate::config {

/// Reads a configuration file. Throws ConfigError where it cannot be read, is larger than 1 MiB, or
/// is not plain UTF-8 text indented by spaces.
std::shared_ptr<const Source> read_source(const std::filesystem::path& file);

/// Throws ConfigError where the text is no plain UTF-8 indented by spaces.
void check_text(const std::shared_ptr<const Source>& source);

/// The one YAML document in `source`: at most 64 levels deep and 20,000 nodes, aliases included.
/// Adds duplicate keys to `problems`; throws ConfigError for anything that is not such a document.
Value parse_document(const std::shared_ptr<const Source>& source, ProblemList& problems);

/// A document that must be a mapping. Throws ConfigError where it is not.
Value parse_mapping(const std::shared_ptr<const Source>& source, ProblemList& problems);

}  // namespace ablate::config
