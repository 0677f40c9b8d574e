#include "experiments/config/explanation.h"

#include <fmt/format.h>

#include <algorithm>
#include <memory>

#include "experiments/config/option.h"
#include "experiments/config/problem_list.h"
#include "experiments/config/schema.h"
#include "experiments/config/study_schema.h"
#include "experiments/config/suggestion.h"

namespace ablate::config {
namespace {

constexpr size_t kKeyColumn = 22;

std::string fallback_text(const Schema& schema) {
  return schema.fallback.empty() ? "" : fmt::format("default: {}\n", schema.fallback);
}

std::string key_lines(const Schema& section, const std::string& indent) {
  std::string text;
  for (const auto& key : section.children)
    text += fmt::format("{}{:<{}}{}\n", indent, key.name, kKeyColumn, key.description);
  return text;
}

std::string below(const Schema& schema) {
  if (schema.type == Schema::Type::mapping) return key_lines(schema, "  ");
  if (schema.type == Schema::Type::list && schema.children[0].type == Schema::Type::mapping)
    return key_lines(schema.children[0], "  ");
  std::string text;
  if (schema.type == Schema::Type::variant)
    for (const auto& kind : schema.children)
      text += fmt::format("  {}: {}\n{}", schema.discriminator, kind.name, key_lines(kind, "    "));
  return text;
}

/// The variant whose discriminator `path` is; null where it is none.
const Schema* variant_of_kind(const Schema& root, const std::string& path) {
  const auto dot = path.rfind('.');
  if (dot == std::string::npos) return nullptr;
  const auto* section = node_at(root, path.substr(0, dot));
  const bool is_kind = section != nullptr && section->type == Schema::Type::variant &&
                       section->discriminator == last_key(path);
  return is_kind ? section : nullptr;
}

/// The least deep paths below the section of `path` that end in its last key.
std::vector<std::string> deeper(const Schema& root, const std::string& path) {
  const auto section = path.substr(0, path.rfind('.'));
  if (section == path || node_at(root, section) == nullptr) return {};
  auto paths = paths_of(root, last_key(path));
  std::erase_if(paths, [&](const auto& other) { return !other.starts_with(section + "."); });
  const auto depth = [](const std::string& at) { return std::ranges::count(at, '.'); };
  const auto least = std::ranges::min_element(paths, {}, depth);
  if (least == paths.end()) return {};
  std::erase_if(paths,
                [&, most = depth(*least)](const auto& other) { return depth(other) > most; });
  return paths;
}

/// Paths that end in the last key of `path`, or the one that is spelled nearly like it.
std::string hint(const Schema& root, const std::string& path) {
  if (const auto below = deeper(root, path); !below.empty())
    return fmt::format("; did you mean {}?", alternatives(below));
  const auto near = nearest(path, all_paths(root));
  if (!near.empty()) return fmt::format("; did you mean {}?", near);
  const auto elsewhere = paths_of(root, last_key(path));
  return elsewhere.empty() ? "; see ablate config show"
                           : fmt::format("; did you mean {}?", alternatives(elsewhere));
}

}  // namespace

std::string explanation(const std::string& path) {
  const auto& run = experiment_schema();
  const auto& study = study_schema();
  const auto& root = node_at(run, path) != nullptr || node_at(study, path) == nullptr ? run : study;
  const bool required = std::ranges::find(root.required, path) != root.required.end();
  if (const auto* variant = variant_of_kind(root, path))
    return fmt::format("{}: {}\ntype: one of {}\n{}{}", path, variant->description,
                       alternatives(variant->choices),
                       required ? "must be given\n" : fallback_text(*variant), below(*variant));
  const auto* found = node_at(root, path);
  if (found == nullptr || path.empty()) {
    const auto source = std::make_shared<const Source>("explain", path);
    throw ConfigError(
        {problem_at({source, 0, 0}, fmt::format("unknown key '{}'{}", path, hint(root, path)))});
  }
  const bool section = found->type == Schema::Type::variant;
  return fmt::format("{}: {}\ntype: {}\n{}{}", path, found->description, type_text(*found),
                     section ? "" : fallback_text(*found), below(*found));
}

}  // namespace ablate::config
