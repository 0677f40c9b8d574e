#include "experiments/config/study/explanation.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <algorithm>
#include <map>
#include <memory>
#include <set>

#include "experiments/config/schema/foreign_word.h"
#include "experiments/config/schema/metric.h"
#include "experiments/config/schema/option.h"
#include "experiments/config/schema/schema.h"
#include "experiments/config/study/study_file.h"
#include "experiments/config/yaml/suggestion.h"
#include "experiments/config/yaml/value.h"

namespace ablate::config {
namespace {

constexpr size_t kKeyColumn = 22;

std::string fallback_text(const Schema& schema) {
  return schema.fallback.empty() ? "" : fmt::format("default: {}\n", schema.fallback);
}

std::string key_lines(const Schema& section, const std::string& indent) {
  std::string text;
  size_t column = kKeyColumn;
  for (const auto& key : section.children) column = std::max(column, key.name.size() + 2);
  for (const auto& key : section.children)
    text += fmt::format("{}{:<{}}{}\n", indent, key.name, column, key.description);
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

/// The variant whose discriminator `path` is; null if it is another key.
const Schema* variant_of_kind(const Schema& root, const std::string& path) {
  const auto dot = path.rfind('.');
  if (dot == std::string::npos) return nullptr;
  const auto* section = node_at(root, path.substr(0, dot));
  const bool is_kind = section != nullptr && section->type == Schema::Type::variant &&
                       section->discriminator == last_key(path);
  return is_kind ? section : nullptr;
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

/// A hint at paths that end in the last key of `path`, or at the path with the most similar
/// spelling.
std::string hint(const Schema& root, const std::string& path) {
  if (const auto below = deeper(root, path); !below.empty())
    return fmt::format("; did you mean {}?", alternatives(below));
  const auto near = nearest(path, all_paths(root));
  if (!near.empty()) return fmt::format("; did you mean {}?", near);
  const auto elsewhere = paths_of(root, last_key(path));
  return elsewhere.empty() ? "; see ablate config show"
                           : fmt::format("; did you mean {}?", alternatives(elsewhere));
}

std::string explanation_of_metric(const Metric& metric) {
  return fmt::format("{}: {}\ntype: metric\nbetter: {}\n", metric.name, metric.meaning,
                     word_of(metric.direction));
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
    if (const auto* metric = find_metric(path)) return explanation_of_metric(*metric);
    if (const auto* word = find_foreign_word(path)) return explanation_of(*word);
    const auto source = std::make_shared<const Source>("explain", path);
    throw ConfigError(
        {problem_at({source, 0, 0}, fmt::format("unknown key '{}'{}", path, hint(root, path)))});
  }
  const bool section = found->type == Schema::Type::variant;
  return fmt::format("{}: {}\ntype: {}\n{}{}", path, found->description, bounded_type_text(*found),
                     section ? "" : fallback_text(*found), below(*found));
}

namespace {

constexpr const char* kIntroduction = R"(# Every key of a study

Written by `ablate config docs`. `ablate config explain KEY` prints the same for one key, and
[study.schema.json](study.schema.json) is for editors (`# yaml-language-server: $schema=...` in the first line of a study).

A path such as `model.position.kind` starts below `base`; `tasks`, `sizes`, `arms` and `grid` change the same paths, with dots or
nested, as does `--set model.position.kind=rotary`. A word in the place of a section is its kind: `model.position: rotary`. Values given later win: defaults, `base`, task, size, grid, arm, `--set`, `match`.
)";

constexpr const char* kMetrics = R"(
## Metrics

`compare` takes the metrics of which higher or lower values are better, `expect` takes all of them.

| metric | better | measured on | meaning |
|---|---|---|---|
)";

std::string cell(std::string_view text) {
  std::string escaped;
  for (const char letter : text) {
    if (letter == '|') escaped += '\\';
    escaped += letter;
  }
  return escaped;
}

std::string code(const std::string& text) { return fmt::format("`{}`", cell(text)); }

bool is_section(const Schema& schema) {
  return schema.type == Schema::Type::mapping || schema.type == Schema::Type::variant;
}

std::string sentence(std::string text) {
  if (!text.empty() && text[0] >= 'a' && text[0] <= 'z')
    text[0] = static_cast<char>(text[0] - 'a' + 'A');
  return text + ".";
}

/// Writes each section once. Alternatives with the same keys share a table, and an alternative with
/// the table of an earlier section refers to it.
class Page {
 public:
  explicit Page(std::vector<std::string> required) : required_(std::move(required)) {}

  void keys(const std::vector<Schema>& keys, const std::string& path) {
    text_ += table(keys, path);
    below(keys, path);
  }

  void below(const std::vector<Schema>& keys, const std::string& path) {
    for (const auto& key : keys) {
      if (path.empty() && key.name == "base")  // its paths start below it
        below(key.children, "");
      else if (is_section(key))
        section(key, join_path(path, key.name));
      else if (key.type == Schema::Type::list && key.children[0].of_layer)
        changes(key, join_path(path, key.name));
    }
  }

