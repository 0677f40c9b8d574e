#pragma once

#include <string>

namespace ablate::config {

/// What the key at a dotted path means: its description, type, default and choices; of a section
/// its keys, too. Throws ConfigError for an unknown path.
std::string explanation(const std::string& path);

/// The JSON Schema (draft-07) of a study file, for editors.
std::string json_schema();

/// The reference of every key of a study as Markdown: docs/configuration.md.
std::string configuration_page();

}  // namespace ablate::config
