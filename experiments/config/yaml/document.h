#pragma once

#include <filesystem>
#include <memory>

#include "experiments/config/yaml/value.h"

namespace ablate::config {

/// Reads a configuration file. Throws ConfigError if it cannot be read, is larger than 1 MiB, or is
/// not UTF-8 text without control characters, indented by spaces.
std::shared_ptr<const Source> read_source(const std::filesystem::path& file);

/// Throws ConfigError unless the text is UTF-8 without control characters, indented by spaces.
void check_text(const std::shared_ptr<const Source>& source);

/// The one YAML document in `source`: at most 64 levels deep and 20,000 nodes, aliases included.
/// Adds duplicate keys to `problems`; throws ConfigError if `source` is no such document.
Value parse_document(const std::shared_ptr<const Source>& source, ProblemList& problems);

/// The same for a document that must be a mapping. Throws ConfigError if it is not.
Value parse_mapping(const std::shared_ptr<const Source>& source, ProblemList& problems);

}  // namespace ablate::config
