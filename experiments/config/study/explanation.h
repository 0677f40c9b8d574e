#pragma once

#include <string>

namespace ablate::config {

/// The description, type, default and choices of the key at a dotted path, and the kinds and keys
/// of a section; the meaning of a metric; our key for a word of another toolkit; for other words
/// the keys whose descriptions have them. Throws ConfigError for an unknown path.
std::string explanation(const std::string& path);

/// The JSON Schema (draft-07) of a study file.
std::string json_schema();

/// The reference of every key of a study as Markdown: docs/configuration.md.
std::string configuration_page();

}  // namespace ablate::config