  std::string text() && { return std::move(text_); }

 private:
  bool is_required(const std::string& path) const {
    return std::ranges::find(required_, path) != required_.end();
  }

  std::string fallback(const Schema& key, const std::string& path) const {
    if (is_required(path)) return "must be given";
    if (key.type == Schema::Type::variant)
      return code(fmt::format("{}: {}", key.discriminator, key.fallback));
    return key.fallback.empty() ? "" : code(key.fallback);
  }

  std::string table(const std::vector<Schema>& keys, const std::string& path) const {
    if (keys.empty()) return "No keys.\n";
    std::string text = "| key | holds | default | meaning |\n|---|---|---|---|\n";
    for (const auto& key : keys)
      text += fmt::format("| {} | {} | {} | {} |\n", code(key.name),
                          is_section(key) ? "keys, see below" : cell(bounded_type_text(key)),
                          fallback(key, join_path(path, key.name)), cell(key.description));
    return text;
  }

  /// Whether the key of a layer is also a key of the model: `every`, `at` and `side` are not.
  static bool is_of_model(const Schema& key) {
    return node_at(experiment_schema(), join_path("model", key.name)) != nullptr;
  }

  static std::string keys_of_layer(const Schema& schema) {
    std::vector<std::string> keys;
    for (const auto& key : schema.children)
      if (is_of_model(key)) keys.push_back(code("model." + key.name));
    return fmt::format("{}", fmt::join(keys, ", "));
  }

  void changes(const Schema& list, const std::string& path) {
    auto own = list.children[0].children;
    std::erase_if(own, is_of_model);
    text_ += fmt::format(
        "\n## {}\n\n{} An element names its layers and gives them other values for {}.\n\n{}", path,
        sentence(list.description), keys_of_layer(list.children[0]), table(own, path));
  }

  void section(const Schema& schema, const std::string& path) {
    const auto heading = fmt::format("\n## {}\n\n{}\n\n", path, sentence(schema.description));
    if (schema.of_layer) {
      text_ += fmt::format("{}The keys are those of a layer, as in {}.\n", heading,
                           keys_of_layer(schema));
      return;
    }
    if (schema.type == Schema::Type::mapping) {
      const auto text = heading + table(schema.children, path);
      if (!sections_.insert(text).second) return;
      text_ += text;
      return below(schema.children, path);
    }
    const auto kind = join_path(path, schema.discriminator);
    text_ += heading;
    text_ += fmt::format("`{}` selects the alternative{}.\n", schema.discriminator,
                         is_required(kind) ? " and must be given"
                                           : fmt::format("; the default is `{}`", schema.fallback));
    alternatives(schema, path);
    for (const auto& alternative : schema.children) below(alternative.children, path);
  }

  void alternatives(const Schema& variant, const std::string& path) {
    std::vector<std::pair<std::string, std::string>> groups;  // table, kinds
    for (const auto& kind : variant.children) {
      const auto keys = table(kind.children, path);
      const auto same =
          std::ranges::find(groups, keys, &std::pair<std::string, std::string>::first);
      if (same == groups.end())
        groups.emplace_back(keys, code(kind.name));
      else
        same->second += ", " + code(kind.name);
    }
    for (const auto& [keys, kinds] : groups) {
      text_ += fmt::format("\n### {}: {} {}\n\n", path, variant.discriminator, kinds);
      const auto [known, fresh] = places_.try_emplace(keys, path);
      text_ += fresh || keys[0] != '|' ? keys
                                       : fmt::format("The keys are those of `{}` with this {}.\n",
                                                     known->second, variant.discriminator);
    }
  }

  std::string text_;
  std::vector<std::string> required_;
  std::set<std::string> sections_;
  std::map<std::string, std::string> places_;  // table -> the first section that has it
};

std::string test_sets_of(const Metric& metric) {
  if (metric.observed) return "observations (`training.observe`)";
  std::string kinds;
  for (const auto& [kind, words] : {std::pair{data::Compared::text, "text"},
                                    {data::Compared::label, "labels"},
                                    {data::Compared::nothing, "running text"},
                                    {data::Compared::tokens, "tokens"}})
    if (std::ranges::find(metric.on, kind) != metric.on.end())
      kinds += (kinds.empty() ? "" : ", ") + std::string(words);
  return kinds.empty() ? "training and validation" : kinds;
}

std::string metrics_table() {
  std::string text = kMetrics;
  for (const auto& metric : metrics())
    text += fmt::format("| {} | {} | {} | {} |\n", code(metric.name), word_of(metric.direction),
                        test_sets_of(metric), metric.meaning);
  return text;
}

}  // namespace

std::string configuration_page() {
  const auto& study = study_schema();
  auto required = experiment_schema().required;
  required.insert(required.end(), study.required.begin(), study.required.end());
  Page page(required);
  page.keys(study.children, "");
  return fmt::format("{}\n## The study\n\n{}{}", kIntroduction, std::move(page).text(),
                     metrics_table());
}

}  // namespace ablate::config
