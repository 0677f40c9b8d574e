#include "experiments/config/study/explanation.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <memory>

#include "experiments/config/schema/foreign_word.h"
#include "experiments/config/schema/metric.h"
#include "experiments/config/schema/option.h"
#include "experiments/config/schema/schema.h"
#include "experiments/config/study/key_search.h"
#include "experiments/config/study/study_file.h"
#include "experiments/config/yaml/suggestion.h"
#include "experiments/config/yaml/value.h"

namespace ablate::config {
namespace {

constexpr size_t kKeyColumn = 22, kWordColumn = 16;

std::string fallback_text(const Schema& schema) {
  return schema.fallback.empty() ? "" : fmt::format("default: {}\n", schema.fallback);
}

/// " [number at least 0; default 0.1]", " [section]".
std::string holds(const Schema& key) {
  if (key.type == Schema::Type::record) return " [section]";
  auto text = key.type == Schema::Type::variant ? "one of " + alternatives(key.choices)
                                                : bounded_type_text(key);
  if (!key.fallback.empty()) text += "; default " + key.fallback;
  return " [" + text + "]";
}

/// The column of the sentences beside names, at least two spaces behind each.
template <class Named, class NameOf = std::identity>
size_t column_behind(const std::vector<Named>& all, size_t least, NameOf name_of = {}) {
  for (const auto& one : all) least = std::max(least, std::invoke(name_of, one).size() + 2);
  return least;
}

/// The words of a choice that have a sentence.
std::string word_lines(const Schema& choice, const std::string& indent) {
  std::string text;
  const auto column = column_behind(choice.choices, kWordColumn);
  for (size_t i = 0; i < choice.abouts.size(); ++i)
    text += fmt::format("{}{:<{}}{}\n", indent, choice.choices[i], column, choice.abouts[i]);
  return text;
}

std::string key_lines(const Schema& section, const std::string& indent) {
  std::string text;
  const auto column = column_behind(section.children, kKeyColumn, &Schema::name);
  for (const auto& key : section.children) {
    text += fmt::format("{}{:<{}}{}{}\n", indent, key.name, column, key.description, holds(key));
    if (key.name == kKind) text += word_lines(key, indent + "  ");
  }
  return text;
}

std::string below(const Schema& schema) {
  if (schema.type == Schema::Type::choice) return word_lines(schema, "  ");
  if (schema.type == Schema::Type::record) return key_lines(schema, "  ");
  if (schema.type == Schema::Type::list && schema.children[0].type == Schema::Type::record)
    return key_lines(schema.children[0], "  ");
  if (schema.type != Schema::Type::variant) return {};
  std::string text;
  const auto column = column_behind(schema.children, kWordColumn, &Schema::name);
  for (const auto& kind : schema.children)
    text += fmt::format("  {}: {:<{}}{}\n{}", schema.discriminator, kind.name, column,
                        kind.description, key_lines(kind, "    "));
  return text;
}

/// The shallowest paths below the section of `path` that end in its last key.
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

/// The key, the word of a key or the word of another toolkit with the most similar spelling.
std::string nearest_word(const std::string& word) {
  auto known = names_of_entries();
  for (const auto& foreign : foreign_words()) known.emplace_back(foreign.word);
  return nearest(word, known);
}

/// A hint at paths that end in the last key of `path`, or at the path with the most similar
/// spelling.
std::string hint(const Schema& root, const std::string& path) {
  if (const auto below = deeper(root, path); !below.empty())
    return fmt::format("; did you mean {}?", alternatives(below));
  const auto near = nearest(path, all_paths(root));
  if (!near.empty()) return fmt::format("; did you mean {}?", near);
  const auto elsewhere = paths_of(root, last_key(path));
  if (const auto word = nearest_word(path); elsewhere.empty() && !word.empty())
    return fmt::format("; did you mean {}?", word);
  return elsewhere.empty() ? "; see ablate config show"
                           : fmt::format("; did you mean {}?", alternatives(elsewhere));
}

std::string explanation_of_metric(const Metric& metric) {
  return fmt::format("{}: {}\ntype: metric\nbetter: {}\n", metric.name, metric.meaning,
                     word_of(metric.direction));
}

/// The keys and words of this very name.
std::string keys_named(const std::string& name) {
  const auto names = names_of_entries();
  return std::ranges::find(names, name) == names.end() ? "" : keys_that_say(name);
}

/// What a word of another toolkit is here, and the explanation of that.
std::string explanation_of(const ForeignWord& word) {
  auto answer =
      fmt::format("{}{}: {}\n", word.word, word.path.empty() ? "" : " here", answer_text(word));
  if (word.path.empty()) return answer;
  return answer + "\n" +
         explanation(std::string(word.path == kMetricPath ? word.value : word.path));
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
    if (const auto* metric = find_metric(path))
      return explanation_of_metric(*metric) + keys_named(path);
    if (const auto* word = find_foreign_word(path)) return explanation_of(*word);
    if (auto keys = keys_that_say(path); !keys.empty()) return keys;
    const auto source = std::make_shared<const Source>("explain", path);
    throw ConfigError(
        {problem_at({source, 0, 0}, fmt::format("unknown key '{}'{}", path, hint(root, path)))});
  }
  const bool section = found->type == Schema::Type::variant;
  return fmt::format("{}: {}\ntype: {}\n{}{}", path, found->description, bounded_type_text(*found),
                     section ? "" : fallback_text(*found), below(*found));
}

}  // namespace ablate::config
